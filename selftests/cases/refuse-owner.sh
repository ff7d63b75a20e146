# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: what is no process's memory is refused: a dead pid, a file that is no mem-fd
# hosts: 1

start_mem src ram=4M
at=$RDMAMIG_ADDR
ram=$(block_of src ram)
pid=$(pid_of src)

step "a dead pid"
true &
dead=$!
wait "$dead"
for verb in listen start; do
	refused 1 rdmamigctl $verb "$at:$PORT" vm pid "$dead" block ram "$ram"
	expect_text "pid $dead" "no such process"
done
for word in 0 -1 x 4294967296; do
	refused 2 rdmamigctl listen "$at:$PORT" vm pid "$word" block ram "$ram"
done

step "a kernel thread has no memory"
kthread=$(pgrep -x kthreadd)
refused 1 rdmamigctl listen "$at:$PORT" vm pid "$kthread" block ram "$ram"

# probe ROLE PATH MODE WORDS...
probe() {
	local role=$1 path=$2 mode=$3
	shift 3
	within 1 expect_exit 1 nlprobe new "$role" "$at" "$PORT" "$path" "$mode" "$ram"
	expect_text "mem-fd" "attr 10" "$@"
}

step "files that are no mem-fd"
for role in source target; do
	probe $role /etc/passwd r "not an open /proc/PID/mem"
	probe $role "/proc/$pid/maps" r "not an open /proc/PID/mem"
	probe $role "/proc/$pid/status" r "not an open /proc/PID/mem"
	probe $role /dev/zero rw "not an open /proc/PID/mem"
	probe $role /dev/mem r "not an open /proc/PID/mem"
done

step "a mem-fd that was opened the wrong way"
probe target "/proc/$pid/mem" r "not open for writing"
probe source "/proc/$pid/mem" w "not open for reading"

step "numbers that are no descriptor"
for fd in 99 -1 2147483647; do
	within 1 expect_exit 1 nlprobe fd target "$at" "$PORT" $fd "$ram"
	expect_text "mem-fd: not an open descriptor"
done

step "the right ones are taken"
expect_exit 0 nlprobe new target "$at" "$PORT" "/proc/$pid/mem" w "$ram"
expect_text "id "
expect_exit 0 rdmamigctl cancel "${OUT##*id }"
