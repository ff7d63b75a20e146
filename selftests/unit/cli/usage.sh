# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154	# sourced by run
#
# What is wrong with a command line: status 2, one line that names the word.

test_parsing() {
	local src="$top/tools/rdmamigctl" line

	# shellcheck disable=SC2086	# flags are words
	if ! ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra $flags -I"$src" \
		-o "$out/cli/parse-test" parse-test.c "$src/args.c" "$src/addr.c" \
		"$src/diag.c" >"$work/make" 2>&1; then
		sed 's/^/# /' "$work/make"
		not_ok "parse-test is built"
		return
	fi
	"$out/cli/parse-test" >"$work/parse" 2>&1 || echo "not ok - parse-test ended" >>"$work/parse"
	while read -r line; do
		case $line in
		"ok - "*)	ok "${line#ok - }" ;;
		"not ok - "*)	not_ok "${line#not ok - }" ;;
		*)		echo "# $line" ;;
		esac
	done <"$work/parse"
}

bad() {		# STDERR ARGUMENT...
	local pattern=$1
	shift
	check "refused: ${*:-nothing}" 2 "rdmamigctl: $pattern" "$@"
}

test_usage() {
	local at=(start 192.0.2.1:4444)

	bad "COMMAND: missing*"
	bad "frobnicate: no such command*" frobnicate
	bad "sta: no such command*" sta 1.2.3.4:5
	bad "-x: no such option" -x list
	bad "--jsonx: no such option" --jsonx list
	bad "list: --jsonx: no such option" list --jsonx
	bad "--color: needs*" --color
	bad "blue: not understood*" --color blue list
	bad "list: more: not understood here" list more
	bad "show: ID: missing*" show
	bad "show: x: not a session number" show x
	bad "show: 4294967296: not a session number" show 4294967296
	bad "show: -1: no such option" show -1
	bad "show: 1 : not a session number" show "1 "
	bad "finish: 2: not understood here" finish 1 2
	bad "cancel: ID: missing*" cancel
	bad "resume: ID: missing*" resume
	bad "wait: now: not understood here" wait 1 now
	bad "wait: state: needs a value" wait 1 state
	bad "wait: done: not a state" wait 1 state "done"
	bad "wait: soon: not understood*" wait 1 timeout soon
	bad "wait: 1.2345: not understood*" wait 1 timeout 1.2345
	bad "stats: 0.001: not understood*" stats watch 0.001
	bad "stats: x: not a session number" stats x
	bad "set: TUNABLES: missing*" set 1
	bad "set: colour: not a tunable*" set 1 colour red
	bad "set: from: not a tunable*" set 1 from 192.0.2.1
	bad "set: pin-limit: needs a value" set 1 pin-limit
	bad "set: pin-limit: given twice" set 1 pin-limit 4M pin-limit 8M
	bad "set: 4Q: not understood: pin-limit SIZE" set 1 pin-limit 4Q
	bad "set: -4M: not understood*" set 1 pin-limit -4M
	bad "set: 1.5G: not understood*" set 1 pin-limit 1.5G
	bad "set: 16777216T: too large*" set 1 pin-limit 16777216T
	bad "set: yes: not understood: auto-finish on|off" set 1 auto-finish yes
	bad "set: mru: not understood: unreg lru|eager|off" set 1 unreg mru
	bad "set: 4294967296: too large*" set 1 max-downtime 4294967296
	bad "set: 4294968: too large*" set 1 peer-timeout 4294968

	bad "start: ADDR: missing*" start
	bad "start: vm: missing*" "${at[@]}"
	bad "start: vm: 'pid PID'*" "${at[@]}" vm
	bad "start: qemu: 'pid PID'*" "${at[@]}" vm qemu
	bad "start: block: missing*" "${at[@]}" vm pid $$
	bad "start: pid: needs a value" "${at[@]}" vm pid
	bad "start: one: not a process id" "${at[@]}" vm pid one block a 0x1000+4K
	bad "start: 0: not a process id" "${at[@]}" vm pid 0 block a 0x1000+4K
	bad "start: pid: given twice" "${at[@]}" vm pid $$ pid $$ block a 0x1000+4K
	bad "start: a: ADDRESS+LENGTH must*" "${at[@]}" vm pid $$ block a
	bad "start: 0x1000: not understood*" "${at[@]}" vm pid $$ block a 0x1000
	bad "start: 0x1000+0: not understood*" "${at[@]}" vm pid $$ block a 0x1000+0
	bad "start: 0xffffffffffffffff+2: too large*" "${at[@]}" vm pid $$ block a 0xffffffffffffffff+2
	bad "start: : a block name*" "${at[@]}" vm pid $$ block "" 0x1000+4K
	bad "start: nnn*: a block name*" "${at[@]}" vm pid $$ block "$(printf 'n%.0s' {1..256})" 0x1000+4K
	bad "start: vm: either*" "${at[@]}" vm file /dev/null block a 0x1000+4K
	bad "start: name: needs a value" "${at[@]}" vm file /dev/null name
	bad "start: sideways: not understood here" "${at[@]}" vm file /dev/null sideways
	bad "start: from: not understood here" "${at[@]}" vm file /dev/null from 192.0.2.1
	bad "start: 192.0.2.1: the port is missing*" start 192.0.2.1 vm file /dev/null
	bad "start: ::1:5: write an IPv6*" start ::1:5 vm file /dev/null
	bad "listen: \[::1]:0: the port must*" listen "[::1]:0" vm file /dev/null
	bad "listen: 192.0.2.7/33: the prefix*" listen 192.0.2.1:5 vm file /dev/null from 192.0.2.7/33
	bad "receive: ADDR: missing*" receive
	bad "receive: dir: missing*" receive 192.0.2.1:5
	bad "receive: dir: needs a value" receive 192.0.2.1:5 dir
	bad "receive: vm: not understood here" receive 192.0.2.1:5 dir "$work/none" vm
	bad "send: dir: missing*" send 192.0.2.1:5
	bad "send: from: not understood here" send 192.0.2.1:5 dir "$work/none" from 192.0.2.1
	expect "a usage error makes no directory" [ ! -e "$work/none" ]

	check "a dead process" 1 "rdmamigctl: start: pid 2147483646: no such process" \
		"${at[@]}" vm pid 2147483646 block a 0x1000+4K
	check "a file that is not there" 1 "rdmamigctl: start: $work/none: No such file*" \
		"${at[@]}" vm file "$work/none"
	check "a file that is not one" 1 "rdmamigctl: start: /dev/null: not a regular file" \
		"${at[@]}" vm file /dev/null
	: >"$work/empty"
	check "an empty file" 1 "rdmamigctl: listen: $work/empty: the file is empty*" \
		listen 192.0.2.1:5 vm file "$work/empty"
}

