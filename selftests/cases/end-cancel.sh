# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: cancel at either end in mid-transfer: both end, both say why, the source is unharmed
# hosts: 1
# seconds: 120

start_mem src -s 9 ram=24M rom=68K
start_mem dst rom=68K ram=24M,junk
before=$(hash_of src)

for who in src dst; do
	for way in "pin-limit 4M" "pin-limit 16M" "pin-all on"; do
		step "$who cancels, $way"
		listen dst $way
		start src dst $way rate-limit 4M
		moved src
		within 5 of "$who" cancel
		ends "$who" cancelled
		other=dst
		if [[ $who == dst ]]; then
			other=src
		fi
		ends "$other" failed 10
		expect "why $other failed" "$(why_of "$other")" has cancel
		unharmed src "$before"
		expect "locked by dst" "$(locked_of dst)" -eq 0
	done
done

step "cancel before anybody came, and while nobody answers"
listen dst
within 5 of dst cancel
ends dst cancelled

step "and both still work"
listen dst
start src dst
done_well src dst
