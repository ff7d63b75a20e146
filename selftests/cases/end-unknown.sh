# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: a cut between END and its answer leaves the source unknown, until its operator resumes
# hosts: 1
# seconds: 120

at=$RDMAMIG_ADDR:$PORT
vm=$WORK/vm
makedir "$vm" 7 pc.ram=8M rom=64K
later 'ip link set net0 up; rxe-reset'

# The target's owner is stopped, so that END stays unanswered.
until_sealed() {
	rm -rf "$WORK/got"
	rdmamigctl receive "$at" dir "$WORK/got" >"$WORK/receive" 2>&1 &
	rx=$!
	until_true 10 grep -q listening "$WORK/receive"
	ID[dst]=$(sed -n 's/^session \([0-9]*\): listening.*/\1/p' "$WORK/receive")
	rdmamigctl send "$at" dir "$vm" rate-limit 4M >"$WORK/send" 2>&1 &
	tx=$!
	ID[src]=$((ID[dst] + 1))
	until_true 10 of src show >/dev/null 2>&1
	moved src
	kill -STOP "$rx"
	until_true 20 is_state dst sealed
	expect "what is pinned at the sealed target" "$(stat_of dst pinned-bytes)" -eq 0
	until_true 5 is_state src finishing
}

is_state() {
	[[ $(state_of "$1") == "$2" ]]
}

resumed() {
	local status=0
	wait "$tx" || status=$?
	cat "$WORK/send"
	expect "exit status of send" "$status" -eq 5
	expect "what send says" "$(<"$WORK/send")" has "ask the target"
	expect_exit 0 rdmamigctl resume "${ID[src]}"
	expect "state of src" "$(state_of src)" == cancelled
	refused 1 rdmamigctl resume "${ID[src]}"
	expect_text "resume is for unknown"
	status=0
	wait "$rx" || status=$?
	cat "$WORK/receive"
	expect "exit status of receive" "$status" -eq 5
	expect "manifest" "$(compgen -G "$WORK/got/manifest*")" == ""
}

step "the link goes down"
until_sealed
ip link set net0 down
ends src unknown 20
ends dst failed 20
kill -CONT "$rx"
resumed
ip link set net0 up
rxe-reset

step "the source is cancelled"
until_sealed
expect_exit 0 rdmamigctl cancel "${ID[src]}"
ends src unknown
kill -CONT "$rx"
resumed

step "the target is cancelled: that is an answer"
until_sealed
expect_exit 0 rdmamigctl cancel "${ID[dst]}"
kill -CONT "$rx"
ends src failed
wait "$tx" && fail "send went well"
wait "$rx" && fail "receive went well"
expect "why src failed" "$(why_of src)" has "peer: cancelled"
refused 1 rdmamigctl resume "${ID[src]}"
expect_text "resume is for unknown"
