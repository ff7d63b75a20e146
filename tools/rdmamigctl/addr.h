/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RDMAMIGCTL_ADDR_H
#define _RDMAMIGCTL_ADDR_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "rdmamigctl.h"

/* An IPv4 or IPv6 address; what the ABI calls binary: sockaddr. */
union addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

#define ADDR_TEXT	80	/* [IPv6%DEV]:PORT */

size_t addr_size(const union addr *addr);
int addr_parse(const char *text, union addr *addr);
int addr_parse_from(const char *text, union addr *addr, uint8_t *prefix);
bool addr_text(const void *data, size_t len, bool port, char text[ADDR_TEXT]);

#endif /* _RDMAMIGCTL_ADDR_H */
