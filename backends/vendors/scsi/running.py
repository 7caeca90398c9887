"""Makes changes: one step after the other, each for the very disk that was planned for."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from backends.change import Change, Write
from backends.changing import evidence_of, take_steps
from backends.errors import RefusedError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.text import clean
from backends.vendors.scsi import hdparm, sdparm
from backends.vendors.scsi.disks import Disk, Kind
from backends.vendors.scsi.settings import BITS, OPTIONS

SET_SECONDS = 60.0
"""After this a change is slow; it is waited for all the same."""

Check = Callable[[], Awaitable[None]]
"""Raises DeviceGoneError unless the disk is still the one that was planned for."""


class NotSaveableError(ToolFailedError):
    """The drive has saved values and yet cannot save this page."""


class ScsiRunner:
    """Runs the steps of a change on one host."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def run(self, change: Change, disk: Disk, tool: str | None, same: Check) -> None:
        """All steps in order, up to the first that fails; the identity of the disk is checked before each.

        Raises ToolFailedError in the tool's or kernel's words, RefusedError for a step that is none of this disk's.
        """
        for step in change.writes:
            _require_ours(step, change, disk, tool)

        async def take(step: Write) -> None:
            if step.path is not None:
                await self._host.write(step.path, step.text or "")
            else:
                await self._tool(step, disk.kind)

        await take_steps(change, take, same=same)

    async def _tool(self, step: Write, kind: Kind) -> None:
        command = Command(argv=step.argv, timeout=SET_SECONDS, mutates=True)
        done = await self._host.run(command)
        if kind is Kind.SCSI and sdparm.attention(done.returncode, _text(done)):
            done = await self._host.run(command)
        said = _refusal(kind, done)
        if said is None:
            return
        evidence = evidence_of(command, done)
        if kind is Kind.SCSI and done.returncode == sdparm.NOT_SAVEABLE:
            raise NotSaveableError(said, hint="Plan it again: it will be set without --save.", evidence=evidence)
        raise ToolFailedError(said, evidence=evidence)


def _refusal(kind: Kind, done: Completed) -> str | None:
    """Why a tool did not do it; None if it did, as far as it knows."""
    if kind is Kind.SCSI:
        return sdparm.refusal(done.returncode, _text(done))
    said = hdparm.refusal(_text(done))
    if said is None and done.returncode:
        said = clean((done.stderr or done.stdout).strip().rsplit("\n", 1)[-1]) or f"exit status {done.returncode}"
    return said


def _text(done: Completed) -> str:
    return f"{done.stdout}\n{done.stderr}"


def _require_ours(step: Write, change: Change, disk: Disk, tool: str | None) -> None:
    """What is in a journal is not trusted to write any file or run any program but those of this very setting."""
    if step.path is not None:
        ours = step.path in {disk.below("queue_depth"), disk.below("rescan"), disk.cache_path}
    else:
        ends = len(step.argv) > 2 and step.argv[0] == tool and step.argv[-1] == disk.node.device
        ours = ends and _SWITCH[disk.kind](change.key, " ".join(step.argv[1:-1]))
    if not ours:
        raise RefusedError(f"A step of this change is none of {disk.node.device}: {clean(step.shown(), 200)}.")


def _hdparm_switch(key: str, words: str) -> bool:
    return key in OPTIONS and re.fullmatch(OPTIONS[key] + r"\d{1,3}", words) is not None


def _sdparm_switch(key: str, words: str) -> bool:
    return key in BITS and re.fullmatch(f"--set={BITS[key][0]}=[01]( --save)?", words) is not None


_SWITCH: dict[Kind, Callable[[str, str], bool]] = {
    Kind.ATA: _hdparm_switch,
    Kind.SCSI: _sdparm_switch,
    Kind.VOLUME: lambda key, words: False,
}
"""By kind: whether these words between program and disk change the setting of this key."""
