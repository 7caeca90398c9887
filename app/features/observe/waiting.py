"""How long processes waited for storage: of the whole system and of each service, from the kernel's pressure (PSI)."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Collection, Mapping
from itertools import accumulate

from backends.host import Host
from backends.text import clean
from backends.topology import parse_mountinfo
from backends.values import dataclass
from widgets.text_utils.units import plural

_PRESSURE = "/proc/pressure/io"
_TOTAL = re.compile(r"^some [^\n]*\btotal=([0-9]{1,19})$", re.ASCII | re.MULTILINE)
_UNITS = (".service", ".scope", ".socket", ".mount", ".swap")
_DEEPEST = 16
_MOST_UNITS, _LEAST_SHARE = 5, 0.01
_LONGEST_S, _COSTLESS = 10.0, 500
"""Time between two readings, and the minimum as a multiple of the CPU time that one takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Share of the time (0..1) in which at least one process waited for storage, for all disks together."""

    share: float | None = None
    """Of the whole system; None if not known."""
    reason: str = ""
    """Why the share is not known, as a part of a sentence."""
    units: Mapping[str, float] | None = None
    """Of each unit of systemd or other group that waited, the longest first; None if not known."""
    units_reason: str = ""
    """Why the units are not known, or not all of them, as a part of a sentence."""


def parse_pressure(text: str) -> int | None:
    """Return the microseconds in which at least one process waited; None if the text is not a pressure file.

    Format: Documentation/accounting/psi.rst of the kernel.
    """
    match = _TOTAL.search(text)
    return int(match[1]) if match is not None else None


def unit_names(groups: Collection[str]) -> Mapping[str, str]:
    """Return the names of the groups that are shown, by path. No I/O.

    A unit of systemd is shown as a whole, unless it contains units itself, as `user@1000.service` does. Of other groups
    those without groups below them are shown. Groups of the same name are shown with their path.
    """
    above = {group: [*accumulate(group.split("/"), "{}/{}".format)][:-1] for group in groups}
    units = {group for group in groups if group.endswith(_UNITS)}
    units -= {outer for unit in units for outer in above[unit]}
    inside = {outer for outers in above.values() for outer in outers}
    shown = units | {group for group in above.keys() - inside if units.isdisjoint(above[group])}
    names = {group: group.rsplit("/", 1)[-1] for group in shown}
    count = Counter(names.values())
    return {group: clean(name if count[name] == 1 else group, 80) for group, name in names.items()}


class WaitMeter:
    """Reads the pressure of the system and of all groups of cgroup v2, and adds up the waits of each group."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._mount = self._reason = self._units_reason = ""
        self._first: int | None = None
        self._now: int | None = None
        self._last: dict[str, int] = {}
        self._waited: Counter[str] = Counter()
        self._unread = 0
        self._begin = self._end = self.due = 0.0

    async def open(self, at: float) -> None:
        """Find the groups, and read everything for the first time. `at`: time in seconds."""
        mounts = parse_mountinfo(await self._host.read("/proc/self/mountinfo") or "")
        self._mount = next((mount.point for mount in mounts if mount.fstype == "cgroup2"), "")
        if not self._mount:
            self._units_reason = "cgroup v2 is not mounted"
        elif await self._host.read(f"{self._mount}/cgroup.type") is not None:  # the machine's root group has no type
            self._mount, self._units_reason = "", "raidbench runs in a container, which shows only its own groups"
        text = await self._host.read(_PRESSURE)
        self._first = self._now = parse_pressure(text or "")
        absent = f"the kernel has no {_PRESSURE} (CONFIG_PSI, and psi=1 at boot if it is off by default)"
        if text is None:
            self._reason = f"this user cannot read {_PRESSURE}" if await self._host.list(_PRESSURE) else absent
        self._last = await self._groups()
        self._begin = self._end = at
        self.due = at + 1

    async def take(self, at: float) -> None:
        """Read everything again, and set the time `due` of the next reading: after 1, 2, 4, 8 s, then every 10 s."""
        if at <= self._end:
            return
        begin, before = time.process_time(), self._now
        self._now = parse_pressure(await self._host.read(_PRESSURE) or "")
        if not self._reason and (self._now is None or before is None or self._now < before):
            self._reason = f"{_PRESSURE} is not as expected, or its counter went backwards"
        longest = (at - self._end) * 1.1e6 + 1e5
        for group, waited in (await self._groups()).items():
            last = self._last.get(group, 0)  # a new group counts from 0, and so does a restarted service
            step = waited - last if waited >= last else waited
            self._waited[group] += step if step <= longest else 0  # it cannot be more than the time that has passed
            self._last[group] = waited
        self._end = at
        self.due = at + max(min(at - self._begin, _LONGEST_S), (time.process_time() - begin) * _COSTLESS)

    async def _groups(self) -> dict[str, int]:
        """Return the waits of all groups below the root of cgroup v2 in microseconds, by path below the mount."""
        files: list[str] = []
        for depth in range(1, _DEEPEST if self._mount else 1):
            level = await self._host.list(f"{self._mount}{'/*' * depth}/io.pressure")
            files += level
            if not level:
                break
        texts = await self._host.read_many(files)
        # A group that has ended since it was listed is not there any more.
        self._unread = len([path for path in files if path not in texts and await self._host.list(path)])
        totals = {path[len(self._mount) + 1 : -len("/io.pressure")]: parse_pressure(texts[path]) for path in texts}
        return {group: total for group, total in totals.items() if total is not None}

    def waiting(self) -> Waiting:
        """Return who waited from the first reading to the last. No I/O."""
        micros = (self._end - self._begin) * 1e6
        early = "" if micros else "there are no two readings yet"
        unread = f"this user cannot read io.pressure of {plural(self._unread, 'group')}" if self._unread else ""
        absent = "" if self._last else unread or "no group of cgroup v2 has a file io.pressure"
        reason, units_reason = self._reason or early, self._units_reason or early or absent
        share = units = None
        if not reason and self._now is not None and self._first is not None:
            share = min(1.0, (self._now - self._first) / micros)
        if not units_reason:
            shares = {name: min(1.0, self._waited[group] / micros) for group, name in unit_names(self._last).items()}
            longest = sorted((name for name in shares if shares[name] >= _LEAST_SHARE), key=lambda name: -shares[name])
            units = {name: shares[name] for name in longest[:_MOST_UNITS]}
        return Waiting(share=share, reason=reason, units=units, units_reason=units_reason or unread)
