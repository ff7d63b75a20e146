// SPDX-License-Identifier: GPL-2.0
#include "rdmamigctl.h"
int cmd_receive(struct args *args) { (void)args; return EXIT_FAILED; }
int cmd_send(struct args *args) { (void)args; return EXIT_FAILED; }
