# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: rmmod works in mid-transfer, and leaves both owners unharmed
# hosts: 1
# seconds: 120

start_mem src ram=24M
start_mem dst ram=24M,junk
before=$(hash_of src)

for way in "pin-limit 4M" "pin-limit 16M" "pin-all on"; do
	step "$way"
	listen dst $way
	start src dst $way rate-limit 4M
	moved src
	within 10 rmmod rdmamig
	unharmed src "$before"
	expect "locked by dst" "$(locked_of dst)" -eq 0
	modprobe rdmamig
	expect_exit 4 of src show
done

step "with a listener, and with a source that nobody answers"
listen dst
rdmamigctl start "${RDMAMIG_ADDR%.*}.77:$PORT" $(vm_of src) connect-timeout 60 >/dev/null 2>&1 &
job=$!
until_true 5 sh -c 'rdmamigctl -j list | grep -q connecting'
within 10 rmmod rdmamig
status=0
wait "$job" || status=$?
expect "exit status of start" "$status" != 0
modprobe rdmamig

step "a stream that is open holds the module"
rdmamigctl receive "$RDMAMIG_ADDR:$PORT" dir "$WORK/got" >"$WORK/receive" 2>&1 &
job=$!
until_true 10 grep -q listening "$WORK/receive"
expect_exit 1 rmmod rdmamig
expect_text "in use"
kill -TERM "$job"
wait "$job" || true

step "and all works again"
listen dst
start src dst
done_well src dst
