# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: pin limits that cannot work are refused with both figures
# hosts: 1
# seconds: 90

start_mem src ram=16M
start_mem dst ram=16M,zero
before=$(hash_of src)
at=$RDMAMIG_ADDR:$PORT

step "below the working window"
for verb in listen start; do
	refused 1 rdmamigctl $verb "$at" $(vm_of src) pin-limit 1M
	expect_text pin-limit 1048576 4194304
	refused 1 rdmamigctl $verb "$at" $(vm_of src) pin-limit $(((4 << 20) - 4096))
	expect_text pin-limit
done
expect "locked by src" "$(locked_of src)" -eq 0

step "a block smaller than the window needs no more than itself"
start_mem small ram=64K
start_mem small2 ram=64K,zero
listen small2 pin-limit 64K
start small small2 pin-limit 64K
done_well small small2

step "the least that is allowed, here and there"
listen dst pin-limit 4M
start src dst pin-limit 64M
sent_all src
kept_to $((4 << 20)) src dst
done_well src dst
listen dst pin-limit 64M
start src dst pin-limit 4M
sent_all src
kept_to $((4 << 20)) src dst
done_well src dst

step "pin-all under a limit below all RAM, at either end"
listen dst
refused 1 rdmamigctl start "$at" $(vm_of src) pin-all on pin-limit 8M
expect_text pin-all pin-limit 8388608 16777216
of dst cancel
listen dst pin-limit 8M
refused 5 rdmamigctl start "$at" $(vm_of src) pin-all on
expect_text pin-limit 8388608 16777216
expect "state of dst after it refused a source" "$(state_of dst)" == listening
start src dst
done_well src dst

step "the limit of an owner without CAP_IPC_LOCK counts"
start_mem poor prlimit --memlock=$((8 << 20)):$((8 << 20)) \
	setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock -- ram=16M
for verb in listen start; do
	refused 1 rdmamigctl $verb "$at" $(vm_of poor) pin-limit 16M
	expect_text RLIMIT_MEMLOCK 8388608 16777216
done
expect "locked by poor" "$(locked_of poor)" -eq 0
listen poor pin-limit 8M
expect "locked by poor" "$(locked_of poor)" -eq $((8 << 20))
step "and is all in use now"
refused 1 rdmamigctl start "$at" $(vm_of poor) pin-limit 4M
expect_text RLIMIT_MEMLOCK
start src poor
done_well src poor
unharmed src "$before"
