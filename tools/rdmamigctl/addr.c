// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses: IPv4:PORT, [IPv6%DEV]:PORT, NAME:PORT.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "addr.h"
#include "args.h"

/**
 * addr_size() - bytes of the sockaddr that an address is
 * @addr: the address
 *
 * Return: bytes.
 */
size_t addr_size(const union addr *addr)
{
	return addr->sa.sa_family == AF_INET6 ? sizeof(addr->in6) : sizeof(addr->in);
}

/* Split "HOST:PORT" or "[HOST]:PORT"; port is NULL where there is none. */
static int split(const char *text, char *host, size_t size, const char **port)
{
	const char *end;
	const char *from = text;
	const char *rest;

	if (*text == '[') {
		from = text + 1;
		end = strchr(from, ']');
		if (!end)
			return usage_error(text, "the ']' is missing");
		rest = end + 1;
	} else {
		end = strchr(text, ':');
		if (end && strchr(end + 1, ':'))
			return usage_error(text, "write an IPv6 address as [ADDRESS]:PORT");
		if (!end)
			end = text + strlen(text);
		rest = end;
	}
	if (end == from)
		return usage_error(text, "the address is missing: ADDRESS:PORT");
	if ((size_t)(end - from) >= size)
		return usage_error(text, "too long for an address");
	memcpy(host, from, end - from);
	host[end - from] = '\0';

	if (*rest && *rest != ':')
		return usage_error(text, "':' and the port must follow the ']'");
	*port = *rest ? rest + 1 : NULL;
	return 0;
}

static int resolve(const char *text, const char *host, union addr *addr)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	struct addrinfo *at;
	int ret;

	ret = getaddrinfo(host, NULL, &hints, &found);
	if (ret)
		return fail(EXIT_FAILED, text, "the name cannot be resolved: %s",
			    gai_strerror(ret));

	for (at = found; at; at = at->ai_next)
		if (at->ai_addrlen <= sizeof(*addr) &&
		    (at->ai_family == AF_INET || at->ai_family == AF_INET6))
			break;
	if (at) {
		memset(addr, 0, sizeof(*addr));
		memcpy(addr, at->ai_addr, at->ai_addrlen);
	}
	freeaddrinfo(found);
	if (!at)
		return fail(EXIT_FAILED, text, "the name has no IPv4 or IPv6 address");
	return 0;
}

/**
 * addr_parse() - read an address with a port
 * @text: the word
 * @addr: where to put it
 *
 * Return: 0 or an exit code.
 */
int addr_parse(const char *text, union addr *addr)
{
	const char *port = NULL;
	uint64_t number;
	char host[256];
	int ret;

	ret = split(text, host, sizeof(host), &port);
	if (ret)
		return ret;
	if (!port)
		return usage_error(text, "the port is missing: ADDRESS:PORT");
	if (parse_u64(port, &number) || number < 1 || number > 65535)
		return usage_error(text, "the port must be 1 to 65535");
	ret = resolve(text, host, addr);
	if (ret)
		return ret;
	if (addr->sa.sa_family == AF_INET6)
		addr->in6.sin6_port = htons((uint16_t)number);
	else
		addr->in.sin_port = htons((uint16_t)number);
	return 0;
}

/**
 * addr_parse_from() - read the value of "from": ADDR or ADDR/LEN
 * @text: the word
 * @addr: where to put the address
 * @prefix: where to put the bits that count
 *
 * Return: 0 or an exit code.
 */
int addr_parse_from(const char *text, union addr *addr, uint8_t *prefix)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	const char *from = text;
	uint64_t bits, most;
	char host[256];
	int ret;

	if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
		from++;
		len -= 2;
	}
	if (!len || len >= sizeof(host))
		return usage_error(text, "not an address: from ADDR[/LEN]");
	memcpy(host, from, len);
	host[len] = '\0';
	ret = resolve(text, host, addr);
	if (ret)
		return ret;

	most = addr->sa.sa_family == AF_INET6 ? 128 : 32;
	bits = most;
	if (slash && (parse_u64(slash + 1, &bits) || bits > most))
		return usage_error(text, "the prefix length must be 0 to %u",
				   (unsigned int)most);
	*prefix = (uint8_t)bits;
	return 0;
}

/**
 * addr_text() - write an address
 * @data: a sockaddr as the kernel gave it
 * @len: its bytes
 * @port: with the port
 * @text: where to put it
 *
 * Return: false if it is not one.
 */
bool addr_text(const void *data, size_t len, bool port, char text[ADDR_TEXT])
{
	char scope[IF_NAMESIZE + 1] = "";
	char host[INET6_ADDRSTRLEN];
	union addr addr = { 0 };

	if (len < sizeof(addr.in))
		return false;
	memcpy(&addr, data, len < sizeof(addr) ? len : sizeof(addr));

	if (addr.sa.sa_family == AF_INET) {
		inet_ntop(AF_INET, &addr.in.sin_addr, host, sizeof(host));
		if (port)
			snprintf(text, ADDR_TEXT, "%s:%u", host, ntohs(addr.in.sin_port));
		else
			snprintf(text, ADDR_TEXT, "%s", host);
		return true;
	}
	if (addr.sa.sa_family != AF_INET6 || len < sizeof(addr.in6))
		return false;

	inet_ntop(AF_INET6, &addr.in6.sin6_addr, host, sizeof(host));
	if (addr.in6.sin6_scope_id) {
		char dev[IF_NAMESIZE];

		if (if_indextoname(addr.in6.sin6_scope_id, dev))
			snprintf(scope, sizeof(scope), "%%%s", dev);
		else
			snprintf(scope, sizeof(scope), "%%%u", addr.in6.sin6_scope_id);
	}
	if (port)
		snprintf(text, ADDR_TEXT, "[%s%s]:%u", host, scope,
			 ntohs(addr.in6.sin6_port));
	else
		snprintf(text, ADDR_TEXT, "%s%s", host, scope);
	return true;
}
