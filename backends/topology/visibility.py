"""Whether it can be seen from here what every program has open: in a container most of them are not even listed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backends.host import Host
from backends.text import clean
from backends.topology.mounts import parse_mountinfo

_INITIAL = {"pid": "pid:[4026531836]", "user": "user:[4026531837]"}
"""The namespaces in which a machine starts (include/linux/proc_ns.h: PROC_PID_INIT_INO, PROC_USER_INIT_INO)."""

_PTRACE, _ANY_FOLDER = 19, (1, 2)
"""CAP_SYS_PTRACE; CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, of which one does (linux/capability.h)."""

_OVER = re.compile(r"/proc/\d+(/.*)?")
_TIMES = 3
"""Looks at a descriptor: it may be closed, and another one opened under its number, at any moment."""
_MOST = 3
"""Programs that a sentence names."""


async def open_files_hidden_reason(host: Host) -> str:
    """Why not all programs can be seen from here, a clause; "" where nothing is known to stand against it."""
    spaces = {kind: await host.link(f"/proc/self/ns/{kind}") for kind in _INITIAL}
    matches = {kind: link.rsplit("/", 1)[-1] for kind, link in spaces.items() if link is not None}
    if matches.get("pid") != _INITIAL["pid"]:
        return "from within a container (another pid namespace) it cannot be seen which programs have it open"
    if matches.get("user", _INITIAL["user"]) != _INITIAL["user"]:  # a kernel may have none but the first
        return "from within another user namespace it cannot be seen which programs have it open"
    rights = _rights(await host.read("/proc/self/status") or "")
    if not rights >> _PTRACE & 1:
        return "without the capability CAP_SYS_PTRACE it cannot be seen which programs have it open"
    if not any(rights >> number & 1 for number in _ANY_FOLDER):
        return "without the capability CAP_DAC_READ_SEARCH it cannot be seen which programs have it open"
    own = parse_mountinfo(await host.read("/proc/self/mountinfo") or "")
    if covered := next((mount.point for mount in own if _OVER.fullmatch(mount.point)), None):
        return f"{clean(covered)} is covered by another file system, so it cannot be seen which programs have it open"
    return ""


def _rights(status: str) -> int:
    """The effective capabilities, one bit each; none where that is not told."""
    match = re.search(r"^CapEff:\s*([0-9a-f]{1,16})$", status, re.MULTILINE)
    return int(match[1], 16) if match is not None else 0


async def hidden_processes_reason(host: Host, descriptors: Sequence[str], empty: Sequence[str]) -> str:
    """Whose open files are kept from being seen, a clause; "" where nobody's are.

    `descriptors`: paths below /proc/PID that told nothing; `empty`: folders of descriptors that listed none. What a
    program closed meanwhile, and a program that has ended, do not count.
    """
    hidden: dict[str, None] = {}
    for path in descriptors:
        pid = path.split("/")[2]
        if pid not in hidden and await _stays(host, path):
            hidden[pid] = None
    for folder in empty:
        stat = await host.stat(folder)  # its size is how many it has (fs/proc/fd.c: proc_fd_getattr, Linux >= 6.2)
        if stat is not None and stat.size > 0 and not await host.list(f"{folder}/*"):
            hidden[folder.split("/")[2]] = None
    if not hidden:
        return ""
    names = [
        f"{clean(await host.read(f'/proc/{pid}/comm') or '?', 32)} (process {pid})" for pid in list(hidden)[:_MOST]
    ]
    more = f" and {len(hidden) - _MOST} more" if len(hidden) > _MOST else ""
    return f"it cannot be seen what {', '.join(names)}{more} has open"


async def _stays(host: Host, path: str) -> bool:
    """Whether a descriptor is there at every look, and tells nothing at any."""
    for _ in range(_TIMES):
        if not await host.list(path) or await host.stat(path) is not None:
            return False
    return True
