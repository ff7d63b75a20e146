// SPDX-License-Identifier: GPL-2.0
/*
 * nlprobe: netlink requests that rdmamigctl would not send.
 *
 *	nlprobe new source|target ADDR PORT PATH r|w|rw BLOCK-ADDRESS+LENGTH
 *		session-new with a mem-fd: PATH opened in that mode
 *	nlprobe fd source|target ADDR PORT NUMBER ADDRESS+LENGTH
 *		session-new with a number for a mem-fd
 *	nlprobe u64 new|set ATTR VALUE, nlprobe u32 ..., nlprobe u8 ...
 *		one attribute by its number in a session-new without blocks, or
 *		in a session-set of session 0
 *	nlprobe dirty ID BLOCK FIRST-PAGE BYTES
 *		dirty-add with so many bytes of ones
 *
 * Prints "ERRNO: TEXT" of the extended ack and "attr N" where one is named;
 * "id N" for a session that was made.  Exits 0 when the kernel took it, 1 when
 * it refused, 2 otherwise.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <unistd.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include <linux/rdmamig.h>

static struct nl_sock *sock;
static struct nl_msg *msg;
static bool refused, acked;

static noreturn void die(const char *what)
{
	fprintf(stderr, "nlprobe: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	const struct nlmsghdr *nlh = (const void *)((char *)e - NLMSG_HDRLEN);
	size_t skip = sizeof(*e);
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1] = { NULL };

	(void)from;
	(void)arg;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += e->msg.nlmsg_len - NLMSG_HDRLEN;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		nla_parse(tb, NLMSGERR_ATTR_MAX,
			  (struct nlattr *)((char *)e + NLMSG_ALIGN(skip)),
			  nlh->nlmsg_len - NLMSG_HDRLEN - NLMSG_ALIGN(skip), NULL);
	printf("%d: %s\n", -e->error, tb[NLMSGERR_ATTR_MSG] ?
	       nla_get_string(tb[NLMSGERR_ATTR_MSG]) : "");
	if (tb[NLMSGERR_ATTR_OFFS]) {
		uint32_t at = nla_get_u32(tb[NLMSGERR_ATTR_OFFS]);
		const struct nlattr *nla = (const void *)((char *)&e->msg + at);

		if (!(nlh->nlmsg_flags & NLM_F_CAPPED) && at < e->msg.nlmsg_len)
			printf("attr %d\n", nla_type(nla));
	}
	refused = true;
	return NL_STOP;
}

static int on_valid(struct nl_msg *reply, void *arg)
{
	struct nlattr *tb[RDMAMIG_A_SESSION_MAX + 1];

	(void)arg;
	if (!genlmsg_parse(nlmsg_hdr(reply), 0, tb, RDMAMIG_A_SESSION_MAX, NULL) &&
	    tb[RDMAMIG_A_SESSION_ID])
		printf("id %u\n", nla_get_u32(tb[RDMAMIG_A_SESSION_ID]));
	return NL_OK;
}

static void begin(uint8_t cmd)
{
	int family, one = 1;

	sock = nl_socket_alloc();
	if (!sock || genl_connect(sock))
		die("netlink");
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_EXT_ACK, &one,
		   sizeof(one));
	family = genl_ctrl_resolve(sock, RDMAMIG_FAMILY_NAME);
	if (family < 0)
		die("family " RDMAMIG_FAMILY_NAME);
	msg = nlmsg_alloc();
	if (!msg)
		die("message");
	genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, NLM_F_ACK, cmd,
		    RDMAMIG_FAMILY_VERSION);
}

static int on_ack(struct nl_msg *reply, void *arg)
{
	(void)reply;
	(void)arg;
	acked = true;
	return NL_STOP;
}

static int end(void)
{
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, on_valid, NULL);
	nl_socket_modify_cb(sock, NL_CB_ACK, NL_CB_CUSTOM, on_ack, NULL);
	nl_socket_modify_err_cb(sock, NL_CB_CUSTOM, on_error, NULL);
	if (nl_send_auto(sock, msg) < 0)
		die("send");
	/* A reply, if there is one, comes before its ack. */
	while (!acked && !refused)
		if (nl_recvmsgs_default(sock) < 0 && !refused)
			die("receive");
	return refused;
}

