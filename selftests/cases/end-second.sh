# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: a listener takes one source, and only from where it may come
# hosts: 1

start_mem src ram=8M
start_mem other ram=8M
start_mem dst ram=8M,zero
at=$RDMAMIG_ADDR:$PORT

step "a second source while the first is served"
listen dst
start src dst rate-limit 4M
moved src
refused 5 rdmamigctl start "$at" $(vm_of other)
expect_text taken
expect "state of the first" "$(state_of src)" == running
of src set rate-limit off
done_well src dst

step "and after the end nobody listens any more"
refused 5 rdmamigctl start "$at" $(vm_of other)

step "from another address"
for from in 192.0.2.1 192.0.2.0/24 10.77.1.0/24; do
	listen dst from $from
	refused 5 rdmamigctl start "$at" $(vm_of src)
	expect "state of dst" "$(state_of dst)" == listening
	of dst cancel
done

step "from this one"
for from in "$RDMAMIG_ADDR" "${RDMAMIG_ADDR%.*}.0/24" 0.0.0.0/0; do
	listen dst from "$from"
	start src dst
	sent_all src
	of src finish
	ends src completed
	ends dst completed
done
same src dst

step "over IPv6"
ADDR=[$RDMAMIG_ADDR6]
listen dst from 2001:db8::/32
refused 5 rdmamigctl start "$ADDR:$PORT" $(vm_of src)
of dst cancel
listen dst from "${RDMAMIG_ADDR6%::*}::/64"
start src dst
done_well src dst
