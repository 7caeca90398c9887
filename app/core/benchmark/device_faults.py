"""Device faults during a run: a device disappeared or is offline, an array lost members, or I/O stalled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from app.core.benchmark.device_stats import Member
from app.core.fio.stalls import find_stalls, longest_unexplained_stall
from app.core.session.results import MemberStats, RunResult, RunStatus, Sample
from backends.host import Host
from backends.topology import kernel_name
from backends.topology.tree import number
from backends.values import dataclass
from widgets.text_utils import units

REDUNDANCY = {"raid1": None, "raid4": 1, "raid5": 1, "raid6": 2}
"""Number of members that an md array can lose, by its level; None means all but one. It is unknown for other levels."""

_LOST = {
    "faulty": "failed during the run and is marked faulty",
    "removed": "was removed from its array during the run",
    "gone": "disappeared during the run",
}
"""Clauses that say how a member was lost, by its role at the end of the run (`MemberStats.role`)."""

_WORKING = ("running", "live")
"""Values of device/state for a working disk (drivers/scsi/scsi_sysfs.c, drivers/nvme/host/sysfs.c)."""

_LEAVING = ("cancel", "deleted", "deleting", "deleting (no IO)", "dead", "transport-offline")
"""Values of device/state for a disk that the kernel is removing, which takes a moment."""

_ATTEMPTS = 8
_BETWEEN_S = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceHealth:
    """State of a disk at one moment. If the disk is an md array, the state includes that of the array."""

    name: str
    """Kernel name."""
    sequence: str | None
    """Identity of the disk: `diskseq`, or else its device number.

    Another disk that gets the same name has another identity.

    None if there is no disk with this name.
    """
    state: str | None = None
    """Value of device/state of a SCSI or NVMe disk: `running`, `offline`, `live`, `dead`; None for other devices."""
    level: str | None = None
    """Level of an md array: `raid5`; None for other devices."""
    members: int | None = None
    """Number of members that the array should have; None for other devices."""
    missing: int | None = None
    """Number of members that are missing; None for other devices."""

    @property
    def broken(self) -> bool:
        """Return whether the array lacks more members than its level can lose."""
        if self.level not in REDUNDANCY or not self.missing:
            return False
        redundancy = REDUNDANCY[self.level]
        most = redundancy if redundancy is not None else (self.members or 0) - 1
        return self.missing > most


class FaultDetector:
    """Compares the device state before and after a run and records faults in the results."""

    def __init__(
        self, host: Host, before: Sequence[DeviceHealth | None], samples: Callable[[], Sequence[Sample]]
    ) -> None:
        """Create a detector for one run.

        `before`: state of each disk at the start, None if unknown. `samples`: returns the samples of the run.
        """
        self._host = host
        self._before = [health for health in before if health is not None]
        self._samples = samples

    async def explain(
        self, figures: RunResult, members: Sequence[Member] = (), *, ramp: float = 0.0, idle_s: float = 0.0
    ) -> RunResult:
        """Return the results with the faults of the devices and their members.

        `members`: members at the start of the run. `ramp`: seconds before the measured phase, without the wait for the
        steady state. `idle_s`: seconds that the job itself pauses between I/Os.
        """
        waited = figures.steady.waited_s if figures.steady is not None else 0.0
        figures = with_standstill(figures, self._samples(), measured_from=ramp + waited, idle_s=idle_s)
        roles = {member.device: member.role for member in members}
        afters = await asyncio.gather(*(read_final_health(self._host, before, figures) for before in self._before))
        reason = figures.reason
        for before, after in zip(self._before, afters, strict=True):
            if figures.reason == reason:  # the first disk that explains the failure is enough
                figures = with_device_faults(figures, before, after, roles)
        return replace(figures, warnings=tuple(dict.fromkeys(figures.warnings)))


async def make_fault_detector(
    host: Host, samples: Callable[[], Sequence[Sample]], devices: Sequence[str]
) -> FaultDetector:
    """Return a fault detector for a run on the disks with these device nodes."""
    return FaultDetector(host, [await read_device_health(host, device) for device in devices], samples)


async def read_device_health(host: Host, device: str) -> DeviceHealth | None:
    """Return the state of the disk at a device node; None on a simulated or recorded host."""
    if not host.capabilities.live:
        return None
    name = kernel_name(device)
    folder = f"/sys/block/{name}"
    names = ("diskseq", "dev", "device/state", "md/level", "md/raid_disks", "md/degraded")
    texts = await host.read_many([f"{folder}/{name}" for name in names])
    texts_by_name = {name: text.strip() for name in names if (text := texts.get(f"{folder}/{name}")) is not None}
    return DeviceHealth(
        name=name,
        sequence=texts_by_name.get("diskseq", texts_by_name.get("dev")) if "dev" in texts_by_name else None,
        state=texts_by_name.get("device/state"),
        level=texts_by_name.get("md/level"),
        members=number(texts_by_name.get("md/raid_disks")),
        missing=number(texts_by_name.get("md/degraded")),
    )


async def read_final_health(host: Host, before: DeviceHealth, figures: RunResult) -> DeviceHealth:
    """Return the state of a disk after a run.

    After a failed run, the state is read several times: the I/O of a removed disk fails a moment before the disk
    disappears.
    """
    after = before
    for attempt in range(_ATTEMPTS if figures.status is RunStatus.FAILED else 1):
        if attempt:
            await asyncio.sleep(_BETWEEN_S)
        after = await read_device_health(host, f"/dev/{before.name}") or before
        if after.sequence != before.sequence or after.broken or after.state == "offline":
            break
    return after


def with_device_faults(
    figures: RunResult, before: DeviceHealth, after: DeviceHealth, roles: Mapping[str, str] | None = None
) -> RunResult:
    """Return the results with the faults of the device and its members. No I/O.

    `roles`: roles of the members at the start of the run.
    """
    lost = lost_members(figures.members, roles or {})
    warnings = (*figures.warnings, *_member_warnings(lost, after))
    if figures.status is not RunStatus.FAILED:
        return replace(figures, warnings=warnings)
    reason, hint = _fault_reason(before, after) or (figures.reason, figures.hint)
    return replace(figures, reason=reason, hint=hint, warnings=warnings)


def _fault_reason(before: DeviceHealth, after: DeviceHealth) -> tuple[str, str] | None:
    """Return why the run failed, and a hint, from the kernel's state of the device; None if it explains nothing.

    fio's error number is not used, because it depends on a race.
    """
    name = before.name
    if after.sequence is None or after.state in _LEAVING:
        return (
            f"The device disappeared: {name} was unplugged, removed or failed during the run",
            "Read the kernel log for the cause. When the device is back, scan again: its name may have changed.",
        )
    if after.sequence != before.sequence:
        return (
            f"The device was replaced: {name} is now a different device",
            "Scan the hardware again and select the device again.",
        )
    if after.broken:
        return (
            f"The array has failed: {name} ({after.level}) lacks {after.missing} of its {after.members} members",
            (
                f"Find the cause with `mdadm --detail /dev/{name}` and the kernel log. Do not re-create the "
                "array: that destroys its data."
            ),
        )
    if after.state is not None and after.state not in _WORKING:
        return (
            f"The device is {after.state}: the kernel blocks all I/O to {name}",
            (
                'Read the kernel log for the cause. To allow I/O again, write "running" to '
                f"/sys/block/{name}/device/state."
            ),
        )
    return None


def lost_members(members: Sequence[MemberStats], roles: Mapping[str, str]) -> tuple[MemberStats, ...]:
    """Return the members that failed or were removed since the start of the run."""
    return tuple(member for member in members if member.role in _LOST and roles.get(member.device, "") != member.role)


def lost_text(member: MemberStats) -> str:
    """Return a clause about a lost member: `sdb failed during the run and is marked faulty`."""
    return f"{member.device} {_LOST[member.role]}"


def _member_warnings(lost: Sequence[MemberStats], after: DeviceHealth) -> Iterator[str]:
    for member in lost:
        yield lost_text(member)
    if lost and after.missing and not after.broken:
        yield (
            f"{after.name} is now degraded ({after.missing} of {after.members} members missing). The results "
            "mix the state before and after that. Replace the member, let the array rebuild, then measure again"
        )
    elif lost and not after.broken:
        yield "The results mix the state before and after the fault. Fix the fault, then measure again"


def with_standstill(
    figures: RunResult, samples: Sequence[Sample], *, measured_from: float = 0.0, idle_s: float = 0.0
) -> RunResult:
    """Return the results with a sentence about the longest stall. An unexplained stall makes the run fail. No I/O.

    `measured_from`: start of the measured phase in seconds. `idle_s`: seconds that the job itself pauses between I/Os.
    """
    sentence = standstill_text(samples, measured_from)
    if sentence is None:
        return figures
    flush = 0 if figures.sync is None else figures.sync.latency_ns.max or 0
    still = longest_unexplained_stall(samples, idle_s=idle_s, flush_s=flush / 1e9)
    if still is None:
        return replace(figures, warnings=(*figures.warnings, sentence))
    figures = replace(figures, still_s=still.seconds)
    if figures.status is not RunStatus.OK:
        return replace(figures, warnings=(*figures.warnings, sentence))
    return replace(figures, status=RunStatus.FAILED, reason=f"{sentence}.", hint=_STILL_HINT)


_STILL_HINT = "The results mix two states of the device. Find the cause of the stall, then measure again."


def standstill_text(samples: Sequence[Sample], measured_from: float) -> str | None:
    """Return a sentence about the longest stall; None if there is none.

    `measured_from`: start of the measured phase in seconds. The times in the sentence count from the start of the run,
    as in the graph and in notices.
    """
    stalls = find_stalls(samples)
    if not stalls:
        return None
    longest = max(stalls, key=lambda stall: stall.seconds)
    more = f" (the longest of {len(stalls)} stalls)" if len(stalls) > 1 else ""
    return (
        f"{longest.text} at {units.elapsed(measured_from + longest.at)}{more}: the device stalled. Check the "
        "kernel log for timeouts and resets"
    )
