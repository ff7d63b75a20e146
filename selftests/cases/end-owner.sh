# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: the death of either owner in mid-transfer ends both sessions, and the other is unharmed
# hosts: 1
# seconds: 120

for limit in 4M 16M; do
	step "the source's owner is killed, pin-limit $limit"
	start_mem src ram=24M
	start_mem dst ram=24M,junk
	listen dst pin-limit $limit
	start src dst pin-limit $limit rate-limit 4M
	moved src
	kill_mem src
	ends src failed 10
	ends dst failed 10
	expect "why src failed" "$(why_of src)" has "owner exited"
	expect "why dst failed" "$(why_of dst)" has "owner exited"
	expect "owner of src" "$(session_of src owner-pid)" == null
	expect "locked by dst" "$(locked_of dst)" -eq 0
	kill_mem dst

	step "the target's owner is killed, pin-limit $limit"
	start_mem src ram=24M
	start_mem dst ram=24M,junk
	before=$(hash_of src)
	listen dst pin-limit $limit
	start src dst pin-limit $limit rate-limit 4M
	moved src
	kill_mem dst
	ends dst failed 10
	ends src failed 10
	expect "why dst failed" "$(why_of dst)" has "owner exited"
	expect "why src failed" "$(why_of src)" has "owner exited"
	unharmed src "$before"
	kill_mem src
done

step "the owner of a listener exits"
start_mem dst ram=4M
listen dst
kill_mem dst
ends dst failed 10

step "an owner that only stands still harms nobody"
start_mem src ram=8M
start_mem dst ram=8M,zero
listen dst
kill -STOP "$(pid_of src)" "$(pid_of dst)"
start src dst
sent_all src
kill -CONT "$(pid_of src)" "$(pid_of dst)"
done_well src dst
