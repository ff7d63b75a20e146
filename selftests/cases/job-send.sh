# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: send and receive carry a directory over, byte by byte
# hosts: 1
# seconds: 120

at=$RDMAMIG_ADDR:$PORT
vm=$WORK/vm
makedir "$vm" 7 pc.ram=24M /rom@etc/acpi/tables=128K vga.vram=8M,sparse pc.bios=4K empty=4M,zero

# same_dirs A B: but for the peer in the manifest
same_dirs() {
	local n
	for n in 0 1 2 3 4; do
		cmp "$1/ram.$n" "$2/ram.$n"
	done
	cmp "$1/stream" "$2/stream"
	python3 - "$1/manifest.json" "$2/manifest.json" <<'END'
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
for key in "format-version", "blocks", "windows", "stream":
    if a[key] != b[key]:
        sys.exit("%s: %s: %s" % (key, a[key], b[key]))
if b["peer"]["rdmamig"] is not True:
    sys.exit("peer: %s" % b["peer"])
END
}

n=0
for way in "" "pin-limit 4M" "pin-limit 16M" "pin-all on"; do
	step "${way:-no limit}"
	: $((n++))
	receive "$WORK/got$n" ${way/pin-all on/}
	expect_exit 0 rdmamigctl send "$at" dir "$vm" $way
	echo "$OUT"
	received 0
	same_dirs "$vm" "$WORK/got$n"
done

step "what was received can be sent on"
receive "$WORK/on"
expect_exit 0 rdmamigctl send "$at" dir "$WORK/got1"
received 0
same_dirs "$vm" "$WORK/on"

step "files are their owner's alone, and sparse"
expect "rights" "$(stat -c %a "$WORK/on" "$WORK/on/manifest.json" "$WORK/on/ram.0" "$WORK/on/stream" | tr '\n' ' ')" \
	== "700 600 600 600 "
expect "blocks on disk of ram.4" "$(stat -c %b "$WORK/on/ram.4")" -eq 0
expect "blocks on disk of ram.2" "$(stat -c %b "$WORK/on/ram.2")" -le 64

step "over IPv6"
ADDR=[$RDMAMIG_ADDR6]
at=$ADDR:$PORT
receive "$WORK/six"
expect_exit 0 rdmamigctl send "$at" dir "$vm"
received 0
same_dirs "$vm" "$WORK/six"
