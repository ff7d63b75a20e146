# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: set changes what may change in a session that lives, and says what not
# hosts: 1

start_mem src ram=16M
start_mem dst ram=16M,zero
listen dst pin-limit 8M
start src dst pin-limit 8M rate-limit 1M
moved src

expect_exit 0 of src set peer-timeout 5 max-downtime 700 unreg eager rate-limit 2M
expect peer-timeout "$(session_of src peer-timeout)" -eq 5000000000
expect max-downtime "$(session_of src max-downtime)" -eq 700000000
expect unreg "$(session_of src unreg)" == eager
expect rate-limit "$(session_of src rate-limit)" -eq $((2 << 20))

for fixed in "pin-limit 16M" "pin-all on" "max-memory 1G" "connect-timeout 3" "peer-chunk unknown" "unreg off"; do
	refused 1 of src set $fixed
	expect_text "${fixed% *}" "settled when a session begins"
done
expect "pin-limit after a refusal" "$(session_of src pin-limit)" -eq $((8 << 20))

step "auto-finish can come late"
of src set rate-limit off auto-finish on
ends src completed 30
ends dst completed
same src dst

step "not after the end"
refused 1 of src set peer-timeout 5
expect_text "is over"
