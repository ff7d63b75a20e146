// SPDX-License-Identifier: GPL-2.0
/* libFuzzer's door to the codec: any bytes as a message and as private data. */
#include "judge.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct rdmamig_codec_private priv;
	char text[RDMAMIG_WIRE_TEXT_MAX + 1];
	bool broken = false;
	u32 asked;

	if (size > RDMAMIG_MSG_MAX)
		return 0;
	for (asked = 0; asked < 4; asked++)
		judge(data, size, asked, &broken);
	rdmamig_codec_private(data, size, &priv);
	if (rdmamig_codec_reject(data, size, text, sizeof(text)) !=
	    strlen(text) || broken)
		abort();
	return 0;
}
