# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: unreg says when chunks are given back: eager, off, lru
# hosts: 1
# seconds: 90

start_mem src ram=24M
start_mem dst ram=24M,zero

step "lru gives back when the limit asks"
listen dst pin-limit 8M
start src dst pin-limit 8M unreg lru
sent_all src
expect "given back" "$(stat_of src unregistrations)" -ge 16
kept_to $((8 << 20)) src dst
done_well src dst

step "lru keeps where there is room"
listen dst pin-limit 64M
start src dst pin-limit 64M unreg lru
sent_all src
expect "given back" "$(stat_of src unregistrations)" -eq 0
expect "registered" "$(stat_of dst registered)" -eq 24
done_well src dst

step "eager gives back although there is room"
listen dst pin-limit 64M
start src dst pin-limit 64M unreg eager
sent_all src
until_true 10 stat_is src unregistrations -eq 24
until_true 10 stat_is dst pinned-bytes -eq 0
done_well src dst

step "off keeps everything, and needs the room for it"
listen dst pin-limit 64M
refused 1 rdmamigctl start "$RDMAMIG_ADDR:$PORT" $(vm_of src) pin-limit 16M unreg off
expect_text pin-limit "unreg off"
start src dst unreg off
sent_all src
expect "given back" "$(stat_of src unregistrations)" -eq 0
expect "pinned" "$(stat_of src pinned-bytes)" -eq $((24 << 20))
done_well src dst
