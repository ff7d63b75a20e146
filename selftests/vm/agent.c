// SPDX-License-Identifier: GPL-2.0
/*
 * The program that runs commands inside a test VM.
 *
 *   agent init                as process 1: serve the host, over a virtio port
 *   agent serve ADDRESS PORT  serve the other VM, over TCP
 *   on-peer COMMAND...        the client of "serve" (the same program, by name)
 *
 * One protocol serves both.  A frame is a type byte, a 32-bit big-endian
 * length and that many bytes:
 *
 *   to the agent    'x'  run: "1" to send stderr as stdout or "0", the working
 *                        directory, the number of environment strings, those
 *                        strings, the arguments; each ends with a NUL
 *                   'w'  write the blocked tasks to the kernel log
 *   from the agent  'i'  ready for the first 'x'
 *                   'o'  bytes of stdout        'e'  bytes of stderr
 *                   's'  the exit status, one byte: the answer to an 'x'
 *
 * A connection that closes while its command runs ends that command and its
 * process group, so that nothing outlives a client that was killed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PORT_NAME	"rdmamig.agent"
#define CLIENTS		"/run/rdmamig-vm/clients"
#define KILLED		"/run/rdmamig-vm/peer-killed"
#define FRAME_MAX	0x100000
#define LOST		255

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct frame {
	uint8_t type;
	uint32_t length;
	char *data;	/* one NUL more than length, for the string parser */
};

