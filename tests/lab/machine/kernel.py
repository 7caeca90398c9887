"""A distribution's kernel, downloaded from its package registry and unpacked beside; nothing is installed."""

from __future__ import annotations

import fcntl
import lzma
import os
import re
import shutil
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.lab.machine.initramfs import build_initramfs
from tests.lab.machine.missing import LabError, LabUnavailableError, program

META = "linux-image-amd64"
"""Debian's package that depends on the newest kernel; the kernel's own changes its name with every security update."""

BOOT_MODULES = ("virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay")
"""What the guest needs to reach this machine's files; the rest is loaded from there."""

_NEWEST = re.compile(r"Depends: linux-image-(\d\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A kernel ready to be booted."""

    version: str
    """`6.1.0-56-amd64`."""
    folder: Path
    """Where it lies."""

    @property
    def vmlinux(self) -> Path:
        """The unpacked kernel, which QEMU starts directly: nothing has to be decompressed in the guest."""
        return self.folder / "vmlinux"

    @property
    def initramfs(self) -> Path:
        """The first root."""
        return self.folder / "initramfs"

    @property
    def modules(self) -> Path:
        """What is to be /lib/modules."""
        return self.folder / "lib" / "modules"


def kernel(cache: Path) -> Kernel:
    """The distribution's newest kernel, from the cache if it is there.

    Without a registry the newest one in the cache will do. Raises LabError, LabUnavailableError.
    """
    with _alone(cache):
        found = _newest(cache)
        # quick, and the script in it may have changed
        build_initramfs(found.version, found.folder, found.initramfs, BOOT_MODULES)
    return found


def _newest(cache: Path) -> Kernel:
    for refresh in (False, True):
        if refresh:  # there may be no lists, or they name a kernel that the registry has replaced by now
            _refresh()
        wanted = _wanted(cache)
        if wanted is not None and (wanted.vmlinux.exists() or _fetch(wanted)):
            return wanted
    known = sorted(cache.glob("*/vmlinux"), key=os.path.getmtime)
    if not known:
        raise LabUnavailableError(f"the package registry does not give {META}; apt-get update may help")
    return Kernel(version=known[-1].parent.name, folder=known[-1].parent)


def _wanted(cache: Path) -> Kernel | None:
    """Where the newest kernel is or is to be; None if no registry is known here."""
    told = subprocess.run((program("apt-cache"), "depends", META), capture_output=True, text=True).stdout
    match = _NEWEST.search(told)
    return Kernel(version=match[1], folder=cache / match[1]) if match else None


def _refresh() -> None:
    """Ask the registry for its lists anew, where that is allowed."""
    argv = (program("apt-get"), "-q", "-o", "DPkg::Lock::Timeout=120", "update")
    subprocess.run(argv if os.geteuid() == 0 else ("sudo", "-n", *argv), capture_output=True)


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """One at a time fills the cache."""
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(wanted: Kernel) -> bool:
    """Download and unpack, whole or not at all; False if the registry does not give it."""
    with tempfile.TemporaryDirectory(dir=wanted.folder.parent) as temporary:
        work = Path(temporary)
        # As root apt downloads as a user of its own, who may not come through to this folder.
        argv = (program("apt-get"), "-q", "-o", "APT::Sandbox::User=root", "download", f"linux-image-{wanted.version}")
        loaded = subprocess.run(argv, cwd=work, capture_output=True, text=True)
        archives = list(work.glob("*.deb"))
        if loaded.returncode or not archives:
            return False
        folder = work / "kernel"
        subprocess.run((program("dpkg-deb"), "-x", str(archives[0]), str(folder)), check=True)
        if not (folder / "lib").exists():  # merged into /usr in newer distributions
            (folder / "lib").symlink_to("usr/lib")
        subprocess.run((program("depmod"), "-b", str(folder), wanted.version), check=True)
        image = folder / "boot" / f"vmlinuz-{wanted.version}"
        (folder / "vmlinux").write_bytes(unpacked(image.read_bytes()))
        shutil.rmtree(folder / "boot")
        os.replace(folder, wanted.folder)
    return True


def unpacked(image: bytes) -> bytes:
    """The ELF kernel in a bzImage. Raises LabError.

    Where it lies is in the setup header (Documentation/arch/x86/boot.rst: setup_sects at 0x1f1, payload_offset and
    payload_length at 0x248).
    """
    sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (sectors + 1) * 512 + offset
    payload = image[start : start + length]
    if payload.startswith(b"\xfd7zXZ\0"):
        kernel = lzma.LZMADecompressor().decompress(payload)
    elif payload.startswith(b"\x1f\x8b"):
        kernel = zlib.decompressobj(31).decompress(payload)
    elif payload.startswith(b"\x28\xb5\x2f\xfd"):
        kernel = subprocess.run((program("zstd"), "-dcq"), input=payload, stdout=subprocess.PIPE).stdout
    else:
        raise LabError(f"the kernel is packed in an unknown way: {payload[:6]!r}")
    if not kernel.startswith(b"\x7fELF"):
        raise LabError("the kernel could not be unpacked")
    return kernel
