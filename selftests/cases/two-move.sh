# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: memory moves from host to host, both ways, under limits and pin-all
# hosts: 2
# seconds: 240

start_mem mine -s 1 tiny=4K odd=68K megpage=1028K big=24M
start_mem theirs@peer -s 2 big=24M megpage=1028K tiny=4K odd=68K
start_mem blank@peer big=24M,junk megpage=1028K odd=68K,junk tiny=4K
start_mem back odd=68K,junk tiny=4K big=24M,zero megpage=1028K
ram=$(ram_of mine)

for way in "pin-limit 4M" "pin-limit 16M" "pin-all on"; do
	step "to the other host, $way"
	listen blank@peer $way
	start mine blank@peer $way
	sent_all mine
	limit=$ram
	if [[ $way == pin-limit* ]]; then
		limit=${way#pin-limit }
		limit=$((${limit%M} << 20))
	fi
	expect "locked here" "$(locked_of mine)" -eq "$limit"
	expect "locked there" "$(locked_of blank@peer)" -eq "$limit"
	done_well mine blank@peer
	kept_to "$limit" mine blank@peer

	step "from the other host, $way"
	listen back $way
	start theirs@peer back $way
	done_well theirs@peer back
	kept_to "$limit" theirs@peer back
done
