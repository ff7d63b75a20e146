# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: memory moves over IPv6
# hosts: 1

start_mem src -s 5 ram=8M
start_mem dst ram=8M,junk
ADDR=$(addr6_of dst)
listen dst
start src dst
expect "where src connects to" "$(session_of src remote-addr)" has "$RDMAMIG_ADDR6"
done_well src dst
