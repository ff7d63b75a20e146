# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: a wrong session id, wrong words, no permission, no module: each its exit code
# hosts: 1
# seconds: 90

start_mem dst ram=4M,zero
at=$RDMAMIG_ADDR:$PORT

step "no such session"
for words in "show 77" "stats 77" "finish 77" "cancel 77" "resume 77" "wait 77" \
	"wait 77 timeout 1" "set 77 peer-timeout 5" "stats 77 watch"; do
	refused 4 rdmamigctl $words
	expect_text 77 "no such session"
done

step "words that are not understood"
for words in "" "shov 1" "show" "show x" "show 1 2" "cancel" "set 1" "set 1 pin 4" "wait 1 state dead" \
	"listen $at" "listen $at vm" "listen $at vm pid" "listen $at vm pid 1" "list 1" "-x list" \
	"listen $at vm file" "start $at vm pid 1 block a 0x1000+4K from 10.0.0.1" \
	"send $at" "receive $at"; do
	refused 2 rdmamigctl $words
done

step "what the state does not allow"
listen dst
for verb in finish resume; do
	refused 1 of dst $verb
	expect_text "${ID[dst]}" listening
done
within 4 expect_exit 6 of dst wait timeout 0.5
expect_exit 0 of dst wait state listening timeout 5
expect_exit 6 of dst wait state running timeout 0.3

step "no permission: nothing changes, but all may look"
nobody=(setpriv --bounding-set -all --inh-caps -all --clear-groups --reuid 65534 --regid 65534 --)
id=${ID[dst]}
for words in "cancel $id" "set $id peer-timeout 5" "resume $id" "finish $id"; do
	refused 7 "${nobody[@]}" rdmamigctl $words
done
refused 7 "${nobody[@]}" rdmamigctl listen "$RDMAMIG_ADDR:4445" $(vm_of dst)
refused 7 "${nobody[@]}" rdmamigctl start "$at" $(vm_of dst)
for words in list "show $id" "stats $id" devices; do
	expect_exit 0 "${nobody[@]}" rdmamigctl -j $words
done
address=$(block_of dst ram)
expect_exit 0 rdmamigctl -j show "$id"
expect_text "$((${address%+*}))"
expect_exit 0 "${nobody[@]}" rdmamigctl -j show "$id"
expect "a block's address in what nobody sees" "$(json_get "$OUT" address)" == null

step "the administrator's network, but not another's memory"
refused 7 setpriv --bounding-set -sys_ptrace --inh-caps -sys_ptrace -- \
	rdmamigctl listen "$RDMAMIG_ADDR:4445" $(vm_of dst)

of dst cancel
ends dst cancelled
expect_exit 0 of dst cancel

step "no module"
# The kernel would load it by itself.
modprobe=$(</proc/sys/kernel/modprobe)
later 'echo "$modprobe" >/proc/sys/kernel/modprobe'
echo /bin/false >/proc/sys/kernel/modprobe
rmmod rdmamig
for words in list "show 1" devices "cancel 1" "stats"; do
	refused 3 rdmamigctl $words
	expect_text modprobe
done
refused 3 rdmamigctl listen "$at" $(vm_of dst)
expect_exit 0 rdmamigctl help
expect_exit 0 rdmamigctl --version
expect_exit 0 rdmamigctl help listen

step "which comes by itself when it is there"
echo "$modprobe" >/proc/sys/kernel/modprobe
expect_exit 0 rdmamigctl list