test_help() {
	local command commands="listen start finish cancel resume wait list show stats
		devices set receive send"

	check "help" 0 "" help
	cp "$work/stdout" "$work/help"
	check "--help" 0 "" --help
	expect "both helps are alike" cmp -s "$work/stdout" "$work/help"
	for command in $commands; do
		check "help $command" 0 "" help "$command"
		printed "help $command prints its usage" "^usage: rdmamigctl $command"
		expect "help lists $command" grep -Eq "^  $command " "$work/help"
		check "$command --help" 0 "" "$command" --help
	done
	check "help of nothing" 2 "rdmamigctl: nothing: no such command" help nothing
	check "--version" 0 "" --version
	printed "the version is a version" "^rdmamigctl [0-9]+\.[0-9]+\.[0-9]+$"
	check "-V" 0 "" -V
}

# Without the module: status 3, whatever the command.
test_no_module() {
	local message="rdmamigctl: *: module: rdmamig is not loaded: modprobe rdmamig"
	local command

	if [ -d /sys/module/rdmamig ]; then
		skipped "without the module" "the module is loaded"
		return
	fi
	truncate -s 1M "$work/block"
	for command in list "show 1" "stats" "stats 1 watch 0.01" devices "finish 1" \
		"cancel 1" "resume 1" "wait 1" "wait 1 state running timeout 0.5" \
		"set 1 pin-limit 64M rate-limit 1G/s unreg eager peer-timeout 2.5" \
		"set 1 rate-limit off auto-finish on max-downtime 300 pin-all off" \
		"-j list" "list -j" "show -jd 1 -t" "--json --color never stats" \
		"start 192.0.2.1:4444 vm file $work/block name wait pin-limit 4M wait" \
		"listen [::1]:4444 vm file $work/block from 192.0.2.0/24 peer-chunk unknown" \
		"receive 192.0.2.1:4444 dir $work/made max-memory 1G from [2001:db8::]/32"; do
		# shellcheck disable=SC2086	# words they shall be
		check "no module: $command" 3 "$message" $command
	done
	expect "receive leaves no directory" [ ! -e "$work/made" ]
}
