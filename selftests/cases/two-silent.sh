# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: the other host falls silent, or its link goes down: peer-timeout is kept at both ends
# hosts: 2
# seconds: 300

later 'ip link set net0 up; on-peer ip link set net0 up; rxe-reset; on-peer rxe-reset'
start_mem src ram=32M
start_mem dst@peer ram=32M,junk
before=$(hash_of src)

for who in here peer; do
	for phase in busy idle; do
		step "the link of $who goes down while the transfer is $phase"
		listen dst@peer pin-limit 8M peer-timeout 4
		if [[ $phase == busy ]]; then
			start src dst@peer pin-limit 8M peer-timeout 4 rate-limit 4M
			moved src
		else
			start src dst@peer pin-limit 8M peer-timeout 4
			sent_all src
			until_true 20 stat_is src data-bytes -eq $((32 << 20))
		fi
		begin=$(now_ms)
		on "$who" ip link set net0 down
		until_true 10 is_over src
		until_true 10 is_over dst@peer
		echo "after $(($(now_ms) - begin)) ms: $(why_of src); $(why_of dst@peer)"
		ends src failed
		ends dst@peer failed
		unharmed src "$before"
		expect "locked there" "$(locked_of dst@peer)" -eq 0
		on "$who" ip link set net0 up
		rxe-reset
		on-peer rxe-reset
	done
done

step "an idle connection lives on"
listen dst@peer peer-timeout 2
start src dst@peer peer-timeout 2
sent_all src
until_true 30 stat_is src probes -ge 8
expect "state of src" "$(state_of src)" == running
done_well src dst@peer
