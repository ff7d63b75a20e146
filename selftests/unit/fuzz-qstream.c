// SPDX-License-Identifier: GPL-2.0
/* libFuzzer's door to the stream reader: any bytes as a stream. */
#include "kernel-shim.h"
#include "qstream.h"
#include "tap.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	char machine[QSTREAM_NAME_MAX + 1];
	struct qstream_blocks blocks = { .count = 0 };
	u64 total = 0;
	size_t i;
	u32 b;

	qstream_check_start(data, size, machine);
	for (i = size; i >= 8 && i > size / 2; i--) {
		if (qstream_find_blocks(data, i, &blocks))
			continue;
		for (b = 0; b < blocks.count; b++)
			total += blocks.block[b].length;
		if (!blocks.count || total != blocks.total)
			abort();
		break;
	}
	for (i = 0; i <= size; i++)
		qstream_window_kind(data, i, &blocks);
	qstream_has_footers(data, size, &blocks);
	qstream_is_complete(data, size, &blocks);
	qstream_may_be_complete(data, size);
	qstream_free_blocks(&blocks);
	return 0;
}
