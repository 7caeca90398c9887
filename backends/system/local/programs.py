"""Search for programs, and check whether root can run them safely."""

from __future__ import annotations

import grp
import os
import stat
from collections.abc import Sequence

SYSTEM = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""System folders, which are searched in addition to PATH: sudo often leaves sbin out of PATH."""

_ADMINISTRATORS = ("root", "wheel", "sudo", "staff")
"""Groups whose members can become root. Debian's /usr/local is writable for staff."""

_MOST_LINKS = 40
"""Maximum number of symbolic links in one path; the kernel has the same limit."""


def search_path() -> str:
    """Return the folders of PATH, then the system folders. For root, folders that other users can write are left out.

    Empty and relative elements are left out: they mean the working directory, where any user may have put an `lspci`.
    """
    folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    if os.geteuid() == 0:
        folders = [folder for folder in folders if folder in SYSTEM or is_owned_by_root(folder)]
    return os.pathsep.join(dict.fromkeys((*folders, *SYSTEM)))


def find_program(names: Sequence[str]) -> str | None:
    """Return the path of the first of `names` that can be executed, or None.

    For root, programs that other users can replace are skipped.
    """
    folders: list[str] = []  # computed once, because checking the owners of all folders is slow
    for name in names:
        if not folders and not os.path.isabs(name):
            folders = search_path().split(os.pathsep)
        for folder in ("",) if os.path.isabs(name) else folders:
            path = os.path.join(folder, name)
            if os.access(path, os.X_OK) and not os.path.isdir(path) and (os.geteuid() != 0 or is_owned_by_root(path)):
                return path
    return None


def is_owned_by_root(path: str) -> bool:
    """Return whether only root can write the file, every folder above it and every link in its path.

    A world-writable folder is accepted if it is sticky, because other users cannot remove or rename root's files
    there.
    """
    try:
        resolved = resolve_root_owned(path)
        return resolved is not None and _is_safe(os.lstat(resolved))
    except OSError:
        return False


def resolve_root_owned(path: str) -> str | None:
    """Return the absolute path without links; None if any user but root could redirect it.

    The rules of `is_owned_by_root` apply to the folders and links in the path. The final file may have
    any owner, except in a world-writable folder, where its owner could replace it. Nothing is opened.
    """
    left = [part for part in reversed(path.split("/")) if part]
    here, links = "/", 0
    try:
        info = os.lstat(here)
        while left:
            if not _is_safe(info):  # check a folder before using anything in it
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
