/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * rdmamig: the generic netlink ABI.
 *
 * The source of truth is Documentation/netlink/specs/rdmamig.yaml; this file
 * says the same in C.  Values are append-only.
 */
#ifndef _UAPI_LINUX_RDMAMIG_H
#define _UAPI_LINUX_RDMAMIG_H

#define RDMAMIG_FAMILY_NAME	"rdmamig"
#define RDMAMIG_FAMILY_VERSION	1

#define RDMAMIG_MCGRP_SESSION	"session"

/* Limits that both sides of the ABI rely on. */
#define RDMAMIG_BLOCK_NAME_MAX	255	/* bytes, without the NUL */
#define RDMAMIG_BLOCKS_MAX	16383	/* blocks of a session */
#define RDMAMIG_ERROR_TEXT_MAX	255	/* bytes, without the NUL */
#define RDMAMIG_DIRTY_BITMAP_MAX 32768	/* bytes of one dirty-add */

/* Ranges of the tunables; each has a test at both ends. */
#define RDMAMIG_PEER_TIMEOUT_MIN	2000	/* ms */
#define RDMAMIG_PEER_TIMEOUT_DEFAULT	10000
#define RDMAMIG_PEER_TIMEOUT_MAX	600000
#define RDMAMIG_CONNECT_TIMEOUT_MIN	100	/* ms */
#define RDMAMIG_CONNECT_TIMEOUT_DEFAULT	10000
#define RDMAMIG_CONNECT_TIMEOUT_MAX	600000
#define RDMAMIG_MAX_DOWNTIME_DEFAULT	300	/* ms */
#define RDMAMIG_MAX_DOWNTIME_MAX	3600000
#define RDMAMIG_RATE_LIMIT_MIN		1048576	/* bytes a second; 0 is none */
#define RDMAMIG_PIN_WINDOW		4194304	/* bytes: the least pin-limit */

/**
 * enum rdmamig_role - which end of a migration a session is
 * @RDMAMIG_ROLE_SOURCE: connects, and sends its memory
 * @RDMAMIG_ROLE_TARGET: listens, and receives memory
 */
enum rdmamig_role {
	RDMAMIG_ROLE_SOURCE,
	RDMAMIG_ROLE_TARGET,
};

/**
 * enum rdmamig_mode - what drives a session
 * @RDMAMIG_MODE_NATIVE: RAM blocks are named by the control channel; the byte
 *	stream is opaque and free.  Both ends must be rdmamig.
 * @RDMAMIG_MODE_WINDOWS: QEMU's stream drives the windows; the peer may be a
 *	stock QEMU.
 */
enum rdmamig_mode {
	RDMAMIG_MODE_NATIVE,
	RDMAMIG_MODE_WINDOWS,
};

/**
 * enum rdmamig_state - the life of a session
 * @RDMAMIG_STATE_LISTENING: target: the port is bound, no source yet
 * @RDMAMIG_STATE_CONNECTING: the connection is being made
 * @RDMAMIG_STATE_SETUP: connected, the block lists are being agreed on
 * @RDMAMIG_STATE_BINDING: target in windows mode: the source asked for the
 *	block list; the owner reads it out of the stream and answers with
 *	block-bind
 * @RDMAMIG_STATE_RUNNING: the block lists agree, memory may move
 * @RDMAMIG_STATE_SEALED: target with confirm: all memory is here, no key is
 *	valid and nothing is pinned; the owner may read it, and says finish
 * @RDMAMIG_STATE_FINISHING: the last bytes and the end exchange
 * @RDMAMIG_STATE_COMPLETED: the target said that it has everything
 * @RDMAMIG_STATE_SENT: source with a stock peer: everything was delivered,
 *	but such a peer never says that it has everything
 * @RDMAMIG_STATE_UNKNOWN: source: END was sent, its answer never came
 * @RDMAMIG_STATE_CANCELLED: ended by cancel, or by resume
 * @RDMAMIG_STATE_FAILED: ended by an error; error-text says which
 *
 * From COMPLETED on a session is over: it holds no resource but its record.
 */
