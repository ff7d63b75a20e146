# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: what came from a stock QEMU is sent on to another stock QEMU, which takes it
# hosts: 1
# seconds: 180

ram=/dev/shm/guest.$$
later 'rm -f "$ram" "$ram.in"'
truncate -s 32M "$ram" "$ram.in"
dd if=/dev/urandom of="$ram" bs=1M count=24 conv=notrunc status=none
start_guest guest "$ram" 32
receive "$WORK/got"
migrate guest "rdma:$RDMAMIG_ADDR:$PORT"
tell guest --timeout 120 wait-migration
received 0
guest_is_in guest "$WORK/got"

for way in "" "pin-limit 8M" "pin-all on"; do
	step "send ${way:-without a limit}"
	pin_all=false
	if [[ $way == "pin-all on" ]]; then
		pin_all=true
	fi
	start_guest into "$ram.in" 32 -incoming defer
	tell into migrate-set-capabilities \
		"capabilities=[{\"capability\": \"rdma-pin-all\", \"state\": $pin_all}]"
	tell into migrate-incoming "uri=rdma:$RDMAMIG_ADDR:$PORT"
	expect_exit 0 rdmamigctl send "$RDMAMIG_ADDR:$PORT" dir "$WORK/got" $way
	expect_text sent
	tell into --timeout 60 wait-migration
	expect "what the new guest is" "$(tell into query-status)" has '"running": false'
	guest_is_in into "$WORK/got"
	cmp "$ram" "$ram.in"
	kill_guest into
	truncate -s 0 "$ram.in"
	truncate -s 32M "$ram.in"
done
