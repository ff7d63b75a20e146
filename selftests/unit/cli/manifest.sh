# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154,SC2016	# sourced by run; $ is sed's
#
# What send thinks of a directory.

hook='\0\0\0\0\0\0\0\200'

# A directory that is right: two blocks, a stream with three windows.
make_dir() {
	rm -rf "$work/vm"
	mkdir "$work/vm"
	truncate -s 8192 "$work/vm/ram.0"
	truncate -s 4096 "$work/vm/ram.1"
	# shellcheck disable=SC2059	# the hook is a format
	printf "QEVM\0\0\0\3$hook........$hook....$hook}" >"$work/vm/stream"
	cat >"$work/vm/manifest.json" <<-END
	{
	  "format-version": 1,
	  "peer": {"address": "192.0.2.1:5", "rdmamig": false},
	  "blocks": [
	    {"index": 0, "name": "pc.ram", "length": 8192, "file": "ram.0", "resident-bytes": 0},
	    {"index": 1, "name": "pc.bios", "length": 4096, "file": "ram.1", "resident-bytes": 0}
	  ],
	  "windows": [
	    {"offset": 16, "kind": "setup"},
	    {"offset": 32, "kind": "part"},
	    {"offset": 44, "kind": "end"}
	  ],
	  "stream": {"file": "stream", "length": 45}
	}
	END
}

# edited NAME SED MESSAGE: what send says of a manifest that was edited
edited() {
	make_dir
	sed -i "$2" "$work/vm/manifest.json"
	check "manifest: $1" 1 "rdmamigctl: send: $work/vm: manifest.json: $3" \
		send 192.0.2.1:5 dir "$work/vm"
}

test_manifest() {
	make_dir
	if [ ! -d /sys/module/rdmamig ]; then
		check "a good directory is read" 3 "*modprobe rdmamig" \
			send 192.0.2.1:5 dir "$work/vm"
		sed -i 's/"peer"/"later": [1, {}], "peer"/' "$work/vm/manifest.json"
		check "unknown keys are let pass" 3 "*modprobe rdmamig" \
			send 192.0.2.1:5 dir "$work/vm"
	fi
	check "no directory" 1 "rdmamigctl: send: $work/no: No such file or directory" \
		send 192.0.2.1:5 dir "$work/no"
	rm "$work/vm/manifest.json"
	check "no manifest" 1 "rdmamigctl: send: $work/vm: has no manifest.json*" \
		send 192.0.2.1:5 dir "$work/vm"

	edited "empty" 'd' "not JSON: it is cut short"
	edited "cut short" '$d' "not JSON: it is cut short"
	edited "with a tail" '$s/$/ {}/' "not JSON: *"
	edited "not JSON" '2s/"/x/' "not JSON: *"
	edited "a list" '1,$d;1i[]' "*"
	edited "of another version" 's/"format-version": 1/"format-version": 2/' \
		"format-version: 2: this tool reads 1"
	edited "without a version" '/format-version/d' "format-version: missing"
	edited "a version in quotes" 's/"format-version": 1/"format-version": "1"/' \
		"format-version: not of type int"
	edited "without blocks" 's/"blocks"/"blocs"/' "blocks: missing"
	edited "blocks empty" '/"index"/d' "blocks: empty"
	edited "a block without a name" 's/"name": "pc.bios", //' "blocks\[1].name: missing"
	edited "a name twice" 's/pc.bios/pc.ram/' "blocks: the name \"pc.ram\" stands there twice"
	edited "a name empty" 's/pc.bios//' "blocks\[1].name: empty"
	edited "a name too long" "s/pc.bios/$(printf 'n%.0s' {1..256})/" \
		"blocks\[1].name: longer than 255 bytes"
	edited "a NUL in a name" 's/pc.bios/pc\\u0000/' "blocks\[1].name: has a NUL in it"
	edited "a wrong index" 's/"index": 1/"index": 2/' "blocks\[1].index: 2 where 1 is expected"
	edited "a wrong length" 's/"length": 4096/"length": 8192/' \
		"blocks\[1].length: 8192, but ram.1 has 4096 bytes"
	edited "a negative length" 's/"length": 4096/"length": -1/' "blocks\[1].length: negative"
	edited "a length of 0" 's/"length": 4096/"length": 0/' "blocks\[1].length: a block has*"
	edited "a huge length" 's/"length": 4096/"length": 18446744073709551615/' \
		"blocks\[1].length: too large"
	edited "a broken length" 's/"length": 4096/"length": 1.5/' \
		"blocks\[1].length: not of type int"
	edited "a file elsewhere" 's/"ram.1"/"..\/ram.1"/' \
		"blocks\[1].file: not a file of the directory itself"
	edited "a file of dots" 's/"ram.1"/".."/' \
		"blocks\[1].file: not a file of the directory itself"
	edited "one window" '/part/d;/"end"/d;s/"setup"},/"setup"}/' "windows: 1: a stream has*"
	edited "a window behind" 's/"offset": 44/"offset": 46/' "windows\[2].offset: 46 lies behind*"
	edited "windows disordered" 's/"offset": 44/"offset": 39/' "windows\[2].offset: 39 is less*"
	edited "a window off its hook" 's/"offset": 32/"offset": 31/' \
		"windows\[1].offset: the stream opens no window at 31"
	edited "an unknown kind" 's/"part"/"half"/' "windows\[1].kind: \"half\" is not*"
	edited "a late setup" 's/"part"/"setup"/' "windows\[1].kind: the first window is setup*"
	edited "no setup" 's/"setup"/"part"/' "windows\[0].kind: the first window is setup*"
	edited "a wrong stream" 's/"length": 45/"length": 46/' \
		"stream.length: 46, but stream has 45 bytes"

	make_dir
	rm "$work/vm/ram.1"
	check "a block's file is missing" 1 "rdmamigctl: send: $work/vm: ram.1: No such file*" \
		send 192.0.2.1:5 dir "$work/vm"
	ln -s ram.0 "$work/vm/ram.1"
	check "a block's file is a link" 1 "rdmamigctl: send: $work/vm: ram.1: *" \
		send 192.0.2.1:5 dir "$work/vm"
}

test_receive() {
	make_dir
	check "receive overwrites nothing" 1 \
		"rdmamigctl: receive: $work/vm: holds a received VM already*" \
		receive 192.0.2.1:5 dir "$work/vm"
	check "receive into a file" 1 "rdmamigctl: receive: $work/vm/stream: Not a directory" \
		receive 192.0.2.1:5 dir "$work/vm/stream"
	check "receive below nothing" 1 "rdmamigctl: receive: $work/no/vm: cannot be made: *" \
		receive 192.0.2.1:5 dir "$work/no/vm"
	rm "$work/vm/manifest.json"
	exec 9<"$work/vm"
	flock 9
	check "receive where another does" 1 "rdmamigctl: receive: $work/vm: another process*" \
		receive 192.0.2.1:5 dir "$work/vm"
	exec 9<&-
}