enum rdmamig_state {
	RDMAMIG_STATE_LISTENING,
	RDMAMIG_STATE_CONNECTING,
	RDMAMIG_STATE_SETUP,
	RDMAMIG_STATE_BINDING,
	RDMAMIG_STATE_RUNNING,
	RDMAMIG_STATE_SEALED,
	RDMAMIG_STATE_FINISHING,
	RDMAMIG_STATE_COMPLETED,
	RDMAMIG_STATE_SENT,
	RDMAMIG_STATE_UNKNOWN,
	RDMAMIG_STATE_CANCELLED,
	RDMAMIG_STATE_FAILED,
};

/**
 * enum rdmamig_unreg - when a source gives chunks back
 * @RDMAMIG_UNREG_LRU: the least recently used idle chunk, when the limit asks
 * @RDMAMIG_UNREG_EAGER: each chunk as soon as its write has completed
 * @RDMAMIG_UNREG_OFF: never; needs a pin-limit of all RAM
 */
enum rdmamig_unreg {
	RDMAMIG_UNREG_LRU,
	RDMAMIG_UNREG_EAGER,
	RDMAMIG_UNREG_OFF,
};

/**
 * enum rdmamig_peer_chunk - the chunk size of a stock destination
 * @RDMAMIG_PEER_CHUNK_1M: 1 MiB, QEMU's default
 * @RDMAMIG_PEER_CHUNK_UNKNOWN: not known: chunks are never given back
 */
enum rdmamig_peer_chunk {
	RDMAMIG_PEER_CHUNK_1M,
	RDMAMIG_PEER_CHUNK_UNKNOWN,
};

/**
 * enum rdmamig_window - what a source does in a window of the stream
 * @RDMAMIG_WINDOW_SETUP: exchange the block lists (the first window)
 * @RDMAMIG_WINDOW_EMPTY: nothing
 * @RDMAMIG_WINDOW_RAM: send every dirty page
 */
enum rdmamig_window {
	RDMAMIG_WINDOW_SETUP,
	RDMAMIG_WINDOW_EMPTY,
	RDMAMIG_WINDOW_RAM,
};

/* Attributes of a session.  Addresses are a struct sockaddr_in or _in6. */
enum {
	RDMAMIG_A_SESSION_PAD = 1,
	RDMAMIG_A_SESSION_ID,			/* u32 */
	RDMAMIG_A_SESSION_ROLE,			/* u32, enum rdmamig_role */
	RDMAMIG_A_SESSION_MODE,			/* u32, enum rdmamig_mode */
	RDMAMIG_A_SESSION_STATE,		/* u32, enum rdmamig_state */
	RDMAMIG_A_SESSION_LOCAL_ADDR,		/* binary: sockaddr */
	RDMAMIG_A_SESSION_REMOTE_ADDR,		/* binary: sockaddr */
	RDMAMIG_A_SESSION_FROM_ADDR,		/* binary: sockaddr, port unused */
	RDMAMIG_A_SESSION_FROM_PREFIX,		/* u8, bits of from-addr */
	RDMAMIG_A_SESSION_MEM_FD,		/* u32, descriptor of a /proc/PID/mem */
	RDMAMIG_A_SESSION_BLOCK,		/* nest, multi: RDMAMIG_A_BLOCK_* */
	RDMAMIG_A_SESSION_CONFIRM,		/* flag: target stops in SEALED */
	RDMAMIG_A_SESSION_PIN_LIMIT,		/* u64, bytes */
	RDMAMIG_A_SESSION_PIN_ALL,		/* u8, 0 or 1 */
	RDMAMIG_A_SESSION_MAX_MEMORY,		/* u64, bytes */
	RDMAMIG_A_SESSION_RATE_LIMIT,		/* u64, bytes a second, 0 = none */
	RDMAMIG_A_SESSION_UNREG,		/* u32, enum rdmamig_unreg */
	RDMAMIG_A_SESSION_PEER_CHUNK,		/* u32, enum rdmamig_peer_chunk */
	RDMAMIG_A_SESSION_PEER_TIMEOUT,		/* u32, ms */
	RDMAMIG_A_SESSION_CONNECT_TIMEOUT,	/* u32, ms */
	RDMAMIG_A_SESSION_MAX_DOWNTIME,		/* u32, ms */
	RDMAMIG_A_SESSION_AUTO_FINISH,		/* u8, 0 or 1 */
	RDMAMIG_A_SESSION_DEVICE,		/* string */
	RDMAMIG_A_SESSION_OWNER_PID,		/* u32, 0 when the owner is gone */
	RDMAMIG_A_SESSION_PEER_RDMAMIG,		/* u8, 1 when the peer is rdmamig */
	RDMAMIG_A_SESSION_ERRNO,		/* u32, positive errno of the first error */
	RDMAMIG_A_SESSION_ERROR_TEXT,		/* string, the first error in words */
	RDMAMIG_A_SESSION_BLOCK_COUNT,		/* u32 */
	RDMAMIG_A_SESSION_RAM_BYTES,		/* u64, sum of the block lengths */
	RDMAMIG_A_SESSION_STREAM_FD,		/* u32, reply of stream-open */
	RDMAMIG_A_SESSION_WINDOW,		/* u32, enum rdmamig_window */

