# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: the link goes down, or the device goes away, in mid-transfer
# hosts: 1
# seconds: 150

start_mem src ram=24M
start_mem dst ram=24M,junk
before=$(hash_of src)
later 'ip link set net0 up; rxe-reset'

for way in "pin-limit 4M" "pin-limit 16M" "pin-all on"; do
	step "net0 goes down, $way"
	listen dst $way
	start src dst $way rate-limit 4M
	moved src
	ip link set net0 down
	# No sign of life for peer-timeout.
	ends src failed 20
	ends dst failed 20
	echo "src: $(why_of src)"
	echo "dst: $(why_of dst)"
	expect "why src failed" "$(why_of src)" != ""
	unharmed src "$before"
	expect "locked by dst" "$(locked_of dst)" -eq 0
	ip link set net0 up
	rxe-reset

	step "the device is deleted, $way"
	listen dst $way
	start src dst $way rate-limit 4M
	moved src
	within 20 rdma link delete rxe0
	ends src failed 5
	ends dst failed 5
	echo "src: $(why_of src)"
	echo "dst: $(why_of dst)"
	unharmed src "$before"
	expect "locked by dst" "$(locked_of dst)" -eq 0
	expect_exit 0 rdmamigctl -j devices
	expect "devices" "$OUT" has '"devices":[]'
	rxe-reset
done

step "the device is deleted under a listener"
listen dst
within 20 rdma link delete rxe0
until_true 10 is_over dst
expect "why dst failed" "$(why_of dst)" != ""
rxe-reset

step "and all works again"
listen dst
start src dst
done_well src dst
