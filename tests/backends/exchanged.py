"""Another loop device under the name of the one that was chosen: it is not held, and no byte of it is written."""

from __future__ import annotations

import asyncio
from pathlib import Path

from backends.errors import DeviceGoneError
from backends.guard import Intent, claim_device, judge_device
from backends.identity import Identity
from backends.system.local import LocalHost
from tests.backends.loops import exchanged
from tests.tally import Tally

SIZE = 1 << 20


async def _chosen(device: str) -> Identity | None:
    facts, _ = await judge_device(LocalHost(), device, Intent.WRITE)
    return facts.identity


async def _held(device: str, meant: Identity) -> bool:
    try:
        async with claim_device(LocalHost(), device, Intent.WRITE, device.removeprefix("/dev/"), meant):
            return True
    except DeviceGoneError:
        return False


def run_swaps(folder: Path, tries: int, seed: int) -> Tally:
    """So many exchanges."""
    tally = Tally()
    first, second = folder / "first", folder / "second"
    first.write_bytes(bytes(SIZE))
    second.write_bytes(b"somebody's" * 1000)
    content = second.read_bytes()
    for number in range(tries):
        with (
            tally.attempt(f"exchange {number}"),
            exchanged(first, second, lambda made: asyncio.run(_chosen(made.device))) as (other, meant),
        ):
            assert meant is not None
            assert not asyncio.run(_held(other.sure(), meant)), "the other device was held for writing"
            assert second.read_bytes() == content
    return tally
