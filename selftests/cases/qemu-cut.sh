# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: a stock QEMU is killed or cancelled in the middle, or refused: then it works on the same port
# hosts: 1
# seconds: 240

ram=/dev/shm/guest.$$
later 'rm -f "$ram"'
uri=rdma:$RDMAMIG_ADDR:$PORT
truncate -s 128M "$ram"
dd if=/dev/urandom of="$ram" bs=1M count=128 conv=notrunc status=none

# Memory moves: the peer writes, so only what is registered can be seen.
moving() {
	until_true 30 stat_is receive registered -ge 4
}

nothing_received() {
	expect "files received" "$(compgen -G "$WORK/got/*")" == ""
}

step "QEMU is killed"
start_guest guest "$ram" 128
receive "$WORK/got"
migrate guest "$uri"
moving
kill_guest guest
received 5
nothing_received

step "QEMU cancels"
start_guest guest "$ram" 128
receive "$WORK/got"
migrate guest "$uri"
moving
tell guest migrate_cancel
received 5
nothing_received
try tell guest --timeout 60 wait-migration
expect_text cancelled

step "receive is told to end"
receive "$WORK/got"
migrate guest "$uri"
moving
kill -TERM "$RECEIVE"
received 5
nothing_received
try tell guest --timeout 60 wait-migration
expect_text failed

step "the limit is too small for a source that gives nothing back"
receive "$WORK/got" pin-limit 16M
try migrate guest "$uri"
try tell guest --timeout 60 wait-migration
status=0
wait "$RECEIVE" || status=$?
cat "$WORK/receive"
expect "exit status of receive" "$status" -gt 0
expect "what receive says" "$(<"$WORK/receive")" has pin-limit
expect "what receive says" "$(<"$WORK/receive")" has "stock"
nothing_received

step "to listen, which takes an rdmamig only"
start_mem dst ram=8M,zero
listen dst
try migrate guest "$uri"
try tell guest --timeout 60 wait-migration
expect "state of dst" "$(state_of dst)" == listening
of dst cancel

step "and then it works"
receive "$WORK/got"
migrate guest "$uri"
tell guest --timeout 120 wait-migration
received 0
guest_is_in guest "$WORK/got"
