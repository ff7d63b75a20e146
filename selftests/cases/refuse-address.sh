# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: addresses that lead nowhere are refused, in words and in time
# hosts: 1

start_mem src ram=8M
start_mem dst ram=8M,zero
before=$(hash_of src)
mem=$(vm_of src)
at=$RDMAMIG_ADDR

step "an address that no RDMA device has"
for address in 192.0.2.1 "[2001:db8::1]"; do
	refused 1 rdmamigctl listen "$address:$PORT" $mem
	expect_text "$address"
done

step "a loopback address, which the CM would take for any"
for address in 127.0.0.1 "[::1]"; do
	refused 1 rdmamigctl listen "$address:$PORT" $mem
	expect_text loopback
done

step "nobody listens"
for address in "$at" "[$RDMAMIG_ADDR6]"; do
	refused 5 rdmamigctl start "$address:$PORT" $mem
	expect_text "$address" listen
done

step "nobody is there: as long as connect-timeout says"
unused=${at%.*}.77
for seconds in 1 2.5; do
	begin=$(now_ms)
	expect_exit 5 rdmamigctl start "$unused:$PORT" $mem connect-timeout $seconds
	took=$(($(now_ms) - begin))
	expect "ms until it gave up" "$took" -le $((${seconds%.*} * 1000 + 2500))
	expect_text "$unused"
done

step "the port is taken"
listen dst
refused 1 rdmamigctl listen "$at:$PORT" $mem
expect_text "$PORT" "in use"
expect "the one that has it" "$(state_of dst)" == listening
of dst cancel
ADDR=0.0.0.0 listen dst
refused 1 rdmamigctl listen "$at:$PORT" $mem
expect_text "$PORT" "another listener"

step "the port is free as soon as the listener is gone"
of dst cancel
ends dst cancelled
listen dst
start src dst
done_well src dst
unharmed src "$before"

step "words that are no address"
for address in "$at" "$at:0" "$at:65536" "$at:http" ":$PORT" "[$RDMAMIG_ADDR6:$PORT" "300.1.2.3.4:$PORT"; do
	try rdmamigctl listen "$address" $mem
	expect "status for $address" "$STATUS" -gt 0
	expect "status for $address" "$STATUS" -le 2
done
