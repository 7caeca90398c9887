"""Where programs are looked for, and which of them root may run."""

from __future__ import annotations

import grp
import os
import stat
from collections.abc import Sequence

SYSTEM = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""The system's folders: sudo often leaves sbin out of PATH."""

_ADMINISTRATORS = ("root", "wheel", "sudo", "staff")
"""Groups whose members are root if they want to. Debian's /usr/local is writable for staff."""

_MOST_LINKS = 40
"""Links in one path, as many as the kernel follows."""


def search_path() -> str:
    """The folders of PATH, then the system's; for root only those that are root's.

    An empty or relative element means the working directory, where anybody may have put an `lspci`: it is left out.
    """
    own = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    if os.geteuid() == 0:
        own = [
            folder for folder in own if folder in SYSTEM or is_owned_by_root(folder)
        ]  # the system's are taken anyway
    return os.pathsep.join(dict.fromkeys((*own, *SYSTEM)))


def find_program(names: Sequence[str]) -> str | None:
    """Absolute path of the first name that may be executed; root takes only what nobody but root can exchange."""
    folders: list[str] = []  # whose each is takes a while to find out: not for every name
    for name in names:
        if not folders and not os.path.isabs(name):
            folders = search_path().split(os.pathsep)
        for folder in ("",) if os.path.isabs(name) else folders:
            path = os.path.join(folder, name)
            if os.access(path, os.X_OK) and not os.path.isdir(path) and (os.geteuid() != 0 or is_owned_by_root(path)):
                return path
    return None


def is_owned_by_root(path: str) -> bool:
    """Whether a file, every folder above it and every link on the way belong to root, and only root may write there.

    A folder for everybody is taken where it is sticky: nobody can remove or rename root's file in it.
    """
    try:
        resolved = resolve_root_owned(path)
        return resolved is not None and _is_safe(os.lstat(resolved))
    except OSError:
        return False


def resolve_root_owned(path: str) -> str | None:
    """Return the absolute path without links, None where anybody but root could make it lead elsewhere.

    Every folder above and every link on the way has to be root's, as `is_owned_by_root` says. What is there at the end
    may be anybody's, except in a folder for everybody, whose owner could replace it. Nothing else is looked at or
    opened.
    """
    left = [part for part in reversed(path.split("/")) if part]
    here, links = "/", 0
    try:
        info = os.lstat(here)
        while left:
            if not _is_safe(info):  # of a folder, before anything in it is looked at
                return None
            shared = info.st_mode & stat.S_IWOTH
            part = left.pop()
            if part in (".", ".."):
                here = os.path.dirname(here) if part == ".." else here
                info = os.lstat(here)
                continue
            step = os.path.join(here, part)
            info = os.lstat(step)
            if shared and info.st_uid != 0:
                return None
            if not stat.S_ISLNK(info.st_mode):
                here = step
                continue
            links += 1
            if info.st_uid != 0 or links > _MOST_LINKS:
                return None
            target = os.readlink(step)
            here = "/" if target.startswith("/") else here
            left += [part for part in reversed(target.split("/")) if part]
            info = os.lstat(here)
    except (OSError, ValueError):
        return None
    return here


def _is_safe(info: os.stat_result) -> bool:
    if info.st_uid != 0:
        return False
    if stat.S_ISDIR(info.st_mode) and info.st_mode & stat.S_ISVTX:
        return True
    if info.st_mode & stat.S_IWOTH:
        return False
    return not info.st_mode & stat.S_IWGRP or _is_of_administrators(info.st_gid)


def _is_of_administrators(gid: int) -> bool:
    try:
        return grp.getgrgid(gid).gr_name in _ADMINISTRATORS
    except KeyError:
        return gid == 0