	__RDMAMIG_A_SESSION_MAX,
	RDMAMIG_A_SESSION_MAX = (__RDMAMIG_A_SESSION_MAX - 1)
};

/* A RAM block. */
enum {
	RDMAMIG_A_BLOCK_PAD = 1,
	RDMAMIG_A_BLOCK_NAME,			/* string */
	RDMAMIG_A_BLOCK_ADDRESS,		/* u64, in the owner's memory */
	RDMAMIG_A_BLOCK_LENGTH,			/* u64, bytes */
	RDMAMIG_A_BLOCK_INDEX,			/* u32, position in the session */
	RDMAMIG_A_BLOCK_SESSION_ID,		/* u32 */
	RDMAMIG_A_BLOCK_DIRTY_BYTES,		/* u64, source: still to be sent */
	RDMAMIG_A_BLOCK_PINNED_BYTES,		/* u64 */

	__RDMAMIG_A_BLOCK_MAX,
	RDMAMIG_A_BLOCK_MAX = (__RDMAMIG_A_BLOCK_MAX - 1)
};

/* Counters of a session; what a role cannot know is left out. */
enum {
	RDMAMIG_A_STATS_PAD = 1,
	RDMAMIG_A_STATS_SESSION_ID,		/* u32 */
	RDMAMIG_A_STATS_RAM_BYTES,		/* u64, sum of the block lengths */
	RDMAMIG_A_STATS_DATA_BYTES,		/* u64, source: moved by RDMA WRITE */
	RDMAMIG_A_STATS_ZERO_BYTES,		/* u64, moved as zero ranges */
	RDMAMIG_A_STATS_REMAINING_BYTES,	/* u64, source: dirty now */
	RDMAMIG_A_STATS_STREAM_BYTES,		/* u64, byte stream */
	RDMAMIG_A_STATS_PINNED_BYTES,		/* u64, now */
	RDMAMIG_A_STATS_PINNED_PEAK_BYTES,	/* u64 */
	RDMAMIG_A_STATS_PIN_LIMIT_BYTES,	/* u64, in force */
	RDMAMIG_A_STATS_LOCKED_BYTES,		/* u64, charged to the owner now */
	RDMAMIG_A_STATS_REGISTERED,		/* u64, chunks with a key now */
	RDMAMIG_A_STATS_REGISTRATIONS,		/* u64, chunks ever registered */
	RDMAMIG_A_STATS_UNREGISTRATIONS,	/* u64, chunks ever given back */
	RDMAMIG_A_STATS_REFAULTS,		/* u64, registered again after that */
	RDMAMIG_A_STATS_REUSES,			/* u64, found still registered */
	RDMAMIG_A_STATS_EXCHANGES,		/* u64, commands with an answer */
	RDMAMIG_A_STATS_MESSAGES_SENT,		/* u64 */
	RDMAMIG_A_STATS_MESSAGES_RECEIVED,	/* u64 */
	RDMAMIG_A_STATS_SLOT_WAITS,		/* u64, source: waits for room under the limit */
	RDMAMIG_A_STATS_SLOT_WAIT_NS,		/* u64 */
	RDMAMIG_A_STATS_STALE_CHUNKS,		/* u64, memory that changed under us */
	RDMAMIG_A_STATS_ROUNDS,			/* u64, source: times RAM was clean */
	RDMAMIG_A_STATS_WINDOWS,		/* u64, windows of the stream */
	RDMAMIG_A_STATS_SETUP_NS,		/* u64, connection request to RUNNING */
	RDMAMIG_A_STATS_RUN_NS,			/* u64, RUNNING to the end or now */
	RDMAMIG_A_STATS_PROBES,			/* u64, signs of life asked for */

