# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: the other host dies in mid-transfer: noticed in time, unpinned, the owner unharmed
# hosts: 2
# seconds: 400

# lost NAME: its session ends for want of a sign of life, with the default
# peer-timeout of 10 s or what comes earlier
lost() {
	local begin
	begin=$(now_ms)
	kill-peer
	until_true 16 is_over "$1"
	echo "after $(($(now_ms) - begin)) ms: $(why_of "$1")"
	ends "$1" failed
	expect "why $1 failed" "$(why_of "$1")" has "peer lost"
	expect "locked by $1" "$(locked_of "$1")" -eq 0
	# It is gone with its host.
	unset "MEM_PID[$2]"
}

step "the target's host dies"
start_mem src ram=32M
start_mem dst@peer ram=32M,junk
before=$(hash_of src)
listen dst@peer pin-limit 8M
start src dst@peer pin-limit 8M rate-limit 4M
moved src
lost src dst@peer
unharmed src "$before"
back_up

step "the source's host dies"
start_mem other@peer ram=32M
start_mem back ram=32M,junk
listen back pin-limit 8M
start other@peer back pin-limit 8M rate-limit 4M
until_true 20 stat_is back pinned-bytes -gt 0
lost back other@peer
ask back rss
back_up

step "and a good move"
start_mem last@peer ram=32M,junk
listen last@peer
start src last@peer
done_well src last@peer
