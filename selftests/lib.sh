# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Verbs for the test cases, which selftests/run reads before each of them.
#
# A case ends with status 0, with skip, or with the first thing that is not as
# expected. Names of memory holders that end in @peer live on the other host;
# everything that is done with them is done there.

set -Eeuo pipefail

WORK=$(mktemp -d /tmp/rdmamig-case-XXXXXX)
PORT=${PORT:-4444}
SELFTESTS=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
declare -A GUEST_PID=() MEM_PID=() MEM_VM=() MEM_FD=() ID=()
OUT='' ERR='' STATUS=0

trap 'echo "failed: $BASH_COMMAND (${BASH_SOURCE[0]##*/}:$LINENO)" >&2' ERR
trap at_exit EXIT
LATER=()

# later COMMAND: to be evaluated when the case ends, however it does. A case sets
# no trap of its own on EXIT: that would hide its status.
later() {
	LATER+=("$1")
}

fail() {
	local i
	trap - ERR
	{
		echo "failed: $*"
		for ((i = 1; i < ${#FUNCNAME[@]}; i++)); do
			echo "  at ${BASH_SOURCE[i]##*/}:${BASH_LINENO[i - 1]}"
		done
	} >&2
	exit 1
}

# The rest of the case cannot run here: TAP's skip.
skip() {
	echo "$*" >"$SKIP_FILE"
	exit 0
}

step() {
	echo "== $*"
}

# Not to hope that something happens meanwhile: to choose a moment, or between
# two looks at a condition.
nap() {
	read -rt "$1" <>"$WORK/never" || true
}
mkfifo "$WORK/never"

# until_true SECONDS COMMAND...
until_true() {
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000)) seconds=$1
	shift
	until "$@"; do
		if ((${EPOCHREALTIME/./} > end)); then
			fail "not true within $seconds s: $*"
		fi
		nap 0.1
	done
}

now_ms() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

# within SECONDS COMMAND...: fails if it takes longer.
within() {
	local most=$1 begin=${EPOCHREALTIME/./} took
	shift
	"$@"
	took=$(((${EPOCHREALTIME/./} - begin) / 1000))
	if ((took > most * 1000)); then
		fail "took $took ms, allowed are $most s: $*"
	fi
}

# ---- hosts ----

host_of() {
	case $1 in
	*@peer) echo peer ;;
	*) echo here ;;
	esac
}

# on here|peer COMMAND...
on() {
	local host=$1
	shift
	if [[ $host == peer ]]; then
		on-peer "$@"
	else
		"$@"
	fi
}

# The address of the host of a holder, as seen from either.
addr_of() {
	if [[ $(host_of "$1") == peer ]]; then
		echo "${RDMAMIG_PEER:?}"
	else
		echo "${RDMAMIG_ADDR:?}"
	fi
}

addr6_of() {
	if [[ $(host_of "$1") == peer ]]; then
		echo "[${RDMAMIG_PEER6:?}]"
	else
		echo "[${RDMAMIG_ADDR6:?}]"
	fi
}

# back_up: the other host again, after kill-peer; what was there is forgotten.
back_up() {
	local name
	restart-peer
	on-peer "$SELFTESTS/health" begin >"$PEER_STATE_FILE"
	for name in "${!MEM_PID[@]}"; do
		if [[ $(host_of "$name") == peer ]]; then
			unset "MEM_PID[$name]"
		fi
	done
}

# ---- commands that must fail in the right way ----

# try COMMAND...: STATUS, OUT and ERR of it.
try() {
	STATUS=0
	"$@" >"$WORK/out" 2>"$WORK/err" </dev/null || STATUS=$?
	OUT=$(<"$WORK/out")
	ERR=$(<"$WORK/err")
	echo "+ $* -> $STATUS"
	if [[ $OUT ]]; then echo "  | $OUT"; fi
	if [[ $ERR ]]; then echo "  ! $ERR"; fi
}

# expect_exit STATUS COMMAND...
expect_exit() {
	local want=$1
	shift
	try "$@"
	if [[ $STATUS != "$want" ]]; then
		fail "exit status $STATUS, expected was $want: $*"
	fi
}

