#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Talks to a QEMU over its QMP socket: a class, and a command for scripts.

    qmp.py SOCKET [--timeout S] COMMAND [NAME=VALUE...]
    qmp.py SOCKET [--timeout S] hmp LINE
    qmp.py SOCKET [--timeout S] wait-migration

COMMAND is a QMP command; a VALUE is JSON, or else a string:

    qmp.py /run/qmp migrate uri=rdma:192.0.2.1:4444
    qmp.py /run/qmp migrate-set-capabilities \\
        capabilities='[{"capability": "rdma-pin-all", "state": true}]'

"hmp" gives LINE to the human monitor; "wait-migration" waits until a migration
is over, prints what query-migrate says then, and fails unless it completed.
What is returned is printed as JSON (text of the human monitor as it is).
"""

import argparse
import json
import socket
import sys
import time

# The states of a migration that nothing follows.
OVER = ("completed", "failed", "cancelled")
STEP = 0.05


class QmpError(Exception):
    """QEMU refused, or went away, or the time was over."""


class Qmp:
    """A connection to one QEMU.

    Replies and events come over one stream: an event that arrives while a
    reply is awaited is kept for wait_event().
    """

    def __init__(self, path, timeout=10, alive=lambda: True):
        """Connects to the socket PATH, as soon as QEMU has made it.

        ALIVE says whether it is worth to wait for it still.
        """
        self.events = []
        self.data = b""
        until = time.monotonic() + timeout
        while True:
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                self.socket.connect(path)
                break
            except OSError as error:
                self.socket.close()
                if not alive() or time.monotonic() > until:
                    raise QmpError(f"{path}: {error.strerror}") from error
            time.sleep(STEP)
        if "QMP" not in self._message(until):
            raise QmpError(f"{path}: no greeting")
        self.execute("qmp_capabilities", timeout=timeout)

    def close(self):
        self.socket.close()

    def _message(self, until):
        while b"\n" not in self.data:
            left = until - time.monotonic()
            if left <= 0:
                raise QmpError("QEMU does not answer in time")
            self.socket.settimeout(left)
            try:
                data = self.socket.recv(1 << 16)
            except TimeoutError:
                continue
            except OSError as error:
                raise QmpError(f"QEMU is gone: {error.strerror}") from error
            if not data:
                raise QmpError("QEMU is gone")
            self.data += data
        line, self.data = self.data.split(b"\n", 1)
        return json.loads(line)

    def execute(self, command, timeout=60, **arguments):
        """What COMMAND returns; '_' in the name of an argument is '-'."""
        message = {"execute": command}
        if arguments:
            message["arguments"] = {name.replace("_", "-"): value
                                    for name, value in arguments.items()}
        try:
            self.socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise QmpError(f"QEMU is gone: {error.strerror}") from error
        until = time.monotonic() + timeout
        while True:
            reply = self._message(until)
            if "event" in reply:
                self.events.append(reply)
            elif "error" in reply:
                raise QmpError(f"{command}: {reply['error']['desc']}")
            else:
                return reply["return"]

    def hmp(self, line):
        """What the human monitor says to LINE."""
        return self.execute("human-monitor-command", **{"command_line": line})

    def wait_event(self, wanted, timeout=60):
        """The first event, of those kept too, for which WANTED is true."""
        until = time.monotonic() + timeout
        while True:
            while self.events:
                event = self.events.pop(0)
                if wanted(event):
                    return event
            message = self._message(until)
            if "event" in message:
                self.events.append(message)

    def capabilities(self, **states):
        """Switches capabilities of migrations."""
        self.execute("migrate-set-capabilities", capabilities=[
            {"capability": name.replace("_", "-"), "state": state}
            for name, state in states.items()])

    def wait_migration(self, timeout=600, states=OVER):
        """query-migrate, as soon as the migration is in one of STATES."""
        until = time.monotonic() + timeout
        while True:
            answer = self.execute("query-migrate")
            if answer.get("status") in states or answer.get("status") in OVER:
                return answer
            if time.monotonic() > until:
                raise QmpError("the migration is not over in time: "
                               + answer.get("status", "none"))
            time.sleep(STEP)


def value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("socket")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("command")
    parser.add_argument("argument", nargs="*")
    options = parser.parse_args()
    try:
        qmp = Qmp(options.socket, options.timeout)
        if options.command == "hmp":
            print(qmp.hmp(" ".join(options.argument)), end="")
        elif options.command == "wait-migration":
            answer = qmp.wait_migration(options.timeout)
            print(json.dumps(answer))
            return 0 if answer["status"] == "completed" else 1
        else:
            arguments = dict(word.split("=", 1) for word in options.argument)
            print(json.dumps(qmp.execute(
                options.command, options.timeout,
                **{name: value(text) for name, text in arguments.items()})))
    except QmpError as error:
        print(f"qmp: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
