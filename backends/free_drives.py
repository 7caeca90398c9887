"""Disks of the kernel that are free for a new array, judged by the guard and by their content."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from backends.array_planning import Candidate
from backends.errors import RaidbenchError
from backends.guard import Intent, judge_device
from backends.host import Host
from backends.model import Drive, Inventory, Media, State
from backends.text import clean

_NO_DISKS = ("loop", "zram", "ram", "zvol", "dm")
"""Interfaces of devices that are no real disks; a multipath disk has its own interface."""

_MEMBERS = {
    "crypto_LUKS": "it has a LUKS header (encrypted volume)",
    "btrfs": "it has a btrfs filesystem, which may span other disks",
}
"""Reasons against disks that are part of something bigger, by blkid's TYPE. A confirmed run may still write to them."""

_AT_ONCE = 2
"""Disks that are examined at the same time: each takes three programs, and a program that starts slowly counts as a
disk that does not answer."""


def kernel_disks(inventory: Inventory) -> tuple[Drive, ...]:
    """Return every disk of the kernel that could be a member, free or not."""
    return tuple(drive for drive in inventory.drives if _is_disk(drive, inventory))


async def kernel_candidates(host: Host, drives: Iterable[Drive]) -> tuple[Candidate, ...]:
    """Return these disks with all reasons against each. Writes nothing."""
    turn = asyncio.Semaphore(_AT_ONCE)

    async def candidate(drive: Drive) -> Candidate:
        async with turn:
            return await kernel_candidate(host, drive)

    return tuple(await asyncio.gather(*map(candidate, drives)))


def _is_disk(drive: Drive, inventory: Inventory) -> bool:
    volumes = {array.device for array in inventory.arrays}
    return (
        drive.device is not None
        and drive.target not in inventory.twins
        and drive.device not in volumes
        and drive.interface not in _NO_DISKS
        and drive.media is not Media.RAM
        and not drive.shown_elsewhere
    )


async def kernel_candidate(host: Host, drive: Drive) -> Candidate:
    """Return a disk as a candidate, judged as for a run that writes to all of it, and by signatures of members."""
    assert drive.device is not None
    bare = Candidate(
        drive=drive.target,
        place=drive.device,
        model=drive.model,
        serial=drive.serial,
        media=drive.media,
        interface=drive.interface,
        size_bytes=drive.size_bytes,
        sector_bytes=drive.logical_block,
        is_visible=True,
    )
    try:
        facts, verdict = await judge_device(host, drive.device, Intent.WRITE)
    except RaidbenchError as error:
        return replace(bare, why_not=(error.message,))
    kinds = dict.fromkeys(signature.kind for signature in facts.signatures if signature.kind in _MEMBERS)
    reasons = [*verdict.refused, *(f"{_MEMBERS[kind]}." for kind in kinds)]
    if drive.state in (State.FAILED, State.MISSING, State.OFFLINE, State.DEGRADED, State.SPARE, State.FOREIGN):
        reasons.append(f"It is {drive.state.value}.")
    return replace(
        bare,
        size_bytes=facts.size_bytes or drive.size_bytes,
        why_not=tuple(clean(reason, 300) for reason in reasons),
        lies=tuple(clean(name, 400) for name in verdict.content),
        signatures=facts.signatures,
        identity=facts.identity,
    )
