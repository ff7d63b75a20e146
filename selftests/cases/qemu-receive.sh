# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: a stock QEMU migrates into a directory, every block the same: idle and full, dynamic and pin-all
# hosts: 1
# seconds: 240

ram=/dev/shm/guest.$$
later 'rm -f "$ram"'

n=0
while read -r size fill pin_all; do
	step "$size MiB, $fill, pin-all $pin_all"
	truncate -s 0 "$ram"
	truncate -s "${size}M" "$ram"
	if [[ $fill == full ]]; then
		dd if=/dev/urandom of="$ram" bs=1M count="$size" conv=notrunc status=none
	else
		dd if=/dev/urandom of="$ram" bs=4K seek=1000 count=3 conv=notrunc status=none
	fi
	: $((n++))
	start_guest guest "$ram" "$size"
	receive "$WORK/got$n"
	migrate guest "rdma:$RDMAMIG_ADDR:$PORT" "$pin_all"
	tell guest --timeout 120 wait-migration
	received 0
	guest_is_in guest "$WORK/got$n"
	expect "peer in the manifest" "$(<"$WORK/got$n/manifest.json")" has rdmamig
	expect "state" "$(state_of receive)" == completed
	expect pin-all "$(session_of receive pin-all)" == "$([[ $pin_all == on ]] && echo true || echo false)"
	kill_guest guest
	rm -rf "$WORK/got$n"
done <<END
64 idle off
64 idle on
32 full off
32 full on
256 full off
END
