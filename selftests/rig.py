# SPDX-License-Identifier: GPL-2.0
"""What the demo and the benchmark run and measure: see Guest, Memhold, Meter.

All of it is meant for the test VM (vm/README.md): root, a soft-RoCE device,
and the built programs on PATH.
"""

import atexit
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time

from qmp import Qmp, QmpError

PAGE = os.sysconf("SC_PAGESIZE")
TICK = 1 / os.sysconf("SC_CLK_TCK")
MIB = 1 << 20
STEP = 0.05

_processes = []


class RigError(Exception):
    """Something that should have worked did not."""


# ---- processes ----

@atexit.register
def _kill_all():
    for process in _processes:
        if process.poll() is None:
            process.kill()
            process.wait()


def spawn(*argv, **options):
    """A process that does not outlive this one."""
    options.setdefault("stdin", subprocess.DEVNULL)
    try:
        process = subprocess.Popen(argv, text=True, **options)
    except FileNotFoundError as error:
        raise RigError(f"{argv[0]}: not found: is it built, and on PATH?") from error
    _processes.append(process)
    return process


def stop(process, timeout=20):
    """Ends a process that waits for nothing but that."""
    process.terminate()
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired as error:
        raise RigError(f"{process.args[0]}: does not end") from error


def output(*argv, timeout=120):
    """What a command prints; it must succeed."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, text=True,
                              timeout=timeout, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise RigError(f"{argv[0]}: not found") from error
    except subprocess.TimeoutExpired as error:
        raise RigError(f"{' '.join(argv)}: no end within {timeout} s") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise RigError(f"{' '.join(argv)}: exit status {done.returncode}: {said}")
    return done.stdout


def ctl(*words):
    """What rdmamigctl prints."""
    return output("rdmamigctl", *words).strip()


def stats(session):
    """The counters of a session, by name."""
    return json.loads(ctl("-j", "stats", session))["stats"][0]


def until(wanted, what, timeout=20, step=STEP):
    """Polls until WANTED() is true, and returns what it gave."""
    end = time.monotonic() + timeout
    while not (result := wanted()):
        if time.monotonic() > end:
            raise RigError(f"{what}: not within {timeout} s")
        time.sleep(step)
    return result


# ---- what the machine says ----

def lines_of(path):
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read().splitlines()


def settle_counters():
    """Makes the kernel add up its counters a processor, now."""
    with open("/proc/sys/vm/stat_refresh", "rb") as file:
        file.read()


class Pinned:
    """The bytes that are pinned in the whole machine, by anyone."""

    def __init__(self):
        self.file = os.open("/proc/vmstat", os.O_RDONLY)

    def read(self):
        text = os.pread(self.file, 1 << 16, 0)
        at = text.index(b"nr_foll_pin_acquired")
        words = text[at:at + 100].split(None, 4)
        return (int(words[1]) - int(words[3])) * PAGE

    @staticmethod
    def slack():
        """How far the counter can be off while no one has added it up."""
        most = max(int(line.split()[3]) for line in lines_of("/proc/zoneinfo")
                   if "vm stats threshold" in line)
        return most * os.cpu_count() * PAGE


def pinned_now():
    settle_counters()
    return Pinned().read()


def locked(pid):
    """The bytes charged to the locked memory of a process."""
    for line in lines_of(f"/proc/{pid}/status"):
        if line.startswith("VmLck:"):
            return int(line.split()[1]) << 10
    return 0


def busy_seconds():
    """Processor time that was not idle, since the boot."""
    user, nice, system, _, _, irq, softirq, steal = map(
        int, lines_of("/proc/stat")[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) * TICK


def rdma_resources():
    """The objects of each RDMA device, as one text to compare."""
    return "\n".join(line.strip() for line in
                     output("rdma", "resource", "show").splitlines())


class Meter:
    """Watches the machine while a with block runs.

    peak is the most that was pinned in the whole machine beyond what was
    before, seconds how long it took, cpu the processor time that went. The
    locked memory of the processes in pids is watched too: see locked.
    """

    INTERVAL = 0.01

    def __init__(self, pids=()):
        self.pids = pids
        self.peak = 0
        self.samples = 0
        self.locked = {pid: 0 for pid in pids}
        self.over = threading.Event()

    def _sample(self):
        self.peak = max(self.peak, self.pinned.read() - self.base)
        for pid in self.pids:
            self.locked[pid] = max(self.locked[pid], locked(pid))
        self.samples += 1

    def _watch(self):
        while not self.over.wait(self.INTERVAL):
            self._sample()

    def __enter__(self):
        settle_counters()
        self.pinned = Pinned()
        self.base = self.pinned.read()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()
        self.busy = busy_seconds()
        self.began = time.monotonic()
        return self

    def lap(self):
        return time.monotonic() - self.began

    def stop(self):
        """The time is over, but the most that is pinned may still come."""
        self.seconds = self.lap()
        self.cpu = busy_seconds() - self.busy

    def __exit__(self, *_):
        if not hasattr(self, "seconds"):
            self.stop()
        self.over.set()
        self.thread.join()


# ---- those whose memory moves ----

class Memhold:
    """A process with RAM blocks (tools/memhold.c); SPECS as there."""

    def __init__(self, *specs, seed=1):
        self.process = spawn("memhold", "-s", str(seed), *specs,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.vm = self._until("ready")["vm"].split()
        self.pid = self.process.pid

    def _until(self, last):
        """The lines up to LAST, by their first words."""
        said = {}
        for line in self.process.stdout:
            if line.strip() == last:
                return said
            name, _, rest = line.strip().partition(" ")
            said[name] = rest
        raise RigError("memhold: ended by itself")

    def hash(self):
        self.process.stdin.write("hash\n")
        self.process.stdin.flush()
        return self._until("done")["hash"]

    def stop(self):
        stop(self.process)


class Guest:
    """A stock QEMU with a guest that stands still; its RAM is FILE."""

    def __init__(self, folder, name, file, size, incoming=False):
        self.log = f"{folder}/{name}.log"
        monitor = f"{folder}/{name}.qmp"
        self.argv = [
            "qemu-system-x86_64", "-S", "-no-user-config", "-nodefaults",
            "-display", "none",
            "-machine", "pc,accel=tcg,memory-backend=pc.ram", "-m", f"{size // MIB}M",
            "-object", "memory-backend-file,id=pc.ram,share=on,"
            f"size={size},mem-path={file}",
            "-qmp", f"unix:{monitor},server=on,wait=off",
            # Tells where the memory of each block is: see blocks().
            "-trace", "rdma_add_block", "-D", self.log]
        if incoming:
            self.argv += ["-incoming", "defer"]
        self.errors = tempfile.TemporaryFile("w+")
        self.process = spawn(*self.argv, stdout=self.errors, stderr=self.errors)
        self.pid = self.process.pid
        self.qmp = self.tell(Qmp, monitor, 60, lambda: self.process.poll() is None)
        # The end of a migration comes as an event then: no polling.
        self.qmp.capabilities(events=True)
        self.qmp.execute("migrate-set-parameters", max_bandwidth=1 << 40)

    def tell(self, call, *arguments, **named):
        """Calls; what QEMU said goes with the error, if there is one."""
        try:
            return call(*arguments, **named)
        except QmpError as error:
            self.errors.seek(0)
            said = self.errors.read().strip()
            raise RigError(f"{error}\n{said}" if said else str(error)) from error

    def version(self):
        version = self.qmp.execute("query-version")["qemu"]
        return f"{version['major']}.{version['minor']}.{version['micro']}"

    def migrate(self, uri):
        """Returns as soon as QEMU has connected."""
        self.tell(self.qmp.execute, "migrate", uri=uri, timeout=120)

    def migrated(self, timeout=600):
        """Waits until a migration, out or in, has completed."""
        over = ("completed", "failed", "cancelled")
        event = self.tell(self.qmp.wait_event, timeout=timeout, wanted=lambda event:
                          event["event"] == "MIGRATION"
                          and event["data"]["status"] in over)
        if event["data"]["status"] != "completed":
            answer = self.qmp.execute("query-migrate")
            self.tell(self._fail, answer.get("error-desc", event["data"]["status"]))

    @staticmethod
    def _fail(reason):
        raise QmpError(f"QEMU: the migration failed: {reason}")

    def blocks(self):
        """Name to (address in QEMU, length) of what a migration moved.

        By rdma_add_block: QEMU logs each block as it connects.
        """
        line = re.compile(r"Added Block: '([^']*)':\d+, addr: (\d+), .*"
                          r"length: (\d+)")
        found = [line.search(text) for text in lines_of(self.log)]
        return {match[1]: (int(match[2]), int(match[3])) for match in found if match}

    def same_memory(self, name, path):
        """Whether a file holds exactly what the guest's block NAME holds."""
        address, length = self.blocks()[name]
        if os.path.getsize(path) != length:
            return False
        with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as memory, \
                open(path, "rb", buffering=0) as file:
            memory.seek(address)
            while length:
                step = min(length, MIB)
                if memory.read(step) != file.read(step):
                    return False
                length -= step
        return True

    def stop(self):
        self.qmp.close()
        stop(self.process)


