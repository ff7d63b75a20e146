# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# title: 256 MiB and small blocks under 16M, and nobody pins more meanwhile
# hosts: 1
# seconds: 150

start_mem src -s 3 small=4K ram=256M rom=1028K
start_mem dst -s 4 rom=1028K,junk ram=256M,zero small=4K
before=$(pins_now)

listen dst pin-limit 16M
start src dst pin-limit 16M

step "look at the whole host's pins while it runs"
most=0
looks=0
while left=$(stat_of src remaining-bytes) && ((left > 0)); do
	pins=$(($(pins_now) - before))
	most=$((pins > most ? pins : most))
	((++looks))
done
echo "$looks looks, at most $most pages pinned"
expect "looks at a running transfer" "$looks" -ge 3
expect "most pages pinned" "$most" -gt 0
# Two ends, 16M each.
expect "most pages pinned" "$most" -le $((2 * 16 * 256))
done_well src dst
kept_to $((16 << 20)) src dst
