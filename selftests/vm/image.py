# SPDX-License-Identifier: GPL-2.0
"""What a test VM boots: a kernel, its initramfs, and an index of its modules.

Everything is made from what is installed (or from a folder that holds an
unpacked kernel package) and kept under build/vm/KERNEL/ until an input changes.
"""

import gzip
import hashlib
import lzma
import os
import re
import shutil
import struct
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# Before the root is mounted, and while it is being mounted.
FIRST = ["virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay"]
SECOND = ["crc32_generic", "virtio_net", "virtio_rng", "dummy", "ib_uverbs", "rdma_rxe", "rdma_ucm"]


class ImageError(Exception):
    """A kernel that cannot be booted, in one line."""


def version_key(release):
    """Orders releases as "sort -V" does, near enough."""
    return [(1, int(part), "") if part.isdigit() else (0, 0, part)
            for part in re.findall(r"\d+|[^\d.]+", release)]


class Kernel:
    """An image and the folder of its modules."""

    def __init__(self, release, image, modules):
        self.release = release
        self.image = image
        self.modules = modules

    @classmethod
    def below(cls, root, release=None, built=None):
        """The named or the newest kernel of a root folder.

        A kernel that rdmamig was built for, below built, comes before others.
        """
        found = {}
        for lib in ("lib", "usr/lib"):
            base = os.path.join(root, lib, "modules")
            for name in os.listdir(base) if os.path.isdir(base) else ():
                image = os.path.join(root, "boot", "vmlinuz-" + name)
                if os.path.exists(image):
                    found.setdefault(name, os.path.join(base, name))
        if not found:
            raise ImageError(f"no kernel with its modules below {root}")
        if release and release not in found:
            raise ImageError(f"kernel {release} is not installed; there is: "
                             + " ".join(sorted(found, key=version_key)))
        name = release or max(found, key=lambda name: (
            os.path.exists(os.path.join(built or "/", name, "rdmamig.ko")),
            version_key(name)))
        return cls(name, os.path.join(root, "boot", "vmlinuz-" + name), found[name])

    @classmethod
    def choose(cls, name, built):
        """The kernel that --kernel names: a release, an image or a folder."""
        if not name:
            return cls.below("/", None, built)
        if os.path.isdir(name):
            return cls.below(os.path.abspath(name))
        if os.path.isfile(name):
            path = os.path.abspath(name)
            release = os.path.basename(path).partition("-")[2]
            return cls.below(os.path.dirname(os.path.dirname(path)), release)
        return cls.below("/", name)


def digest(paths, *words):
    """What the inputs are: content of small files, identity of large ones."""
    total = hashlib.sha256()
    for path in paths:
        state = os.stat(path)
        total.update(f"{path}\0{state.st_size}\0{state.st_mtime_ns}\0".encode())
    for word in words:
        total.update(word.encode() + b"\0")
    return total.hexdigest()


def write_whole(path, data):
    """Replaces a file in one step: two runs may build the same one at once."""
    handle, name = tempfile.mkstemp(dir=os.path.dirname(path))
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.chmod(name, 0o644)
    os.replace(name, path)


def kept(path, key):
    """Whether a file is there and was made from these inputs."""
    try:
        with open(path + ".key", encoding="ascii") as file:
            return file.read() == key and os.path.exists(path)
    except OSError:
        return False


def keep(path, key):
    write_whole(path + ".key", key.encode())


def unpacked(image):
    """The ELF kernel inside a bzImage; None if its packing is not known.

    Booting that saves a guest without KVM the seconds it takes to unpack.
    """
    with open(image, "rb") as file:
        data = file.read()
    if data[0x202:0x206] != b"HdrS":
        return None
    start = (data[0x1f1] + 1) * 512 + struct.unpack_from("<I", data, 0x248)[0]
    payload = data[start:start + struct.unpack_from("<I", data, 0x24c)[0]]
    try:
        if payload[:6] == b"\xfd7zXZ\0":
            result = lzma.LZMADecompressor().decompress(payload)
        elif payload[:4] == b"\x28\xb5\x2f\xfd":
            result = subprocess.run(["zstd", "-dcq"], input=payload, check=False,
                                    stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL).stdout
        elif payload[:2] == b"\x1f\x8b":
            result = gzip.decompress(payload[:-4])
        else:
            return None
    except (OSError, lzma.LZMAError, EOFError):
        return None
    return result if result[:4] == b"\x7fELF" else None


def kernel_file(kernel, folder):
    """The file that QEMU boots."""
    path = os.path.join(folder, "vmlinux")
    key = digest([kernel.image], "1")
    if kept(path, key):
        return path if os.path.getsize(path) else kernel.image
    elf = unpacked(kernel.image)
    write_whole(path, elf or b"")
    keep(path, key)
    return path if elf else kernel.image


class Cpio:
    """An archive in the format that the kernel unpacks."""

    def __init__(self):
        self.parts = []
        self.count = 0

    def add(self, name, mode, data=b""):
        self.count += 1
        raw = name.encode() + b"\0"
        head = "070701" + "".join(f"{field:08x}" for field in (
            self.count, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw), 0))
        for part in (head.encode() + raw, data):
            self.parts.append(part + b"\0" * (-len(part) % 4))

    def folder(self, name):
        self.add(name, 0o040755)

    def file(self, name, source, mode=0o755):
        with open(source, "rb") as file:
            self.add(name, 0o100000 | mode, file.read())

    def link(self, name, target):
        self.add(name, 0o120777, target.encode())

    def bytes(self):
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


