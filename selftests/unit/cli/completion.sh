# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154	# sourced by run
#
# What bash offers. That it offers all there is, lint's drift looks after.

completion=$top/tools/rdmamigctl/rdmamigctl.bash-completion

# complete WORD...: what the completion offers for the last word
complete_words() {
	bash -c '
		. "$1"; shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		COMPREPLY=()
		_rdmamigctl
		[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"
	' bash "$completion" "$@" | sort | tr '\n' ' '
}

completes() {	# EXPECTED WORD...
	local expected=$1 got
	shift
	got=$(complete_words "$@")
	if [ "$got" = "$expected" ]; then
		ok "completed: $*"
	else
		not_ok "completed: $*"
		echo "# got $got"
	fi
}

test_completion() {
	completes "send set show start stats " rdmamigctl s
	completes "finish " rdmamigctl -j fin
	completes "--json " rdmamigctl --j
	completes "always auto never " rdmamigctl --color ""
	completes "file pid " rdmamigctl start 192.0.2.1:5 vm ""
	completes "peer-chunk peer-timeout " rdmamigctl receive 192.0.2.1:5 dir /tmp pe
	completes "eager lru off " rdmamigctl send 192.0.2.1:5 dir /tmp unreg ""
	completes "sealed sent setup " rdmamigctl wait 1 state se
	completes "" rdmamigctl start 192.0.2.1:5 vm pid 1 block wa
	completes "wait " rdmamigctl start 192.0.2.1:5 vm pid 1 block wait 0x1000+4K wa
	completes "rate-limit " rdmamigctl set 1 ra
	completes "watch " rdmamigctl stats 1 w
}
