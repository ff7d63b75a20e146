# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: start and receive, send and listen do not suit each other, and say what does
# hosts: 1

start_mem src ram=8M
start_mem dst ram=8M,zero
before=$(hash_of src)
at=$RDMAMIG_ADDR:$PORT
makedir "$WORK/vm" 1 pc.ram=8M

step "start to receive"
rdmamigctl receive "$at" dir "$WORK/got" >"$WORK/receive" 2>&1 &
job=$!
until_true 10 grep -q listening "$WORK/receive"
refused 5 rdmamigctl start "$at" $(vm_of src)
expect_text "rdmamigctl listen"
unharmed src "$before"

step "which still takes what suits it"
expect_exit 0 rdmamigctl send "$at" dir "$WORK/vm"
wait "$job"
cmp "$WORK/vm/ram.0" "$WORK/got/ram.0"

step "send to listen"
listen dst
refused 5 rdmamigctl send "$at" dir "$WORK/vm"
expect_text "rdmamigctl receive"

step "which still takes what suits it"
start src dst
done_well src dst
unharmed src "$before"
