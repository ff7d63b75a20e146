/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rdmamig

#if !defined(RDMAMIG_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RDMAMIG_TRACE_H

#include <linux/tracepoint.h>

#include "chunk.h"
#include "ramblock.h"
#include "session.h"

TRACE_EVENT(rdmamig_session_state,
	TP_PROTO(const struct rdmamig_session *s, enum rdmamig_state from,
		 enum rdmamig_state to),
	TP_ARGS(s, from, to),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u32, from)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->id = s->id;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("session %u: %s to %s", __entry->id,
		  rdmamig_state_name(__entry->from),
		  rdmamig_state_name(__entry->to))
);

TRACE_EVENT(rdmamig_chunk_move,
	TP_PROTO(const struct rdmamig_chunk *chunk,
		 enum rdmamig_chunk_state to),
	TP_ARGS(chunk, to),
	TP_STRUCT__entry(
		__field(u32, block)
		__field(u64, index)
		__field(u32, from)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->block = chunk->block->index;
		__entry->index = chunk->index;
		__entry->from = chunk->state;
		__entry->to = to;
	),
	TP_printk("block %u chunk %llu: %s to %s", __entry->block,
		  __entry->index, rdmamig_chunk_state_name(__entry->from),
		  rdmamig_chunk_state_name(__entry->to))
);

DECLARE_EVENT_CLASS(rdmamig_message,
	TP_PROTO(const struct rdmamig_session *s, u32 type, u32 repeat,
		 u32 len),
	TP_ARGS(s, type, repeat, len),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u32, type)
		__field(u32, repeat)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->id = s->id;
		__entry->type = type;
		__entry->repeat = repeat;
		__entry->len = len;
	),
	TP_printk("session %u: %s repeat %u len %u", __entry->id,
		  rdmamig_codec_type_name(__entry->type), __entry->repeat,
		  __entry->len)
);

DEFINE_EVENT(rdmamig_message, rdmamig_ctrl_sent,
	TP_PROTO(const struct rdmamig_session *s, u32 type, u32 repeat,
		 u32 len),
	TP_ARGS(s, type, repeat, len)
);

DEFINE_EVENT(rdmamig_message, rdmamig_ctrl_received,
	TP_PROTO(const struct rdmamig_session *s, u32 type, u32 repeat,
		 u32 len),
	TP_ARGS(s, type, repeat, len)
);

#endif /* RDMAMIG_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
