# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: rate-limit is kept, and can be changed in mid-transfer
# hosts: 1

start_mem src ram=32M
start_mem dst ram=32M,zero

step "8M a second"
listen dst
start src dst rate-limit 8M auto-finish on
ends src completed 60
ends dst completed
ns=$(stat_of src run-ns)
expect "ns that 32M took at 8M a second" "$ns" -ge 3500000000
expect "ns that 32M took at 8M a second" "$ns" -le 10000000000
same src dst

step "1M a second, then none"
listen dst
start src dst rate-limit 1M
moved src
expect "still to be sent" "$(stat_of src remaining-bytes)" -gt $((8 << 20))
of src set rate-limit off
sent_all src 15
done_well src dst
