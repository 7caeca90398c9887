"""Disks of the kernel that are free for a new array, according to the guard and their content."""

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
"""Interfaces of devices that are no real disks. A disk with several paths has the interface of its paths."""

_MEMBERS = {
    "crypto_LUKS": "it has a LUKS header (encrypted volume)",
    "btrfs": "it has a btrfs filesystem, which may span other disks",
}
"""Reasons against a member whose content may belong to a larger volume, by blkid's TYPE.

They do not apply to benchmarks: a run that the user confirmed may write to such a disk.
"""

_AT_ONCE = 2
"""Number of disks that are examined at the same time.

Each needs three programs. If too many start at once, a slow start would look like a disk that does not answer.
"""


def kernel_disks(inventory: Inventory) -> tuple[Drive, ...]:
    """Return every kernel disk that could become a member of an array, whether it is free or not."""
    return tuple(drive for drive in inventory.drives if _is_disk(drive, inventory))


async def kernel_candidates(host: Host, drives: Iterable[Drive]) -> tuple[Candidate, ...]:
    """Return `drives` as candidates for members, each with all reasons against it. Writes nothing."""
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
    """Return a disk as a candidate for a member, with all reasons against it.

    The reasons are the guard's against writing to the whole disk, those of `_MEMBERS`, and an unsuitable state.
    """
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
