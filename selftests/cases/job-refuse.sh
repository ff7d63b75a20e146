# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: receive and send refuse directories that they should not touch, or cannot believe
# hosts: 1
# seconds: 90

at=$RDMAMIG_ADDR:$PORT
vm=$WORK/vm
makedir "$vm" 7 pc.ram=2M rom=64K

step "a directory that holds a VM is not received into"
sum=$(cat "$vm"/* | cksum)
refused 1 rdmamigctl receive "$at" dir "$vm"
expect_text "$vm" manifest.json
expect "the directory" "$(cat "$vm"/* | cksum)" == "$sum"

step "nor what is no directory"
: >"$WORK/file"
refused 1 rdmamigctl receive "$at" dir "$WORK/file"
refused 1 rdmamigctl receive "$at" dir "$WORK/none/none"

# spoilt WHAT: send refuses a copy of the directory in which EDIT was done
spoilt() {
	rm -rf "$WORK/bad"
	cp -r "$vm" "$WORK/bad"
	(cd "$WORK/bad" && eval "$1")
	refused 1 rdmamigctl send "$at" dir "$WORK/bad"
	expect_text "$2"
}

step "directories that cannot be sent"
spoilt 'rm manifest.json' manifest.json
spoilt 'rm ram.1' ram.1
spoilt 'truncate -s 1M ram.0' "length"
spoilt 'truncate -s -1 stream' "stream"
spoilt 'echo "{" >manifest.json' manifest.json
spoilt 'sed -i "s/\"format-version\": 1/\"format-version\": 2/" manifest.json' format-version
spoilt 'sed -i "s/\"file\": \"ram.0\"/\"file\": \"..\/vm\/ram.0\"/" manifest.json' file
spoilt 'sed -i "s/\"length\": 65536/\"length\": -4096/" manifest.json' length
spoilt 'sed -i "s/\"offset\": [0-9]*/\"offset\": 99/" manifest.json' offset
spoilt 'sed -i "s/\"name\": \"rom\"/\"name\": \"pc.ram\"/" manifest.json' name
refused 1 rdmamigctl send "$at" dir "$WORK/none"

step "nobody receives"
refused 5 rdmamigctl send "$at" dir "$vm"
expect_text "$RDMAMIG_ADDR"

step "the VM does not fit max-memory"
rdmamigctl receive "$at" dir "$WORK/got" max-memory 1M >"$WORK/receive" 2>&1 &
job=$!
until_true 10 grep -q listening "$WORK/receive"
expect_exit 5 rdmamigctl send "$at" dir "$vm"
status=0
wait "$job" || status=$?
cat "$WORK/receive"
expect "exit status of receive" "$status" != 0
expect "what receive says" "$(<"$WORK/receive")" has max-memory
expect "files left" "$(compgen -G "$WORK/got/*")" == ""
