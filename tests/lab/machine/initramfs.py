"""The guest's first root: busybox, a script, and the modules that reach this machine's files."""

from __future__ import annotations

import lzma
import os
import stat
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.lab.machine.missing import LabError, program

SCRIPT = Path(__file__).parent / "init.sh"
FOLDERS = ("bin", "modules", "proc", "sys", "dev", "new", "lower", "upper")


def build_initramfs(version: str, root: Path, out: Path, modules: Iterable[str]) -> None:
    """Write an uncompressed archive to `out`: decompressing is what an emulated processor is slow at."""
    entries = [entry(folder, stat.S_IFDIR | 0o755) for folder in FOLDERS]
    entries.append(entry("init", stat.S_IFREG | 0o755, SCRIPT.read_bytes()))
    entries.append(entry("bin/busybox", stat.S_IFREG | 0o755, Path(program("busybox")).read_bytes()))
    entries.append(entry("bin/sh", stat.S_IFLNK | 0o777, b"busybox"))
    names: list[str] = []
    for file in load_order(version, root, modules):
        names.append(file.name.removesuffix(".xz"))
        data = lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_bytes()
        entries.append(entry(f"modules/{names[-1]}", stat.S_IFREG | 0o644, data))
    entries.append(entry("modules/order", stat.S_IFREG | 0o644, "".join(f"{name}\n" for name in names).encode()))
    entries.append(entry("TRAILER!!!", 0))
    temporary = out.with_suffix(f".{os.getpid()}")
    temporary.write_bytes(b"".join(entries))
    os.replace(temporary, out)


def load_order(version: str, root: Path, modules: Iterable[str]) -> list[Path]:
    """Files of the modules and of what they depend on, in the order in which they have to be loaded.

    Raises LabError for a module that the kernel does not have.
    """
    found: dict[Path, None] = {}
    for module in modules:
        argv = (program("modprobe"), "-d", str(root), "-S", version, "--show-depends", module)
        told = subprocess.run(argv, capture_output=True, text=True)
        if told.returncode:
            raise LabError(f"the kernel {version} has no module {module}: {told.stderr.strip()}")
        for line in told.stdout.splitlines():
            words = line.split()
            if words[0] == "insmod":
                found[Path(words[1])] = None
    return list(found)


def entry(name: str, mode: int, data: bytes = b"") -> bytes:
    """One file of a cpio archive in the kernel's format.

    Documentation/driver-api/early-userspace/buffer-format.rst: `070701`, thirteen numbers of eight hexadecimal
    digits, the name; name and data are padded to four bytes.
    """
    encoded = name.encode() + b"\0"
    numbers = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
    head = b"070701" + b"".join(b"%08X" % number for number in numbers) + encoded
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)
