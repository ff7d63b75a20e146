// SPDX-License-Identifier: GPL-2.0
/*
 * listen and start: a session between live processes' memory.
 */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "job.h"
#include "out.h"
#include "vm.h"

/* What the command line says. */
struct plan {
	const char *where;	/* as written */
	union addr addr;
	struct knobs knobs;
	struct vm vm;
	bool wait;
};

static int parse(struct plan *plan, unsigned int command, struct args *args)
{
	const char *word;
	bool taken;
	int ret;

	ret = args_options(args);
	if (ret)
		return ret;
	plan->where = args_next(args);
	if (!plan->where)
		return usage_error("ADDR", "missing: ADDRESS:PORT");

	while (!(ret = args_options(args)) && (word = args_next(args))) {
		if (!strcmp(word, "wait")) {
			plan->wait = true;
			continue;
		}
		ret = vm_word(&plan->vm, word, args, &taken);
		if (!ret && !taken)
			ret = knobs_word(&plan->knobs, command, word, args, &taken);
		if (ret)
			return ret;
		if (!taken)
			return usage_error(word, "not understood here");
	}
	if (ret)
		return ret;
	ret = vm_check(&plan->vm);
	if (ret)
		return ret;
	/* last: it may ask a name server */
	return addr_parse(plan->where, &plan->addr);
}

static int print_id(uint32_t id)
{
	uint64_t value = id;
	struct out out;

	if (!opt.json) {
		printf("%u\n", id);
		return fflush(stdout) ? fail(EXIT_FAILED, "output", "cannot be written") : 0;
	}
	out_open(&out);
	out_value(&out, "id", OUT_NUMBER, &value);
	return out_close(&out);
}

static int run(struct plan *plan, uint32_t role)
{
	struct new_session new = {
		.role = role,
		.mode = RDMAMIG_MODE_NATIVE,
		.addr = &plan->addr,
		.knobs = &plan->knobs,
		.mem_fd = plan->vm.mem_fd,
		.blocks = plan->vm.blocks,
		.count = plan->vm.count,
	};
	struct progress progress;
	struct watch watch;
	int ret;

	ret = watch_open(&watch, true);
	if (ret)
		return ret;
	ret = new_session(&watch.rq, &new, plan->where, &watch.session.id);
	if (!ret)
		ret = watch_get(&watch);
	if (ret)
		goto close;

	if (role == RDMAMIG_ROLE_SOURCE) {
		ret = job_until(&watch, NULL, RDMAMIG_STATE_RUNNING);
		if (!ret && session_over(watch.session.state))
			ret = session_verdict(&watch.session);
		if (ret)
			goto close;
	}
	ret = print_id(watch.session.id);
	if (ret || !plan->wait)
		goto close;
	progress_init(&progress);
	ret = job_wait(&watch, &progress);
close:
	watch_close(&watch);
	return ret;
}

static int job(unsigned int command, uint32_t role, struct args *args)
{
	struct plan plan = { 0 };
	int ret;

	vm_init(&plan.vm);
	ret = parse(&plan, command, args);
	/* local things first: what is wrong with them can be said at once */
	if (!ret)
		ret = vm_open(&plan.vm, role == RDMAMIG_ROLE_TARGET);
	if (!ret && plan.vm.files) {
		/* the memory is this process's, and so it has to stay */
		plan.wait = true;
		if (role == RDMAMIG_ROLE_SOURCE && !plan.knobs.given[KNOB_AUTO_FINISH]) {
			/* a file stands still from the start */
			plan.knobs.given[KNOB_AUTO_FINISH] = true;
			plan.knobs.value[KNOB_AUTO_FINISH] = 1;
		}
	}
	if (!ret)
		ret = run(&plan, role);
	vm_close(&plan.vm);
	return ret;
}

/**
 * cmd_listen() - a target session
 * @args: ADDR vm VM [TUNABLES] [wait]
 *
 * Return: exit code.
 */
int cmd_listen(struct args *args)
{
	return job(FOR_LISTEN, RDMAMIG_ROLE_TARGET, args);
}

/**
 * cmd_start() - a source session
 * @args: ADDR vm VM [TUNABLES] [wait]
 *
 * Return: exit code.
 */
int cmd_start(struct args *args)
{
	return job(FOR_START, RDMAMIG_ROLE_SOURCE, args);
}
