# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: every JSON document is well formed and says its format
# hosts: 1

# well_formed COMMAND...: judged with the others at the end
well_formed() {
	expect_exit 0 "$@"
	expect "output of $*" "$OUT" != ""
	printf '%s\n' "$OUT" >>"$WORK/documents"
}

well_formed rdmamigctl -j list
well_formed rdmamigctl -j devices
expect "name of the device" "$(json_get "$OUT" name)" == rxe0
expect "usable" "$(json_get "$OUT" usable)" == true

start_mem src ram=4M rom=4K
start_mem dst rom=4K ram=4M,zero
well_formed rdmamigctl -j listen "$RDMAMIG_ADDR:$PORT" $(vm_of dst)
ID[dst]=$(json_get "$OUT" id)
well_formed rdmamigctl -j list
expect "state in list" "$(json_get "$OUT" state)" == listening
well_formed rdmamigctl -j show "${ID[dst]}"
well_formed rdmamigctl -j start "$RDMAMIG_ADDR:$PORT" $(vm_of src)
ID[src]=$(json_get "$OUT" id)
for verb in show stats; do
	for name in src dst; do
		well_formed rdmamigctl -j "$verb" "${ID[$name]}"
	done
done
well_formed rdmamigctl -j stats
sent_all src
of src finish
well_formed rdmamigctl -j stats "${ID[src]}" watch 0.2
ends src completed
ends dst completed
same src dst
well_formed rdmamigctl -j list
well_formed rdmamigctl -j stats

step "a name with all that JSON must escape, at both ends of a whole job"
name=$'a "quoted" \\ tab\t ram'
head -c 64K /dev/urandom >"$WORK/from"
truncate -s 64K "/dev/shm/to.$$"
rdmamigctl -j listen "$RDMAMIG_ADDR:$PORT" vm file "/dev/shm/to.$$" name "$name" >"$WORK/listen" &
job=$!
until_true 10 grep -q '"id"' "$WORK/listen"
ID[dst]=$(json_get "$(<"$WORK/listen")" id)
well_formed rdmamigctl -j show "${ID[dst]}"
cp "$WORK/from" "/dev/shm/from.$$"
well_formed rdmamigctl -j start "$RDMAMIG_ADDR:$PORT" vm file "/dev/shm/from.$$" name "$name"
wait "$job"
cat "$WORK/listen" >>"$WORK/documents"
cmp "$WORK/from" "/dev/shm/to.$$"
rm "/dev/shm/from.$$" "/dev/shm/to.$$"

step "each line of all that is a document"
python3 - "$WORK/documents" <<'END'
import json, sys
n = 0
for line in open(sys.argv[1], encoding="utf-8"):
    document = json.loads(line)
    if document["format-version"] != 1:
        sys.exit("format-version: " + line)
    n += 1
print(n, "documents")
if n < 15:
    sys.exit("too few")
END