# ---- files ----

def work_folder(name):
    """A folder in memory, gone when this program is."""
    folder = f"/dev/shm/{name}"
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        raise RigError(f"{folder}: is there already") from None
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def random_file(path, size, holes=0):
    """SIZE bytes, all random but for the last HOLES."""
    with open(path, "wb", buffering=0) as file:
        left = size - holes
        while left:
            left -= file.write(os.urandom(min(left, MIB)))
        file.truncate(size)


def same_files(one, other):
    return subprocess.run(["cmp", "-s", one, other], check=False).returncode == 0


def received(folder):
    """The blocks of a received directory: name to path."""
    with open(f"{folder}/manifest.json", encoding="utf-8") as file:
        return {block["name"]: f"{folder}/{block['file']}"
                for block in json.load(file)["blocks"]}


def megabytes(size):
    return f"{size / MIB:.1f} MiB"


def parse_size(text):
    match = re.fullmatch(r"(\d+)([KMG]?)", text)
    if not match:
        raise RigError(f"{text}: not a size: bytes, or a number with K, M or G")
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2]]


def address():
    try:
        return os.environ["RDMAMIG_ADDR"]
    except KeyError:
        raise RigError("RDMAMIG_ADDR is not set: this runs in the test VM, "
                       "by make or selftests/vm/run") from None
