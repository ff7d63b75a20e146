// SPDX-License-Identifier: GPL-2.0
/*
 * What is printed of each kind of object.  Keys are append-only.
 */
#include "out.h"

#define TABLE(_fields, _max)	{ _fields, ARRAY_SIZE(_fields), _max }

/* A field, and one whose value is a word. */
#define F(_attr, _key, _kind, _flags)	{ _attr, _key, _kind, _flags, NULL }
#define W(_attr, _key, _flags, _names)	{ _attr, _key, OUT_WORD, _flags, _names }

#define S(_attr)	RDMAMIG_A_SESSION_##_attr

static const struct out_field session_fields[] = {
	F(S(ID), "id", OUT_NUMBER, OUT_COLUMN | OUT_RIGHT),
	W(S(ROLE), "role", OUT_COLUMN, &role_names),
	W(S(MODE), "mode", OUT_COLUMN, &mode_names),
	W(S(STATE), "state", OUT_COLUMN, &state_names),
	F(S(LOCAL_ADDR), "local-addr", OUT_ADDR, OUT_COLUMN),
	F(S(REMOTE_ADDR), "remote-addr", OUT_ADDR, OUT_COLUMN),
	F(S(FROM_ADDR), "from-addr", OUT_HOST, 0),
	F(S(FROM_PREFIX), "from-prefix", OUT_NUMBER, 0),
	F(S(PEER_RDMAMIG), "peer-rdmamig", OUT_BOOL, 0),
	F(S(DEVICE), "device", OUT_STRING, OUT_UNSET),
	F(S(OWNER_PID), "owner-pid", OUT_NUMBER, OUT_COLUMN | OUT_RIGHT | OUT_UNSET),
	F(S(CONFIRM), "confirm", OUT_FLAG, OUT_DETAIL),
	F(S(BLOCK_COUNT), "block-count", OUT_NUMBER, 0),
	F(S(RAM_BYTES), "ram-bytes", OUT_BYTES, OUT_COLUMN | OUT_RIGHT),
	F(S(PIN_LIMIT), "pin-limit", OUT_BYTES, OUT_COLUMN | OUT_RIGHT | OUT_UNSET),
	F(S(PIN_ALL), "pin-all", OUT_BOOL, 0),
	F(S(MAX_MEMORY), "max-memory", OUT_BYTES, OUT_UNSET),
	F(S(RATE_LIMIT), "rate-limit", OUT_RATE, 0),
	W(S(UNREG), "unreg", 0, &unreg_names),
	W(S(PEER_CHUNK), "peer-chunk", 0, &peer_chunk_names),
	F(S(PEER_TIMEOUT), "peer-timeout", OUT_MS, 0),
	F(S(CONNECT_TIMEOUT), "connect-timeout", OUT_MS, 0),
	F(S(MAX_DOWNTIME), "max-downtime", OUT_MS, 0),
	F(S(AUTO_FINISH), "auto-finish", OUT_BOOL, 0),
	F(S(ERRNO), "errno", OUT_NUMBER, OUT_DETAIL),
	F(S(ERROR_TEXT), "error-text", OUT_STRING, OUT_COLUMN),
};

const struct out_table session_table = TABLE(session_fields, RDMAMIG_A_SESSION_MAX);

#define B(_attr)	RDMAMIG_A_BLOCK_##_attr

static const struct out_field block_fields[] = {
	F(B(INDEX), "index", OUT_NUMBER, OUT_COLUMN | OUT_RIGHT),
	F(B(NAME), "name", OUT_STRING, OUT_COLUMN),
	F(B(ADDRESS), "address", OUT_HEX, OUT_COLUMN),
	F(B(LENGTH), "length", OUT_BYTES, OUT_COLUMN | OUT_RIGHT),
	F(B(DIRTY_BYTES), "dirty-bytes", OUT_BYTES, OUT_COLUMN | OUT_RIGHT),
	F(B(PINNED_BYTES), "pinned-bytes", OUT_BYTES, OUT_COLUMN | OUT_RIGHT),
};

const struct out_table block_table = TABLE(block_fields, RDMAMIG_A_BLOCK_MAX);

