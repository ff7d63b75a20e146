# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: fifty times cancelled or killed at random moments, nothing is left behind
# hosts: 1
# seconds: 300

seed=${SEED:-$RANDOM}
RANDOM=$seed
echo "SEED=$seed"
before_pins=$(pins_now)
resources=$(rdma resource show)

start_mem src ram=12M rom=68K
start_mem dst rom=68K ram=12M,junk
before=$(hash_of src)
same_resources() {
	[[ $(rdma resource show) == "$resources" ]]
}

for ((turn = 0; turn < 50; turn++)); do
	limit=$((4 << (RANDOM % 3)))M
	listen dst pin-limit $limit
	start src dst pin-limit $limit rate-limit 16M
	nap 0.$(printf %03d $((RANDOM % 600)))
	case $((RANDOM % 4)) in
	0)
		echo "turn $turn: cancel at the source"
		of src cancel >/dev/null
		ends src cancelled
		until_true 10 is_over dst ;;
	1)
		echo "turn $turn: cancel at the target"
		of dst cancel >/dev/null
		ends dst cancelled
		until_true 10 is_over src ;;
	2)
		echo "turn $turn: kill the source's owner"
		kill_mem src
		until_true 10 is_over src
		until_true 10 is_over dst
		start_mem src ram=12M rom=68K ;;
	3)
		echo "turn $turn: kill the target's owner"
		kill_mem dst
		until_true 10 is_over src
		until_true 10 is_over dst
		start_mem dst rom=68K ram=12M,junk ;;
	esac
	expect "locked by src" "$(locked_of src)" -eq 0
	expect "locked by dst" "$(locked_of dst)" -eq 0
	expect "pinned pages" "$(pins_now)" -eq "$before_pins"
	until_true 5 same_resources
done
unharmed src "$before"
listen dst
start src dst
done_well src dst