static int write_all(int fd, const void *buffer, size_t length)
{
	const char *at = buffer;

	while (length) {
		ssize_t n = write(fd, at, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		at += n;
		length -= n;
	}
	return 0;
}

static int read_all(int fd, void *buffer, size_t length)
{
	char *at = buffer;

	while (length) {
		ssize_t n = read(fd, at, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		at += n;
		length -= n;
	}
	return 0;
}

static int send_frame(int fd, uint8_t type, const void *data, uint32_t length)
{
	uint32_t wire = htonl(length);
	char head[5];

	head[0] = type;
	memcpy(head + 1, &wire, 4);
	if (write_all(fd, head, sizeof(head)))
		return -1;
	return write_all(fd, data, length);
}

static int receive_frame(int fd, struct frame *frame)
{
	char head[5];
	uint32_t wire;

	frame->data = NULL;
	if (read_all(fd, head, sizeof(head)))
		return -1;
	frame->type = head[0];
	memcpy(&wire, head + 1, 4);
	frame->length = ntohl(wire);
	if (frame->length > FRAME_MAX)
		return -1;
	frame->data = calloc(1, frame->length + 1);
	if (!frame->data)
		return -1;
	return read_all(fd, frame->data, frame->length);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	write_all(fd, text, strlen(text));
	close(fd);
}

/* The next string of a request, or NULL at its end. */
static char *next_string(struct frame *frame, uint32_t *offset)
{
	char *text = frame->data + *offset;

	if (*offset >= frame->length)
		return NULL;
	*offset += strlen(text) + 1;
	return text;
}

/* What is left of a request: up to count strings, as an argument vector. */
static char **take_strings(struct frame *frame, uint32_t *offset, size_t count)
{
	char **vector = NULL;
	size_t used = 0;
	char *text;

	do {
		text = used < count ? next_string(frame, offset) : NULL;
		vector = realloc(vector, (used + 1) * sizeof(*vector));
		if (!vector)
			_exit(126);
		vector[used++] = text;
	} while (text);
	return vector;
}

/* In the child: become the command of a request. */
static void run_request(struct frame *frame, int out, int err)
{
	uint32_t offset = 0;
	char *merge = next_string(frame, &offset);
	char *directory = next_string(frame, &offset);
	char *count = next_string(frame, &offset);
	sigset_t none;
	char **argv;
	int null;

	if (!merge || !directory || !count)
		_exit(126);
	environ = take_strings(frame, &offset, strtoul(count, NULL, 10));
	argv = take_strings(frame, &offset, SIZE_MAX);
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	null = open("/dev/null", O_RDONLY);
	dup2(null, 0);
	dup2(out, 1);
	dup2(*merge == '1' ? out : err, 2);
	if (chdir(directory)) {
		dprintf(2, "rdmamig-vm: %s: %s\n", directory, strerror(errno));
		_exit(126);
	}
	if (!argv[0])
		_exit(126);
	execvp(argv[0], argv);
	dprintf(2, "rdmamig-vm: %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Pass on what a pipe holds; false once it is empty for now, or closed. */
static int pump(int from, int to, uint8_t type)
{
	char buffer[32768];
	ssize_t n = read(from, buffer, sizeof(buffer));

	if (n <= 0)
		return 0;
	send_frame(to, type, buffer, n);
	return 1;
}

static void end_group(pid_t pid, int pidfd)
{
	struct pollfd wait = { .fd = pidfd, .events = POLLIN };

	kill(-pid, SIGTERM);
	poll(&wait, 1, 2000);
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Run one command: 0 once its status is sent, -1 if the client has gone. */
static int serve_request(int fd, struct frame *request)
{
	int out[2], err[2], pidfd, status;
	uint8_t code;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid < 0)
		return -1;
	if (!pid)
		run_request(request, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return -1;
	for (;;) {
		struct pollfd wait[] = {
			{ .fd = out[0], .events = POLLIN },
			{ .fd = err[0], .events = POLLIN },
			{ .fd = pidfd, .events = POLLIN },
			{ .fd = fd, .events = POLLIN },
		};
		struct frame frame;

		if (poll(wait, 4, -1) < 0)
			continue;
		if (wait[0].revents && !pump(out[0], fd, 'o') && wait[0].revents & POLLHUP) {
			close(out[0]);
			out[0] = -1;
		}
		if (wait[1].revents && !pump(err[0], fd, 'e') && wait[1].revents & POLLHUP) {
			close(err[0]);
			err[0] = -1;
		}
		if (wait[2].revents)
			break;
		if (!wait[3].revents)
			continue;
		if (receive_frame(fd, &frame)) {
			end_group(pid, pidfd);
			return -1;
		}
		if (frame.type == 'w')
			write_file("/proc/sysrq-trigger", "w");
		free(frame.data);
	}
	/* A daemon may hold the pipes open: send what is there, not more. */
	while (out[0] >= 0 && pump(out[0], fd, 'o'))
		;
	while (err[0] >= 0 && pump(err[0], fd, 'e'))
		;
	close(out[0]);
	close(err[0]);
	close(pidfd);
	waitpid(pid, &status, 0);
	code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	sync();
	return send_frame(fd, 's', &code, 1);
}

static void serve_connection(int fd)
{
	struct frame frame;

	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	send_frame(fd, 'i', "", 0);
	while (!receive_frame(fd, &frame)) {
		if (frame.type == 'x' && serve_request(fd, &frame))
			break;
		free(frame.data);
	}
	_exit(0);
}

static int open_port(void)
{
	const char *base = "/sys/class/virtio-ports";
	struct dirent *entry;
	DIR *folder = opendir(base);

	while (folder && (entry = readdir(folder))) {
		char path[512], name[64] = "";
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s/name", base, entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (!fgets(name, sizeof(name), file))
			name[0] = 0;
		fclose(file);
		name[strcspn(name, "\n")] = 0;
		if (strcmp(name, PORT_NAME))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		closedir(folder);
		return open(path, O_RDWR | O_CLOEXEC);
	}
	return -1;
}

static int init_main(void)
{
	/* What a login on a stock system has; the kernel's defaults differ. */
	struct rlimit files = { .rlim_cur = 1024, .rlim_max = 524288 };
	struct rlimit memlock = { .rlim_cur = 8 << 20, .rlim_max = 8 << 20 };
	int fd = open_port();
	pid_t server, pid;

	if (fd < 0) {
		dprintf(2, "rdmamig-vm: no virtio port named " PORT_NAME "\n");
		return 1;
	}
	setrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_MEMLOCK, &memlock);
	server = fork();
	if (!server)
		serve_connection(fd);
	close(fd);
	do {
		pid = wait(NULL);
	} while (pid != server && (pid > 0 || errno == EINTR));
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}

static struct sockaddr_in address_of(const char *address, const char *port)
{
	struct sockaddr_in result = {
		.sin_family = AF_INET,
		.sin_port = htons(atoi(port)),
	};

	if (inet_pton(AF_INET, address, &result.sin_addr) != 1) {
		dprintf(2, "rdmamig-vm: not an address: %s\n", address);
		exit(LOST);
	}
	return result;
}

static int serve_main(const char *address, const char *port)
{
	struct sockaddr_in local = address_of(address, port);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&local, sizeof(local)) ||
	    listen(listener, 64)) {
		perror("rdmamig-vm: agent serve");
		return 1;
	}
	/* Nobody waits for this process: the caller goes on once it listens. */
	if (fork())
		return 0;
	signal(SIGCHLD, SIG_IGN);
	setsid();
	dup2(open("/dev/null", O_RDWR), 0);
	dup2(0, 1);
	dup2(0, 2);
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		if (!fork()) {
			close(listener);
			serve_connection(fd);
		}
		close(fd);
	}
}

static int connect_peer(void)
{
	const char *address = getenv("RDMAMIG_VM_PEER");
	const char *port = getenv("RDMAMIG_VM_PORT");
	int on = 1, idle = 5, interval = 3, count = 5, tries = 3;
	struct sockaddr_in peer;
	int fd;

	if (!address || !port) {
		dprintf(2, "on-peer: there is no second host (run --hosts 2)\n");
		exit(LOST);
	}
	peer = address_of(address, port);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &tries, sizeof(tries));
	if (connect(fd, (struct sockaddr *)&peer, sizeof(peer))) {
		dprintf(2, "on-peer: %s: %s\n", address, strerror(errno));
		exit(LOST);
	}
	return fd;
}

