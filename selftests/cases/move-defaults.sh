# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: the defaults are those of the man page
# hosts: 1

start_mem src ram=40M
start_mem dst ram=40M,zero
listen dst
start src dst
for name in src dst; do
	expect pin-limit "$(session_of "$name" pin-limit)" -eq $((32 << 20))
	expect pin-all "$(session_of "$name" pin-all)" == false
	expect rate-limit "$(session_of "$name" rate-limit)" == 0
	expect unreg "$(session_of "$name" unreg)" == lru
	expect peer-chunk "$(session_of "$name" peer-chunk)" == 1M
	expect peer-timeout "$(session_of "$name" peer-timeout)" -eq 10000000000
	expect connect-timeout "$(session_of "$name" connect-timeout)" -eq 10000000000
	expect max-downtime "$(session_of "$name" max-downtime)" -eq 300000000
	expect auto-finish "$(session_of "$name" auto-finish)" == false
	expect ram-bytes "$(session_of "$name" ram-bytes)" -eq $((40 << 20))
	expect peer-rdmamig "$(session_of "$name" peer-rdmamig)" == true
	expect mode "$(session_of "$name" mode)" == native
	expect device "$(session_of "$name" device)" == rxe0
	expect owner-pid "$(session_of "$name" owner-pid)" == "$(pid_of "$name")"
done
expect role "$(session_of src role)" == source
expect role "$(session_of dst role)" == target
expect from-addr "$(session_of dst from-addr)" == null

step "without auto-finish it runs on until finish"
sent_all src
expect "state of src" "$(state_of src)" == running
expect "state of dst" "$(state_of dst)" == running
done_well src dst
kept_to $((32 << 20)) src dst

step "with auto-finish it ends by itself"
listen dst
start src dst auto-finish on
ends src completed 60
ends dst completed
same src dst