static int session_new(char **argv, int fd)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	bool target = !strcmp(argv[0], "target");
	struct nlattr *nest;
	char *plus;

	if (inet_pton(AF_INET, argv[1], &sin.sin_addr) != 1)
		die(argv[1]);
	sin.sin_port = htons(atoi(argv[2]));
	begin(RDMAMIG_CMD_SESSION_NEW);
	nla_put_u32(msg, RDMAMIG_A_SESSION_ROLE, target);
	nla_put(msg, target ? RDMAMIG_A_SESSION_LOCAL_ADDR :
			      RDMAMIG_A_SESSION_REMOTE_ADDR, sizeof(sin), &sin);
	nla_put_u32(msg, RDMAMIG_A_SESSION_MEM_FD, fd);
	nest = nla_nest_start(msg, RDMAMIG_A_SESSION_BLOCK | NLA_F_NESTED);
	nla_put_string(msg, RDMAMIG_A_BLOCK_NAME, "ram");
	nla_put_u64(msg, RDMAMIG_A_BLOCK_ADDRESS, strtoull(argv[3], &plus, 0));
	nla_put_u64(msg, RDMAMIG_A_BLOCK_LENGTH, strtoull(plus + 1, NULL, 0));
	nla_nest_end(msg, nest);
	return end();
}

static int one_attr(const char *width, char **argv)
{
	bool set = !strcmp(argv[0], "set");
	int attr = atoi(argv[1]);
	uint64_t value = strtoull(argv[2], NULL, 0);

	begin(set ? RDMAMIG_CMD_SESSION_SET : RDMAMIG_CMD_SESSION_NEW);
	if (set)
		nla_put_u32(msg, RDMAMIG_A_SESSION_ID, 0);
	else
		nla_put_u32(msg, RDMAMIG_A_SESSION_ROLE, RDMAMIG_ROLE_TARGET);
	if (!strcmp(width, "u64"))
		nla_put_u64(msg, attr, value);
	else if (!strcmp(width, "u32"))
		nla_put_u32(msg, attr, value);
	else
		nla_put_u8(msg, attr, value);
	return end();
}

static int dirty(char **argv)
{
	static uint8_t ones[RDMAMIG_DIRTY_BITMAP_MAX];
	size_t bytes = strtoul(argv[3], NULL, 0);

	if (bytes > sizeof(ones))
		return 2;
	memset(ones, 0xff, sizeof(ones));
	begin(RDMAMIG_CMD_DIRTY_ADD);
	nla_put_u32(msg, RDMAMIG_A_DIRTY_SESSION_ID, strtoul(argv[0], NULL, 0));
	nla_put_u32(msg, RDMAMIG_A_DIRTY_BLOCK_INDEX, strtoul(argv[1], NULL, 0));
	nla_put_u64(msg, RDMAMIG_A_DIRTY_FIRST_PAGE, strtoull(argv[2], NULL, 0));
	nla_put(msg, RDMAMIG_A_DIRTY_BITMAP, bytes, ones);
	return end();
}

static int open_mode(const char *path, const char *mode)
{
	int fd = open(path, !strcmp(mode, "rw") ? O_RDWR :
			    !strcmp(mode, "w") ? O_WRONLY : O_RDONLY);

	if (fd < 0)
		die(path);
	return fd;
}

int main(int argc, char **argv)
{
	char *words[4];

	if (argc == 8 && !strcmp(argv[1], "new")) {
		words[0] = argv[2];
		words[1] = argv[3];
		words[2] = argv[4];
		words[3] = argv[7];
		return session_new(words, open_mode(argv[5], argv[6]));
	}
	if (argc == 7 && !strcmp(argv[1], "fd")) {
		words[0] = argv[2];
		words[1] = argv[3];
		words[2] = argv[4];
		words[3] = argv[6];
		return session_new(words, atoi(argv[5]));
	}
	if (argc == 5 && argv[1][0] == 'u')
		return one_attr(argv[1], argv + 2);
	if (argc == 6 && !strcmp(argv[1], "dirty"))
		return dirty(argv + 2);
	fprintf(stderr, "nlprobe: its source tells how to use it\n");
	return 2;
}
