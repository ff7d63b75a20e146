# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: memory that is dropped or unmapped in mid-transfer: right at the source, named at the target
# hosts: 1
# seconds: 150

for kind in "" ,shm; do
	for limit in 64M 4M; do
		step "pages of the source are dropped, and written anew ($limit$kind)"
		start_mem src "ram=24M$kind"
		start_mem dst ram=24M,junk
		listen dst pin-limit $limit
		start src dst pin-limit $limit rate-limit 4M
		moved src
		if [[ $limit == 4M ]]; then
			# Some of it was sent, and given back already.
			until_true 20 stat_is src unregistrations -ge 4
		fi
		# Dropped shared pages are still in the file.
		ask src drop ram 0 2048
		ask src drop ram 3000 3001
		ask src drop ram 5888 6144
		of src set rate-limit off
		done_well src dst
		kill_mem src
		kill_mem dst

		step "pages of the target are dropped ($limit$kind)"
		start_mem src ram=24M
		start_mem dst "ram=24M,junk$kind"
		before=$(hash_of src)
		listen dst pin-limit $limit
		start src dst pin-limit $limit rate-limit 8M
		moved src $((2 << 20))
		if [[ $kind ]]; then
			# Nothing is lost: the same pages come back.
			ask dst drop ram 0 6144
			of src set rate-limit off
			done_well src dst
		else
			ask dst drop ram 0 6144
			ends dst failed 10
			ends src failed 10
			expect "why dst failed" "$(why_of dst)" has "'ram'"
			expect "why dst failed" "$(why_of dst)" has "took the memory away"
			expect "why dst failed" "$(why_of dst)" has offset
			unharmed src "$before"
		fi
		kill_mem src
		kill_mem dst
	done
done

for who in src dst; do
	step "a block of $who is unmapped"
	start_mem src ram=24M rom=4M
	start_mem dst ram=24M,junk rom=4M
	listen dst pin-limit 8M
	start src dst pin-limit 8M rate-limit 8M
	moved src
	ask "$who" unmap ram
	ends "$who" failed 20
	expect "why $who failed" "$(why_of "$who")" has "'ram'"
	other=dst
	if [[ $who == dst ]]; then
		other=src
	fi
	ends "$other" failed 20
	kill_mem src
	kill_mem dst
done
