# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: what becomes dirty after it was sent is sent again, by pages, holes that were filled too
# hosts: 1

start_mem src ram=8M sp=8M,sparse
start_mem dst ram=8M,junk sp=8M,junk
listen dst pin-limit 4M
start src dst pin-limit 4M
sent_all src
until_true 10 stat_is src rounds -ge 1
sent=$(stat_of src data-bytes)

step "the source changes, and nobody says so"
ask src touch ram 5
ask src touch ram 1030
ask src touch ram 2047
if [[ $(hash_of src) == "$(hash_of dst)" ]]; then
	fail "a page was sent that nobody called dirty"
fi

step "it is said: 64 pages around each"
id=${ID[src]}
expect_exit 0 nlprobe dirty "$id" 0 0 8
expect_exit 0 nlprobe dirty "$id" 0 1024 8
expect_exit 0 nlprobe dirty "$id" 0 1984 8
sent_all src
again=$(($(stat_of src data-bytes) - sent))
expect "bytes sent again" "$again" -gt 0
expect "bytes sent again" "$again" -le $((3 * 64 * 4096))

step "a page that was absent"
ask src touch sp 7
expect_exit 0 nlprobe dirty "$id" 1 0 8
sent_all src

denied() {
	local why=$1
	shift
	expect_exit 1 "$@"
	expect_text "$why"
}

step "logs that cannot be"
denied "not in the block" nlprobe dirty "$id" 0 2048 8
denied "not in the block" nlprobe dirty "$id" 0 1984 16
denied "no multiple of 64" nlprobe dirty "$id" 0 1 8
denied "no block 2" nlprobe dirty "$id" 2 0 8
denied "64-bit words" nlprobe dirty "$id" 0 0 7
done_well src dst
denied "no source that still sends" nlprobe dirty "$id" 0 0 8