#define T(_attr)	RDMAMIG_A_STATS_##_attr

static const struct out_field stats_fields[] = {
	F(T(SESSION_ID), "session-id", OUT_NUMBER, OUT_COLUMN | OUT_RIGHT),
	F(T(RAM_BYTES), "ram-bytes", OUT_BYTES, 0),
	F(T(DATA_BYTES), "data-bytes", OUT_BYTES, OUT_COLUMN | OUT_RIGHT),
	F(T(ZERO_BYTES), "zero-bytes", OUT_BYTES, OUT_COLUMN | OUT_RIGHT),
	F(T(REMAINING_BYTES), "remaining-bytes", OUT_BYTES, OUT_COLUMN | OUT_RIGHT),
	F(T(STREAM_BYTES), "stream-bytes", OUT_BYTES, OUT_COLUMN | OUT_RIGHT),
	F(T(PINNED_BYTES), "pinned-bytes", OUT_BYTES, OUT_COLUMN | OUT_RIGHT),
	F(T(PINNED_PEAK_BYTES), "pinned-peak-bytes", OUT_BYTES, 0),
	F(T(PIN_LIMIT_BYTES), "pin-limit-bytes", OUT_BYTES, 0),
	F(T(LOCKED_BYTES), "locked-bytes", OUT_BYTES, 0),
	F(T(REGISTERED), "registered", OUT_NUMBER, 0),
	F(T(REGISTRATIONS), "registrations", OUT_NUMBER, OUT_COLUMN | OUT_RIGHT),
	F(T(UNREGISTRATIONS), "unregistrations", OUT_NUMBER, OUT_COLUMN | OUT_RIGHT),
	F(T(REFAULTS), "refaults", OUT_NUMBER, OUT_COLUMN | OUT_RIGHT),
	F(T(REUSES), "reuses", OUT_NUMBER, 0),
	F(T(EXCHANGES), "exchanges", OUT_NUMBER, 0),
	F(T(MESSAGES_SENT), "messages-sent", OUT_NUMBER, OUT_DETAIL),
	F(T(MESSAGES_RECEIVED), "messages-received", OUT_NUMBER, OUT_DETAIL),
	F(T(SLOT_WAITS), "slot-waits", OUT_NUMBER, 0),
	F(T(SLOT_WAIT_NS), "slot-wait-ns", OUT_NS, 0),
	F(T(STALE_CHUNKS), "stale-chunks", OUT_NUMBER, 0),
	F(T(ROUNDS), "rounds", OUT_NUMBER, 0),
	F(T(WINDOWS), "windows", OUT_NUMBER, 0),
	F(T(SETUP_NS), "setup-ns", OUT_NS, 0),
	F(T(RUN_NS), "run-ns", OUT_NS, 0),
	F(T(PROBES), "probes", OUT_NUMBER, OUT_DETAIL),
};

const struct out_table stats_table = TABLE(stats_fields, RDMAMIG_A_STATS_MAX);

#define D(_attr)	RDMAMIG_A_DEVICE_##_attr

static const struct out_field device_fields[] = {
	F(D(NAME), "name", OUT_STRING, OUT_COLUMN),
	F(D(USABLE), "usable", OUT_BOOL, OUT_COLUMN),
	F(D(PORTS), "ports", OUT_NUMBER, OUT_COLUMN | OUT_RIGHT),
	F(D(ACTIVE_PORTS), "active-ports", OUT_NUMBER, OUT_COLUMN | OUT_RIGHT),
	F(D(MR_PAGES), "mr-pages", OUT_NUMBER, OUT_COLUMN | OUT_RIGHT),
	F(D(MAX_MR), "max-mr", OUT_NUMBER, OUT_COLUMN | OUT_RIGHT),
	F(D(MAX_QP_WR), "max-qp-wr", OUT_NUMBER, OUT_COLUMN | OUT_RIGHT),
	F(D(MAX_SEND_SGE), "max-send-sge", OUT_NUMBER, OUT_COLUMN | OUT_RIGHT),
	F(D(REASON), "reason", OUT_STRING, OUT_COLUMN),
};

const struct out_table device_table = TABLE(device_fields, RDMAMIG_A_DEVICE_MAX);
