"""Why the laboratory cannot be opened here."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess

PROGRAMS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    "modprobe": "kmod",
    "depmod": "kmod",
    "dpkg-deb": "dpkg",
    "apt-get": "apt",
    "mdadm": "mdadm",
    "dmsetup": "dmsetup",
    "lvm": "lvm2",
    "cryptsetup": "cryptsetup-bin",
    "nvme": "nvme-cli",
    "hdparm": "hdparm",
    "sdparm": "sdparm",
    "lsscsi": "lsscsi",
    "smartctl": "smartmontools",
    "btrfs": "btrfs-progs",
    "mkfs.ext4": "e2fsprogs",
    "fio": "fio",
    "tmux": "tmux",
}
"""Every program the laboratory needs, outside the machine or in it, and the Debian package it comes in."""

PLACES = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs are looked for: an ordinary user's PATH has no sbin."""


class LabError(Exception):
    """The laboratory should work here and does not."""


class LabUnavailableError(LabError):
    """The laboratory cannot be had on this machine, whose fault is not the project's."""


def program(name: str) -> str:
    """The path of a program. Raises LabUnavailableError."""
    found = shutil.which(name, path=PLACES)
    if found is None:
        raise LabUnavailableError(f"{name} is not installed")
    return found


def check() -> None:
    """Raises LabUnavailableError with the reason and what to do, LabError when it could have been installed."""
    if platform.machine() != "x86_64":
        raise LabUnavailableError(
            f"the guest shares this machine's programs, so it must be x86-64, not {os.uname()[4]}"
        )
    missing = [name for name in PROGRAMS if shutil.which(name, path=PLACES) is None]
    if not missing:
        return
    packages = sorted({PROGRAMS[name] for name in missing})
    words = f"{', '.join(missing)} cannot be found. Install: apt-get install {' '.join(packages)}"
    raise (LabError if installable(packages) else LabUnavailableError)(words)


def installable(packages: list[str]) -> bool:
    """Whether the package manager knows all of them and would be allowed to install them."""
    if shutil.which("apt-cache") is None or shutil.which("apt-get") is None:
        return False
    sudo = ("sudo", "-n", "true")
    if os.geteuid() != 0 and (shutil.which("sudo") is None or subprocess.run(sudo, capture_output=True).returncode):
        return False
    shown = subprocess.run(("apt-cache", "show", "--no-all-versions", *packages), capture_output=True, text=True)
    return shown.returncode == 0
