# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: files move into files, whole, and their session ends with the command
# hosts: 1

dir=$(mktemp -d /dev/shm/rdmamig-XXXXXX)
later 'rm -rf "$dir"'
mkdir "$dir/a" "$dir/b"
head -c 5M /dev/urandom >"$dir/a/ram"
head -c 128K /dev/urandom >"$dir/a/rom"
truncate -s 5M "$dir/b/ram"
truncate -s 128K "$dir/b/bios"

rdmamigctl listen "$RDMAMIG_ADDR:$PORT" \
	vm file "$dir/b/bios" name rom file "$dir/b/ram" >"$WORK/listen" &
job=$!
until_true 10 grep -q . "$WORK/listen"
expect_exit 0 rdmamigctl start "$RDMAMIG_ADDR:$PORT" \
	vm file "$dir/a/ram" file "$dir/a/rom"
wait "$job"
cat "$WORK/listen"
cmp "$dir/a/ram" "$dir/b/ram"
cmp "$dir/a/rom" "$dir/b/bios"

step "a target's file on a dirty-tracked file system is refused"
truncate -s 128K "$RDMAMIG_SHARE/tracked"
refused 1 rdmamigctl listen "$RDMAMIG_ADDR:$PORT" vm file "$RDMAMIG_SHARE/tracked"
expect_text "block 'tracked'" "dirty tracking" tmpfs
rm "$RDMAMIG_SHARE/tracked"

step "a file is missing, empty, or no file"
refused 1 rdmamigctl listen "$RDMAMIG_ADDR:$PORT" vm file "$dir/none"
expect_text "$dir/none" "No such file"
: >"$dir/empty"
refused 1 rdmamigctl listen "$RDMAMIG_ADDR:$PORT" vm file "$dir/empty"
expect_text "empty"
refused 1 rdmamigctl start "$RDMAMIG_ADDR:$PORT" vm file "$dir/a"
expect_text "not a regular file"
