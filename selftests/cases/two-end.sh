# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: cancel and the death of an owner, on either host: the other hears why
# hosts: 2
# seconds: 240

start_mem src ram=24M
start_mem dst@peer ram=24M,junk
before=$(hash_of src)

for who in src dst@peer; do
	other=dst@peer
	if [[ $who == dst@peer ]]; then
		other=src
	fi
	step "$who cancels"
	listen dst@peer pin-limit 8M
	start src dst@peer pin-limit 8M rate-limit 4M
	moved src
	of "$who" cancel
	ends "$who" cancelled
	ends "$other" failed 10
	expect "why $other failed" "$(why_of "$other")" has cancel
	unharmed src "$before"

	step "the owner of $who is killed"
	listen dst@peer pin-limit 8M
	start src dst@peer pin-limit 8M rate-limit 4M
	moved src
	kill_mem "$who"
	ends "$who" failed 10
	ends "$other" failed 10
	expect "why $who failed" "$(why_of "$who")" has "owner exited"
	expect "why $other failed" "$(why_of "$other")" has "owner exited"
	case $who in
	src)
		expect "locked there" "$(locked_of dst@peer)" -eq 0
		start_mem src ram=24M ;;
	*)
		unharmed src "$before"
		start_mem dst@peer ram=24M,junk ;;
	esac
done

step "and all works again"
listen dst@peer
start src dst@peer
done_well src dst@peer
