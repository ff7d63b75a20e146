#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# run.sh OUT TEST...: run the test programs OUT/TEST-test, and cli/run if it
# is there, as one TAP stream.  The last line tells how many cases passed,
# failed and were skipped; the status is 0 if none failed and some passed.
#
# A program that dies, or that has run fewer cases than it planned, counts as
# one failed case more.  cli/run gets OUT in the environment as UNIT_OUT, and
# may either speak TAP or just end with a line of counts like ours.

set -u
cd "$(dirname "$0")" || exit 1
out=$(cd "$1" && pwd) || exit 1
shift
total=$(mktemp) || exit 1
trap 'rm -f "$total"' EXIT
echo 0 0 0 0 >"$total"

# Renumbers and counts the cases of one program.
merge() {
	awk -v name="$1" -v status="$2" -v old="$(cat "$total")" \
	    -v total="$total" '
	BEGIN {
		split(old, t, " ")
		n = t[1]; pass = t[2]; fail = t[3]; skip = t[4]
		plan = -1
		print "# " name
	}
	/^1\.\.[0-9]+/ {
		plan = substr($1, 4) + 0
		if (plan == 0 && /# *SKIP/)
			all_skipped = 1
		next
	}
	/^TAP version/ { next }
	/^(not )?ok( |$)/ {
		cases++
		bad = /^not /
		sub(/^(not )?ok *[0-9]* *(- )?/, "")
		if (/# *(SKIP|skip)/)
			skip++
		else if (bad)
			fail++
		else
			pass++
		failed += bad
		print (bad ? "not ok " : "ok ") ++n " - " name ": " $0
		next
	}
	/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ {
		counts = 1
		p = $1; f = $3; s = $5
		next
	}
	{ print (/^#/ ? "" : "# ") $0 }
	END {
		if (all_skipped) {
			skip++
			print "ok " ++n " - " name " # SKIP"
		} else if (!cases && counts && (p + f + s)) {
			pass += p; fail += f; skip += s
			failed = f
			plan = 0
			print (f ? "not ok " : "ok ") ++n " - " name
		} else if (!cases || (plan >= 0 && plan != cases)) {
			fail++
			failed++
			print "not ok " ++n " - " name ": ran to its end"
		}
		if (status + 0 && !failed) {
			fail++
			print "not ok " ++n " - " name ": exit status " status
		}
		print n, pass, fail, skip >total
	}'
}

for test in "$@"; do
	"$out/$test-test" >"$out/$test.log" 2>&1
	merge "$test" $? <"$out/$test.log"
done
if [ -x cli/run ]; then
	UNIT_OUT=$out cli/run >"$out/cli.log" 2>&1
	merge cli $? <"$out/cli.log"
fi

read -r n pass fail skip <"$total"
echo "1..$n"
echo "$pass passed, $fail failed, $skip skipped"
[ "$fail" -eq 0 ] && [ "$pass" -gt 0 ]
