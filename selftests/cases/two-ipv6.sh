# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: memory moves from host to host over IPv6, and a directory too
# hosts: 2
# seconds: 120

start_mem src ram=8M
start_mem dst@peer ram=8M,junk
ADDR=$(addr6_of dst@peer)
listen dst@peer from "${RDMAMIG_ADDR6%::*}::/64"
start src dst@peer
done_well src dst@peer

step "send"
makedir "$WORK/vm" 3 pc.ram=8M rom=64K
got=$RDMAMIG_SHARE/got.$$
on-peer rdmamigctl receive "$ADDR:$PORT" dir "$got" >"$WORK/receive" 2>&1 &
job=$!
until_true 10 grep -q listening "$WORK/receive"
expect_exit 0 rdmamigctl send "$ADDR:$PORT" dir "$WORK/vm"
wait "$job"
for file in ram.0 ram.1 stream; do
	cmp "$WORK/vm/$file" "$got/$file"
done
rm -r "$got"
