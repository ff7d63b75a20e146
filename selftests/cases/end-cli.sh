# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: a session on a pid outlives rdmamigctl; a signal to a job that stays cancels
# hosts: 1
# seconds: 90

start_mem src ram=16M
start_mem dst ram=16M,zero
before=$(hash_of src)
at=$RDMAMIG_ADDR:$PORT

step "kill -9 of the commands that wait"
rdmamigctl listen "$at" $(vm_of dst) wait >"$WORK/listen" &
listen=$!
until_true 10 grep -q . "$WORK/listen"
ID[dst]=$(<"$WORK/listen")
rdmamigctl start "$at" $(vm_of src) rate-limit 4M wait >"$WORK/start" &
start=$!
until_true 10 grep -q . "$WORK/start"
ID[src]=$(<"$WORK/start")
moved src
kill -KILL "$listen" "$start"
wait "$listen" "$start" || true
expect "state of src" "$(state_of src)" == running
of src set rate-limit off
done_well src dst

for signal in INT TERM HUP; do
	step "SIG$signal to start ... wait"
	listen dst
	env --default-signal=INT rdmamigctl start "$at" $(vm_of src) rate-limit 4M wait \
		>"$WORK/start" 2>"$WORK/err" &
	start=$!
	until_true 10 grep -q . "$WORK/start"
	ID[src]=$(<"$WORK/start")
	moved src
	kill -"$signal" "$start"
	status=0
	wait "$start" || status=$?
	cat "$WORK/err"
	expect "exit status of start" "$status" -eq 5
	ends src cancelled 1
	ends dst failed
	unharmed src "$before"
done

step "memory of the command's own: its death ends the session"
truncate -s 16M "/dev/shm/from.$$"
head -c 16M /dev/urandom >"/dev/shm/from.$$"
listen dst
rdmamigctl start "$at" vm file "/dev/shm/from.$$" name ram rate-limit 4M >"$WORK/start" &
start=$!
until_true 10 grep -q . "$WORK/start"
ID[src]=$(<"$WORK/start")
moved src
kill -KILL "$start"
wait "$start" || true
ends src failed
ends dst failed
expect "why dst failed" "$(why_of dst)" has "owner exited"
rm "/dev/shm/from.$$"
