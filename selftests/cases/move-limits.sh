# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: odd blocks move in any order, under each limit and pin-all
# hosts: 1
# seconds: 150

start_mem src -s 7 tiny=4K odd=68K meg=1M megpage=1028K big=32M
ram=$(ram_of src)

for limit in 4M 16M 64M pin-all; do
	step "limit $limit"
	start_mem dst -s 8 big=32M,junk megpage=1028K tiny=4K,junk meg=1M,junk odd=68K
	case $limit in
	pin-all)
		knobs=(pin-all on)
		bytes=$ram ;;
	*)
		knobs=(pin-limit "$limit")
		bytes=$((${limit%M} << 20)) ;;
	esac
	listen dst "${knobs[@]}"
	start src dst "${knobs[@]}"
	sent_all src
	charged=$((bytes < ram ? bytes : ram))
	expect "locked by src" "$(locked_of src)" -eq "$charged"
	expect "locked by dst" "$(locked_of dst)" -eq "$charged"
	done_well src dst
	kept_to "$charged" src dst
	expect "locked by src afterwards" "$(locked_of src)" -eq 0
	expect "locked by dst afterwards" "$(locked_of dst)" -eq 0
	kill_mem dst
done
