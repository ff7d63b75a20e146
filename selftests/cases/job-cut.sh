# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: send or receive is killed or cancelled in the middle: no manifest, and the other says why
# hosts: 1
# seconds: 120

at=$RDMAMIG_ADDR:$PORT
vm=$WORK/vm
makedir "$vm" 7 pc.ram=24M rom=64K

# both [TUNABLES OF SEND]: run them until memory moves
both() {
	rm -rf "$WORK/got"
	rdmamigctl receive "$at" dir "$WORK/got" >"$WORK/receive" 2>&1 &
	rx=$!
	until_true 10 grep -q listening "$WORK/receive"
	ID[dst]=$(sed -n 's/^session \([0-9]*\): listening.*/\1/p' "$WORK/receive")
	rdmamigctl send "$at" dir "$vm" "$@" >"$WORK/send" 2>&1 &
	tx=$!
	ID[src]=$((ID[dst] + 1))
	until_true 10 of src show >/dev/null 2>&1
	moved src
}

# left STATUS PID FILE: how a job ended
left() {
	local status=0
	wait "$2" || status=$?
	cat "$3"
	expect "exit status" "$status" -eq "$1"
}

no_manifest() {
	expect "manifest" "$(compgen -G "$WORK/got/manifest*")" == ""
}

step "send is killed"
both rate-limit 4M
kill -KILL "$tx"
left 5 "$rx" "$WORK/receive"
no_manifest
expect "files left" "$(compgen -G "$WORK/got/*")" == ""
ends src failed
ends dst failed

step "receive is killed"
both rate-limit 4M
kill -KILL "$rx"
left 5 "$tx" "$WORK/send"
expect "what send says" "$(<"$WORK/send")" has "owner exited"
no_manifest
ends src failed
ends dst failed

for signal in TERM HUP; do
	step "send gets SIG$signal"
	both rate-limit 4M
	kill -"$signal" "$tx"
	left 5 "$tx" "$WORK/send"
	left 5 "$rx" "$WORK/receive"
	expect "what receive says" "$(<"$WORK/receive")" has cancel
	no_manifest
	ends src cancelled

	step "receive gets SIG$signal"
	both rate-limit 4M
	kill -"$signal" "$rx"
	left 5 "$rx" "$WORK/receive"
	left 5 "$tx" "$WORK/send"
	expect "what send says" "$(<"$WORK/send")" has cancel
	no_manifest
	ends dst cancelled
done

step "the directory is as it was, and the port is free"
both
left 0 "$tx" "$WORK/send"
left 0 "$rx" "$WORK/receive"
cmp "$vm/ram.0" "$WORK/got/ram.0"
cmp "$vm/ram.1" "$WORK/got/ram.1"
cmp "$vm/stream" "$WORK/got/stream"
