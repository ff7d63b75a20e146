// SPDX-License-Identifier: GPL-2.0
#include "codec.h"
#include "session.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
