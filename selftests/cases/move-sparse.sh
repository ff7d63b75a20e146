# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: what is zero is neither pinned nor made resident, and junk is zeroed
# hosts: 1
# seconds: 120

# A huge page would make more resident than what is written.
huge=/sys/kernel/mm/transparent_hugepage/enabled
was=$(sed 's/.*\[\(.*\)\].*/\1/' "$huge")
later 'echo "$was" >"$huge"'
echo never >"$huge"

# One page in 1024 is not zero: so one chunk of 1 MiB in four.
full=$((48 << 20))
chunks=$((full >> 22))

for kind in anonymous shm; do
	shm=
	if [[ $kind == shm ]]; then
		shm=,shm
	fi
	step "$kind, to memory that was never touched"
	start_mem src "ram=48M,sparse$shm" "none=8M,zero$shm"
	start_mem dst "none=8M,zero$shm" "ram=48M,zero$shm"
	rss=$(rss_of src)
	expect "resident at first in dst" "$(rss_of dst)" -eq 0
	listen dst
	start src dst
	sent_all src
	of src finish
	ends src completed
	ends dst completed
	expect "resident in src" "$(rss_of src)" -eq "$rss"
	expect "resident in dst" "$(rss_of dst)" -le $((chunks << 20))
	expect "resident in dst" "$(rss_of dst)" -gt 0
	expect "chunks registered" "$(stat_of dst registrations)" -eq "$chunks"
	expect "bytes sent as zero" "$(stat_of src zero-bytes)" -eq $((full + (8 << 20) - (chunks << 20)))
	kept_to $((chunks << 20)) src dst
	same src dst
	kill_mem dst
	kill_mem src

	step "$kind, to memory that is full of junk"
	start_mem src "ram=48M,sparse$shm" "none=8M,zero$shm"
	start_mem dst "none=8M,junk$shm" "ram=48M,junk$shm"
	listen dst
	start src dst
	done_well src dst
	kill_mem dst
	kill_mem src
done