/* The same variable on the other host: its own address is our peer's. */
static const char *as_seen_there(const char *variable)
{
	static const char * const swap[][2] = {
		{ "RDMAMIG_ADDR=", "RDMAMIG_PEER=" },
		{ "RDMAMIG_ADDR6=", "RDMAMIG_PEER6=" },
		{ "RDMAMIG_VM_ADDR=", "RDMAMIG_VM_PEER=" },
	};
	static char text[256];

	for (size_t i = 0; i < ARRAY_SIZE(swap); i++)
		for (int side = 0; side < 2; side++) {
			const char *name = swap[i][side];
			const char *other = swap[i][!side];

			if (strncmp(variable, name, strlen(name)))
				continue;
			snprintf(text, sizeof(text), "%s%s", other,
				 variable + strlen(name));
			return text;
		}
	return variable;
}

static void append(char **buffer, size_t *length, const char *text)
{
	size_t more = strlen(text) + 1;

	*buffer = realloc(*buffer, *length + more);
	if (!*buffer || *length + more > FRAME_MAX) {
		dprintf(2, "on-peer: the command is too long\n");
		exit(LOST);
	}
	memcpy(*buffer + *length, text, more);
	*length += more;
}

static void send_request(int fd, char **argv)
{
	char *directory = getcwd(NULL, 0), *request = NULL;
	struct stat out, err;
	size_t length = 0;
	char count[16];
	int variables = 0;

	while (environ[variables])
		variables++;
	snprintf(count, sizeof(count), "%d", variables);
	/* Two streams that end in one file keep their order only if merged. */
	append(&request, &length,
	       !fstat(1, &out) && !fstat(2, &err) && out.st_dev == err.st_dev &&
	       out.st_ino == err.st_ino ? "1" : "0");
	append(&request, &length, directory ? directory : "/");
	append(&request, &length, count);
	for (int i = 0; i < variables; i++)
		append(&request, &length, as_seen_there(environ[i]));
	for (; *argv; argv++)
		append(&request, &length, *argv);
	send_frame(fd, 'x', request, length);
}

static char client_file[64];

static void forget_client(void)
{
	unlink(client_file);
}

static void peer_killed(int signal)
{
	static const char text[] = "on-peer: the other host was killed\n";
	ssize_t ignored = write(2, text, sizeof(text) - 1);

	(void)signal;
	(void)ignored;
	unlink(client_file);
	_exit(LOST);
}

static int on_peer_main(char **argv)
{
	struct frame frame;
	int fd;

	if (!*argv) {
		dprintf(2, "usage: on-peer COMMAND...\n");
		return LOST;
	}
	/* kill-peer finds its clients here: none has to wait for a timeout. */
	signal(SIGUSR1, peer_killed);
	snprintf(client_file, sizeof(client_file), CLIENTS "/%d", getpid());
	close(open(client_file, O_CREAT | O_WRONLY, 0600));
	atexit(forget_client);
	if (!access(KILLED, F_OK))
		peer_killed(0);
	fd = connect_peer();
	send_request(fd, argv);
	while (!receive_frame(fd, &frame)) {
		if (frame.type == 's' && frame.length == 1)
			return (uint8_t)frame.data[0];
		if (frame.type == 'o')
			write_all(1, frame.data, frame.length);
		if (frame.type == 'e')
			write_all(2, frame.data, frame.length);
		free(frame.data);
	}
	dprintf(2, "on-peer: the other host is gone\n");
	return LOST;
}

int main(int argc, char **argv)
{
	if (!strcmp(basename(argv[0]), "on-peer"))
		return on_peer_main(argv + 1);
	if (argc == 2 && !strcmp(argv[1], "init"))
		return init_main();
	if (argc == 4 && !strcmp(argv[1], "serve"))
		return serve_main(argv[2], argv[3]);
	dprintf(2, "usage: agent init | agent serve ADDRESS PORT\n");
	return 2;
}
