# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154	# sourced by run
#
# What must say the same: the ABI's header and its specification; the tool,
# its man page and its completion.

header=$top/include/uapi/linux/rdmamig.h
spec=$top/Documentation/netlink/specs/rdmamig.yaml
man=$top/Documentation/man/rdmamigctl.8
completion=$top/tools/rdmamigctl/rdmamigctl.bash-completion

# Names of the header's enumerators and limits with their values.
header_values() {
	awk '
	/^#define RDMAMIG_FAMILY_VERSION/ { next }
	/^#define RDMAMIG_[A-Z_]+[ \t]+[0-9]+/ { print $2 "=" $3 }
	/^enum.*\{/ { value = 0; inside = 1; next }
	/^}/ { inside = 0 }
	inside && /^\tRDMAMIG_/ {
		name = $1
		sub(/,.*/, "", name)
		if (/= *[0-9]+/)
			value = $3 + 0
		if (name !~ /_MAX$/)
			print name "=" value
		value++
	}' "$header" | sort
}

# The same from the specification, by the rules of the kernel's tools.
spec_values() {
	awk '
	function upper(s) { gsub(/-/, "_", s); return toupper(s) }
	function value_of(line) {
		sub(/^[^:]*: */, "", line)
		gsub(/"/, "", line)
		return line
	}
	/^[a-z]/ { part = $1; next }
	part == "definitions:" && /^    type: / { type = $2 }
	part == "definitions:" && /^    name: / {
		def = value_of($0)
		entry = 0
	}
	part == "definitions:" && /^    value: / { print "RDMAMIG_" upper(def) "=" $2 }
	part == "definitions:" && /^        name: / {
		print "RDMAMIG_" upper(def) "_" upper(value_of($0)) "=" entry++
	}
	part == "attribute-sets:" && /^    name: / { set = value_of($0); entry = 1 }
	part == "attribute-sets:" && /^        name: / {
		print "RDMAMIG_A_" upper(set) "_" upper(value_of($0)) "=" entry++
	}
	part == "operations:" && /^      name: / {
		print "RDMAMIG_CMD_" upper(value_of($0)) "=" ++command
	}' "$spec" | sort
}

test_spec() {
	header_values >"$work/header"
	spec_values >"$work/spec"
	if [ -s "$work/header" ] && cmp -s "$work/header" "$work/spec"; then
		ok "the specification agrees with the header"
	else
		not_ok "the specification agrees with the header"
		diff "$work/header" "$work/spec" | sed 's/^/# /'
	fi
	if ! command -v yamllint >/dev/null; then
		skipped "the specification is clean YAML" "no yamllint"
	elif yamllint "$spec" >"$work/lint" 2>&1; then
		ok "the specification is clean YAML"
	else
		not_ok "the specification is clean YAML"
		sed 's/^/# /' "$work/lint"
	fi
}

words_of_tool() {
	"$ctl" help | sed -n 's/^  \([a-z]\{4,\}\) .*/\1/p'
	"$ctl" help | sed -n 's/^TUNABLES: //p' | grep -o '\[[a-z-]*' | tr -d '['
	"$ctl" help | grep -o -- '--[a-z]*'
}

test_man() {
	local word bad=

	for word in $(words_of_tool); do
		sed 's/\\-/-/g' "$man" | grep -q -- "$word" || bad="$bad, not $word"
	done
	expect "the man page has every word$bad" [ -z "$bad" ]
	if ! command -v man >/dev/null; then
		skipped "the man page is clean" "no man"
	elif [ -z "$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$man" \
			2>&1 >/dev/null)" ]; then
		ok "the man page is clean"
	else
		not_ok "the man page is clean"
	fi
}

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
	local word bad=

	for word in $(words_of_tool); do
		grep -q -- "$word" "$completion" || bad="$bad, not $word"
	done
	expect "the completion has every word$bad" [ -z "$bad" ]
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