# What the last command wrote, in part: each word must be there.
expect_text() {
	local word
	for word; do
		if [[ "$OUT
$ERR" != *"$word"* ]]; then
			fail "the last command's words lack '$word'"
		fi
	done
}

# A refusal: one line on stderr that begins as promised, and at once.
refused() {
	local want=$1
	shift
	within 2 expect_exit "$want" "$@"
	if [[ $ERR != "rdmamigctl: "* || $ERR == *$'\n'* ]]; then
		fail "not one line 'rdmamigctl: ...' on stderr"
	fi
}

# expect WHAT A OP B, with the operators of [[ ]]
expect() {
	local ok
	case $3 in
	==) [[ $2 == "$4" ]] && ok=1 || ok=0 ;;
	!=) [[ $2 != "$4" ]] && ok=1 || ok=0 ;;
	has) [[ $2 == *"$4"* ]] && ok=1 || ok=0 ;;
	-*) [[ $2 =~ ^-?[0-9]+$ && $4 =~ ^-?[0-9]+$ ]] && test "$2" "$3" "$4" && ok=1 || ok=0 ;;
	*) fail "expect: no operator $3" ;;
	esac
	if ((!ok)); then
		fail "$1: '$2' is not $3 '$4'"
	fi
}

# ---- memory ----

# start_mem NAME [-s SEED] BLOCK=LENGTH[,FILL][,shm] ...: see tools/memhold.c.
# Words before "--" are put in front of the program, as in "prlimit ... --".
start_mem() {
	local name=$1 host line fd wrap=()
	shift
	if [[ " $* " == *" -- "* ]]; then
		while [[ $1 != -- ]]; do
			wrap+=("$1")
			shift
		done
		shift
	fi
	host=$(host_of "$name")
	mkfifo "$WORK/$name.out"
	# In a subshell without stderr, for the shell would say when it is killed.
	# shellcheck disable=SC2016
	{
		on "$host" sh -c 'mkdir -p "${0%/*}"; rm -f "$0"; mkfifo "$0"; exec "$@" 0<>"$0" 2>"$0.err"' \
			"$WORK/$name.in" "${wrap[@]}" memhold "$@" || true
	} >"$WORK/$name.out" 2>/dev/null &
	exec {fd}<"$WORK/$name.out"
	MEM_FD[$name]=$fd
	while read -rt 120 -u "$fd" line; do
		case $line in
		"pid "*) MEM_PID[$name]=${line#pid } ;;
		"vm "*) MEM_VM[$name]=$line ;;
		ready)
			rm "$WORK/$name.out"
			return 0 ;;
		esac
	done
	on "$host" cat "$WORK/$name.in.err" || true
	fail "memory $name does not come up"
}

# ask NAME VERB...: a line to memhold; prints its answer.
ask() {
	local name=$1 line
	shift
	# shellcheck disable=SC2016
	on "$(host_of "$name")" sh -c 'echo "$1" 1<>"$0"' "$WORK/$name.in" "$*"
	while read -rt 120 -u "${MEM_FD[$name]}" line; do
		if [[ $line == "done" ]]; then
			return 0
		fi
		echo "$line"
	done
	fail "memory $name does not answer to: $*"
}

pid_of() {
	echo "${MEM_PID[$1]}"
}

vm_of() {
	echo "${MEM_VM[$1]}"
}