	__RDMAMIG_A_STATS_MAX,
	RDMAMIG_A_STATS_MAX = (__RDMAMIG_A_STATS_MAX - 1)
};

/* An RDMA device as rdmamig sees it. */
enum {
	RDMAMIG_A_DEVICE_PAD = 1,
	RDMAMIG_A_DEVICE_NAME,			/* string */
	RDMAMIG_A_DEVICE_USABLE,		/* u8, 1 when a session can use it */
	RDMAMIG_A_DEVICE_REASON,		/* string, why it is not usable */
	RDMAMIG_A_DEVICE_MR_PAGES,		/* u32, pages of one fast-registered MR */
	RDMAMIG_A_DEVICE_MAX_MR,		/* u32 */
	RDMAMIG_A_DEVICE_MAX_QP_WR,		/* u32 */
	RDMAMIG_A_DEVICE_MAX_SEND_SGE,		/* u32 */
	RDMAMIG_A_DEVICE_PORTS,			/* u32 */
	RDMAMIG_A_DEVICE_ACTIVE_PORTS,		/* u32 */

	__RDMAMIG_A_DEVICE_MAX,
	RDMAMIG_A_DEVICE_MAX = (__RDMAMIG_A_DEVICE_MAX - 1)
};

/* A window of a received stream. */
enum {
	RDMAMIG_A_WINDOW_PAD = 1,
	RDMAMIG_A_WINDOW_SESSION_ID,		/* u32 */
	RDMAMIG_A_WINDOW_INDEX,			/* u32 */
	RDMAMIG_A_WINDOW_OFFSET,		/* u64, stream bytes before it */

	__RDMAMIG_A_WINDOW_MAX,
	RDMAMIG_A_WINDOW_MAX = (__RDMAMIG_A_WINDOW_MAX - 1)
};

/* Pages of a block that became dirty. */
enum {
	RDMAMIG_A_DIRTY_PAD = 1,
	RDMAMIG_A_DIRTY_SESSION_ID,		/* u32 */
	RDMAMIG_A_DIRTY_BLOCK_INDEX,		/* u32 */
	RDMAMIG_A_DIRTY_FIRST_PAGE,		/* u64, a multiple of 64 */
	RDMAMIG_A_DIRTY_BITMAP,			/* binary: le64 words, a bit a host page */

	__RDMAMIG_A_DIRTY_MAX,
	RDMAMIG_A_DIRTY_MAX = (__RDMAMIG_A_DIRTY_MAX - 1)
};

enum {
	RDMAMIG_CMD_SESSION_NEW = 1,	/* do */
	RDMAMIG_CMD_SESSION_GET,	/* do, dump */
	RDMAMIG_CMD_SESSION_SET,	/* do */
	RDMAMIG_CMD_SESSION_FINISH,	/* do */
	RDMAMIG_CMD_SESSION_CANCEL,	/* do */
	RDMAMIG_CMD_SESSION_RESUME,	/* do */
	RDMAMIG_CMD_SESSION_SEAL,	/* do */
	RDMAMIG_CMD_SESSION_NTF,	/* event, as the reply of session-get */
	RDMAMIG_CMD_BLOCK_BIND,		/* do */
	RDMAMIG_CMD_BLOCK_GET,		/* dump */
	RDMAMIG_CMD_STATS_GET,		/* do, dump */
	RDMAMIG_CMD_DEVICE_GET,		/* dump */
	RDMAMIG_CMD_STREAM_OPEN,	/* do */
	RDMAMIG_CMD_WINDOW_ADD,		/* do */
	RDMAMIG_CMD_WINDOW_GET,		/* dump */
	RDMAMIG_CMD_DIRTY_ADD,		/* do */

	__RDMAMIG_CMD_MAX,
	RDMAMIG_CMD_MAX = (__RDMAMIG_CMD_MAX - 1)
};

#endif /* _UAPI_LINUX_RDMAMIG_H */