def module_files(kernel, index, names):
    """The files of some modules and of what they need, in loading order."""
    root = kernel.modules
    where = {}
    needs = {}
    with open(os.path.join(index, "modules.dep"), encoding="ascii") as file:
        for line in file:
            path, _, rest = line.partition(":")
            name = os.path.basename(path).partition(".")[0].replace("-", "_")
            where[name] = path
            needs[path] = rest.split()
    with open(os.path.join(root, "modules.builtin"), encoding="ascii") as file:
        builtin = {os.path.basename(line.strip())[:-3].replace("-", "_") for line in file}
    order = []
    for name in names:
        if name.replace("-", "_") in builtin:
            continue
        if name not in where:
            raise ImageError(f"kernel {kernel.release} has no module {name}")
        path = where[name]
        order += [need for need in reversed(needs[path]) if need not in order]
        order += [path] if path not in order else []
    return [os.path.join(root, path) for path in order]


def plain_module(path):
    """The content of a module file, unpacked."""
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".xz"):
        return lzma.decompress(data)
    if path.endswith(".gz"):
        return gzip.decompress(data)
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq"], input=data, check=True,
                              stdout=subprocess.PIPE).stdout
    return data


def agent_file(folder):
    """The agent, as a static program: the initramfs has no libraries."""
    source = os.path.join(HERE, "agent.c")
    path = os.path.join(folder, "agent")
    key = digest([source], "1")
    if not kept(path, key):
        temporary = tempfile.mktemp(dir=folder)
        subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-Wall", "-static",
                        "-o", temporary, source], check=True)
        os.replace(temporary, path)
        keep(path, key)
    return path


def initramfs_file(kernel, folder, index, agent):
    """busybox, the modules, "init", and what it copies into the guest."""
    path = os.path.join(folder, "initramfs")
    busybox = shutil.which("busybox") or "/bin/busybox"
    scripts = ["init", "setup"] + ["bin/" + name for name in sorted(
        os.listdir(os.path.join(HERE, "bin")))]
    first = module_files(kernel, index, FIRST)
    both = module_files(kernel, index, FIRST + SECOND)
    key = digest([busybox, agent, os.path.abspath(__file__)] + both
                 + [os.path.join(HERE, name) for name in scripts])
    if kept(path, key):
        return path
    archive = Cpio()
    for name in ("bin", "dev", "proc", "sys", "modules", "guest", "guest/bin"):
        archive.folder(name)
    archive.file("bin/busybox", busybox)
    for name in ("sh", "cat", "cp", "echo", "insmod", "mkdir", "mount", "poweroff",
                 "switch_root"):
        archive.link("bin/" + name, "busybox")
    archive.file("init", os.path.join(HERE, "init"))
    archive.file("guest/agent", agent)
    archive.link("guest/bin/on-peer", "../agent")
    for name in scripts[1:]:
        source = os.path.join(HERE, name)
        if os.path.islink(source):
            archive.link("guest/" + name, os.readlink(source))
        else:
            archive.file("guest/" + name, source)
    lists = {"first": [], "second": []}
    options = {"dummy.ko": " numdummies=0"}
    for module in both:
        name = os.path.basename(module).partition(".ko")[0] + ".ko"
        archive.add("modules/" + name, 0o100644, plain_module(module))
        lists["first" if module in first else "second"].append(
            name + options.get(name, ""))
    for name, entries in lists.items():
        archive.add("modules/" + name, 0o100644,
                    "".join(entry + "\n" for entry in entries).encode())
    write_whole(path, archive.bytes())
    keep(path, key)
    return path


def index_folder(kernel, folder, module):
    """What depmod says of the kernel's modules and rdmamig.ko together."""
    path = os.path.join(folder, "index")
    # A package that was unpacked, not installed, has no modules.dep yet.
    key = digest([os.path.join(kernel.modules, name)
                  for name in ("modules.order", "modules.dep")
                  if os.path.exists(os.path.join(kernel.modules, name))]
                 + ([module] if module else []), "2")
    if kept(path, key):
        return path
    with tempfile.TemporaryDirectory(dir=folder) as base:
        tree = os.path.join(base, "lib", "modules", kernel.release)
        os.makedirs(os.path.join(tree, "updates"))
        for name in os.listdir(kernel.modules):
            if name == "updates" or name in ("build", "source"):
                continue
            if not name.startswith("modules.") or name in (
                    "modules.order", "modules.builtin", "modules.builtin.modinfo"):
                os.symlink(os.path.join(kernel.modules, name), os.path.join(tree, name))
        if module:
            shutil.copy(module, os.path.join(tree, "updates", "rdmamig.ko"))
        subprocess.run(["/sbin/depmod", "-b", base, kernel.release], check=True)
        result = os.path.join(base, "index")
        os.mkdir(result)
        for name in os.listdir(tree):
            source = os.path.join(tree, name)
            if name.startswith("modules.") and not os.path.islink(source):
                os.rename(source, os.path.join(result, name))
        with open(os.path.join(result, "modules.dep"), encoding="ascii") as file:
            if "kernel/" not in file.read():
                raise ImageError(f"depmod found no modules of {kernel.release}")
        if os.path.isdir(path):
            os.rename(path, os.path.join(base, "old"))
        os.rename(result, path)
    keep(path, key)
    return path
