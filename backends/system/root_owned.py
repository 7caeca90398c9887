"""Check whether only root can write to a path. Nothing is opened."""

from __future__ import annotations

import grp
import os
import stat

_ADMINISTRATORS = ("root", "wheel", "sudo", "staff")
"""Groups whose members can become root. Debian's /usr/local is writable for staff."""

_MOST_LINKS = 40
"""Maximum number of symbolic links in one path; the kernel has the same limit."""


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
