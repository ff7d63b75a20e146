# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: block lists that do not agree, and ranges that are not memory, are refused
# hosts: 1
# seconds: 90

start_mem src ram=8M rom=64K
start_mem other vga=64K
start_mem dst ram=8M,zero rom=64K
before=$(hash_of src)
at=$RDMAMIG_ADDR:$PORT
pid=$(pid_of src)
ram=$(block_of src ram)
rom=$(block_of src rom)
address=${ram%+*}
# Some mapped memory that is no block.
stack=0x$(sed -n 's/-.*rw-p.*\[stack\]$//p' "/proc/$pid/maps")+4K

# differ WORDS...: a source of these blocks does not suit the target
differ() {
	listen dst
	refused 5 rdmamigctl start "$at" vm pid "$pid" "$@"
	ends dst failed
}

step "a block is missing at the source"
differ block ram "$ram"
expect_text "'rom'" "not at the source"
expect "what the target says" "$(why_of dst)" has "'rom'"

step "a block is missing at the target"
differ block ram "$ram" block rom "$rom" block vga "$stack"
expect_text "vga" "not at the target"
expect "what the target says" "$(why_of dst)" has "vga"

step "a block has another length"
differ block rom "$rom" block ram "$address+$(((8 << 20) - 4096))"
expect_text "'ram'" 8388608 8384512

step "a name differs by a letter's case"
differ block RAM "$ram" block rom "$rom"
expect_text RAM

# alone STATUS WORDS...: refused by this host alone, as a source and as a target
alone() {
	local status=$1 verb
	shift
	for verb in start listen; do
		refused "$status" rdmamigctl "$verb" "$at" vm pid "$pid" "$@"
	done
}

step "a name twice"
alone 1 block ram "$ram" block ram "$stack"
expect_text "'ram'" twice

step "no name, and one that is too long"
alone 2 block "" "$ram"
alone 2 block "$(printf 'x%.0s' {1..256})" "$ram"
expect_text 255

step "ranges that are not mapped: none of it, its end, a hole in it"
alone 1 block ram 0x1000+64K
expect_text "'ram'" 0x1000 "not mapped"
last=$(printf '0x%x' $((0x7ffffff00000)))
alone 1 block ram "$last+64K"
alone 1 block ram 0xffffffffff600000+4K
alone 1 block ram "$address+1G"
expect_text "'ram'" not
vga=$(block_of other vga)
ask other unmap vga
for verb in start listen; do
	refused 1 rdmamigctl "$verb" "$at" vm pid "$(pid_of other)" block vga "$vga"
	expect_text "'vga'" "not mapped"
done

step "ranges that overlap"
alone 1 block ram "$ram" block part "$(printf '0x%x' $((address + 65536)))+4K"
expect_text "'ram'" "'part'" overlap

step "ranges of half pages, and of nothing"
alone 1 block ram "$(printf '0x%x' $((address + 512)))+64K"
expect_text "'ram'" "page size"
alone 1 block ram "$address+6000"
expect_text "'ram'" 6000 "page size"
alone 2 block ram "$address+0"
alone 2 block ram "$address+0xfffffffffffff000"
alone 1 block ram "$address+0x7ffffffffffff000"

step "words that are no range"
alone 2 block ram "$address"
alone 2 block ram "$address-64K"
alone 2 block ram "$address+64Q"
alone 2 block ram "x$address+64K"

step "then it moves all the same"
listen dst
start src dst
done_well src dst
unharmed src "$before"