# block_of NAME BLOCK: its ADDRESS+LENGTH
block_of() {
	local words=" ${MEM_VM[$1]} "
	words=${words#* block "$2" }
	echo "${words%% *}"
}

# "hash BLOCK HEX" of each block, in the order of the names
hash_of() {
	local lines
	lines=$(ask "$1" hash)
	sort <<<"$lines"
}

rss_of() {
	local line
	line=$(ask "$1" rss)
	echo "${line#rss }"
}

ram_of() {
	local words word sum=0
	read -ra words <<<"${MEM_VM[$1]}"
	for word in "${words[@]}"; do
		if [[ $word == 0x*+* ]]; then
			((sum += ${word#*+}))
		fi
	done
	echo "$sum"
}

# same NAME NAME: block by block
same() {
	local a b
	a=$(hash_of "$1")
	b=$(hash_of "$2")
	if [[ $a != "$b" || -z $a ]]; then
		printf '%s\n' "$1:" "$a" "$2:" "$b"
		fail "$1 and $2 do not hold the same"
	fi
}

# unharmed NAME HASHES: it lives and holds what it did
unharmed() {
	local now
	now=$(hash_of "$1")
	expect "content of $1" "$now" == "$2"
	expect "memory locked by $1" "$(locked_of "$1")" -eq 0
}

kill_mem() {
	on "$(host_of "$1")" kill -KILL "${MEM_PID[$1]}"
	unset "MEM_PID[$1]"
}

# Bytes of VmLck.
locked_of() {
	local line
	line=$(on "$(host_of "$1")" grep VmLck "/proc/${MEM_PID[$1]}/status")
	line=${line//[^0-9]/}
	echo $((line * 1024))
}

# Pages that this host has pinned for long.
pins_now() {
	local key value pins=0
	cat /proc/sys/vm/stat_refresh
	while read -r key value; do
		case $key in
		nr_foll_pin_acquired) ((pins += value)) ;;
		nr_foll_pin_released) ((pins -= value)) ;;
		esac
	done </proc/vmstat
	echo "$pins"
}

# ---- sessions ----

# json_get DOCUMENT KEY: the first value of a key, a string without its quotes
json_get() {
	local re="\"$2\":(\"(([^\"\\\\]|\\\\.)*)\"|[^],}]*)"
	if [[ ! $1 =~ $re ]]; then
		fail "no key $2 in $1"
	fi
	if [[ ${BASH_REMATCH[1]} == \"* ]]; then
		echo "${BASH_REMATCH[2]}"
	else
		echo "${BASH_REMATCH[1]}"
	fi
}

# listen NAME [TUNABLES]: ID[NAME] is the session
listen() {
	local name=$1
	shift
	# shellcheck disable=SC2086
	ID[$name]=$(on "$(host_of "$name")" rdmamigctl listen \
		"${ADDR:-$(addr_of "$name")}:$PORT" ${MEM_VM[$name]} "$@")
	echo "+ listen $name $* -> ${ID[$name]}"
}

# start NAME TARGET [TUNABLES]
start() {
	local name=$1 target=$2
	shift 2
	# shellcheck disable=SC2086
	ID[$name]=$(on "$(host_of "$name")" rdmamigctl start \
		"${ADDR:-$(addr_of "$target")}:$PORT" ${MEM_VM[$name]} "$@")
	echo "+ start $name to $target $* -> ${ID[$name]}"
}

# of NAME VERB [WORDS]: a command on the session of NAME, where that is
of() {
	local name=$1 verb=$2
	shift 2
	on "$(host_of "$name")" rdmamigctl "$verb" "${ID[$name]}" "$@"
}

# session_of NAME KEY, stat_of NAME KEY
session_of() {
	local doc
	doc=$(on "$(host_of "$1")" rdmamigctl -j show "${ID[$1]}")
	json_get "$doc" "$2"
}

stat_of() {
	local doc
	doc=$(on "$(host_of "$1")" rdmamigctl -j stats "${ID[$1]}")
	json_get "$doc" "$2"
}

state_of() {
	session_of "$1" state
}

why_of() {
	session_of "$1" error-text
}

is_over() {
	case $(state_of "$1") in
	completed | sent | unknown | cancelled | failed) return 0 ;;
	*) return 1 ;;
	esac
}

# stat_is NAME KEY OP NUMBER, to wait for
stat_is() {
	local value
	value=$(stat_of "$1" "$2")
	test "$value" "$3" "$4"
}

# ends NAME STATE [SECONDS]: it is over within them, in that state, and holds
# nothing any more
ends() {
	local status=0 session stats
	of "$1" wait timeout "${3:-20}" >/dev/null 2>&1 || status=$?
	session=$(of "$1" show -j)
	if ((status == 6)); then
		fail "session ${ID[$1]} of $1 is not over within ${3:-20} s: it is $(json_get "$session" state)"
	fi
	expect "state of $1 ($(json_get "$session" error-text))" "$(json_get "$session" state)" == "$2"
	stats=$(of "$1" stats -j)
	expect "bytes that $1 has pinned" "$(json_get "$stats" pinned-bytes)" -eq 0
	expect "bytes that $1 has charged" "$(json_get "$stats" locked-bytes)" -eq 0
}

# moved NAME SOMETHING: a transfer is on its way, and not over
moved() {
	until_true 30 stat_is "$1" data-bytes -ge "${2:-1}"
}

# sent_all SOURCE [SECONDS]: nothing is dirty any more
sent_all() {
	until_true "${2:-120}" stat_is "$1" remaining-bytes -eq 0
}

# done_well SOURCE TARGET: finish it, and look at everything
done_well() {
	sent_all "$1"
	of "$1" finish
	ends "$1" completed
	ends "$2" completed
	same "$1" "$2"
}

# kept_to LIMIT NAME...: never more pinned than that, and something was
kept_to() {
	local limit=$1 name peak
	shift
	for name; do
		peak=$(stat_of "$name" pinned-peak-bytes)
		expect "most that $name had pinned" "$peak" -le "$limit"
		expect "most that $name had pinned" "$peak" -gt 0
	done
}

# ---- guests of a stock QEMU ----

# start_guest NAME FILE MEGABYTES [ARGUMENTS]: one that stands still, whose RAM
# is FILE
start_guest() {
	local name=$1 file=$2 size=$3
	shift 3
	# rdma_add_block tells where the memory of each block is.
	qemu-system-x86_64 -S -no-user-config -nodefaults -display none \
		-device VGA,vgamem_mb=4 \
		-machine pc,accel=tcg,memory-backend=pc.ram -m "${size}M" \
		-object "memory-backend-file,id=pc.ram,share=on,size=${size}M,mem-path=$file" \
		-qmp "unix:$WORK/$name.qmp,server=on,wait=off" \
		-trace rdma_add_block -D "$WORK/$name.log" "$@" &
	GUEST_PID[$name]=$!
	until_true 30 test -S "$WORK/$name.qmp"
}

# tell NAME COMMAND [NAME=VALUE] ...: by QMP; see qmp.py
tell() {
	local name=$1
	shift
	"$SELFTESTS/qmp.py" "$WORK/$name.qmp" "$@"
}

# migrate NAME URI [on]: with rdma-pin-all if "on"; returns when it is under way
migrate() {
	local pin_all=false
	if [[ ${3-} == on ]]; then
		pin_all=true
	fi
	tell "$1" migrate-set-capabilities \
		"capabilities=[{\"capability\": \"rdma-pin-all\", \"state\": $pin_all}]" >/dev/null
	tell "$1" migrate-set-parameters max-bandwidth=1099511627776 >/dev/null
	: >"$WORK/$1.log"
	tell "$1" migrate "uri=$2"
}

kill_guest() {
	kill -KILL "${GUEST_PID[$1]}"
	wait "${GUEST_PID[$1]}" 2>/dev/null || true
	unset "GUEST_PID[$1]"
}

# guest_is_in NAME DIR: a received directory holds what each block of the guest
# does
guest_is_in() {
	"$SELFTESTS/guest-ram" compare "${GUEST_PID[$1]}" "$WORK/$1.log" "$2"
}

# receive DIR [TUNABLES]: RECEIVE is the job
receive() {
	rdmamigctl receive "${ADDR:-$RDMAMIG_ADDR}:$PORT" dir "$@" >"$WORK/receive" 2>&1 &
	RECEIVE=$!
	until_true 10 grep -q listening "$WORK/receive"
	ID[receive]=$(sed -n 's/^session \([0-9]*\): listening.*/\1/p' "$WORK/receive")
}

# received STATUS: how it ended
received() {
	local status=0
	wait "$RECEIVE" || status=$?
	cat "$WORK/receive"
	expect "exit status of receive" "$status" -eq "$1"
}

# ---- the end of a case ----

at_exit() {
	local status=$? name command
	trap - ERR EXIT
	set +eE
	for command in "${LATER[@]}"; do
		eval "$command"
	done
	if ((status == 0)); then
		for name in "${!MEM_PID[@]}"; do
			if [[ $(locked_of "$name") != 0 ]]; then
				echo "failed: $name has memory locked at the end: $(locked_of "$name")"
				status=1
			fi
		done
	fi
	# The shell has nothing to say on jobs that are killed here.
	exec 2>/dev/null
	for name in "${!MEM_PID[@]}"; do
		on "$(host_of "$name")" kill -KILL "${MEM_PID[$name]}"
	done
	kill -KILL "${GUEST_PID[@]}"
	rm -rf "$WORK"
	exit "$status"
}
