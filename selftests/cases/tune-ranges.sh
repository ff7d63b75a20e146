# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: each tunable takes its least and greatest value, and none beyond
# hosts: 1
# seconds: 90

start_mem dst ram=8M,zero
at=$RDMAMIG_ADDR:$PORT
most64=$(((1 << 63) - 1))

takes() {
	expect_exit 0 rdmamigctl listen "$at" $(vm_of dst) "$@"
	ID[dst]=$OUT
	expect_exit 0 rdmamigctl cancel "$OUT"
}

takes_not() {
	within 2 try rdmamigctl listen "$at" $(vm_of dst) "$@"
	expect "status of ${*: -2}" "$STATUS" -ge 1
	expect "status of ${*: -2}" "$STATUS" -le 2
	if [[ $ERR != *"$1"* && $ERR != *"${2:-$1}"* ]]; then
		fail "neither '$1' nor '${2-}' is named"
	fi
}

# NAME LEAST MOST LEAST-1 MOST+1
while read -r name least most less more; do
	step "$name"
	takes "$name" "$least"
	takes "$name" "$most"
	takes_not "$name" "$less"
	takes_not "$name" "$more"
	takes_not "$name" ""
	takes_not "$name" x
	takes_not "$name" -1
done <<END
pin-limit 4194304 $most64 4194303 9223372036854775808
max-memory 8388608 $most64 0 9223372036854775808
peer-timeout 2 600 1.999 600.001
connect-timeout 0.1 600 0.099 600.001
max-downtime 0 3600000 -1 3600001
END

step "words"
for words in "pin-all on" "pin-all off" "unreg lru" "unreg eager" "unreg off" \
	"peer-chunk 1M" "peer-chunk unknown" "auto-finish on" "auto-finish off"; do
	takes $words
done
for words in "pin-all yes" "unreg never" "peer-chunk 2M" "auto-finish 1"; do
	takes_not $words
done

step "the kernel's own ranges, without rdmamigctl in front"
# attributes by their numbers in include/uapi/linux/rdmamig.h
while read -r width attr bad; do
	expect_exit 1 nlprobe "$width" new "$attr" "$bad"
	expect_text "attr $attr"
done <<END
u64 13 0
u64 13 9223372036854775808
u8 14 2
u64 15 0
u64 16 1048575
u64 16 9223372036854775808
u32 17 3
u32 18 2
u32 19 1999
u32 19 600001
u32 20 99
u32 20 600001
u32 21 3600001
u8 22 2
END

step "rate-limit is a source's"
start_mem src ram=8M
for rate in 1M off $most64; do
	listen dst
	start src dst rate-limit "$rate"
	of src cancel
	ends src cancelled
	ends dst failed
done
for rate in 1048575 1 9223372036854775808; do
	within 2 try rdmamigctl start "$at" $(vm_of src) rate-limit "$rate"
	expect "status of rate-limit $rate" "$STATUS" -ge 1
	expect "status of rate-limit $rate" "$STATUS" -le 2
	expect_text rate-limit
done

step "from"
for from in 10.0.0.0/0 "$RDMAMIG_ADDR" "$RDMAMIG_ADDR/32"; do
	takes from "$from"
done
for from in 10.0.0.0/33 10.0.0.0/-1 ::1 "" x; do
	takes_not from "$from"
done
