# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: twenty migrations of a stock QEMU in a row, dynamic and pin-all in turn, every block the same
# hosts: 1
# seconds: 300

ram=/dev/shm/guest.$$
later 'rm -f "$ram"'

for ((turn = 1; turn <= 20; turn++)); do
	pin_all=$( ((turn % 2)) && echo off || echo on)
	echo "turn $turn, pin-all $pin_all"
	dd if=/dev/urandom of="$ram" bs=1M count=16 status=none
	start_guest guest "$ram" 16
	receive "$WORK/got"
	migrate guest "rdma:$RDMAMIG_ADDR:$PORT" "$pin_all"
	tell guest --timeout 60 wait-migration
	received 0
	guest_is_in guest "$WORK/got"
	kill_guest guest
	rm -rf "$WORK/got"
done
