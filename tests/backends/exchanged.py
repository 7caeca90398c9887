"""Another loop device under the name of the one that was chosen: it is not held, and no byte of it is written."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

from backends.errors import DeviceGoneError
from backends.guard import Intent, look_at, secure
from backends.hosts.local import LocalHost
from backends.identity import Identity
from tests.backends.loops import loop, run
from tests.tally import Tally

SIZE = 1 << 20
PATIENCE = 20
"""How often another name is tried where somebody else took this one meanwhile."""


async def _chosen(device: str) -> Identity | None:
    facts, _ = await look_at(LocalHost(), device, Intent.WRITE)
    return facts.identity


async def _held(device: str, meant: Identity) -> bool:
    try:
        async with secure(LocalHost(), device, Intent.WRITE, device.removeprefix("/dev/"), meant):
            return True
    except DeviceGoneError:
        return False


def run_swaps(folder: Path, tries: int, seed: int) -> Tally:
    """So many exchanges."""
    tally = Tally()
    first, second = folder / "first", folder / "second"
    second.write_bytes(b"somebody's" * 1000)
    content = second.read_bytes()
    for number in range(tries):
        with tally.attempt(f"exchange {number}"):
            device, meant = _exchanged(first, second)
            try:
                assert not asyncio.run(_held(device, meant)), "the other device was held for writing"
                assert second.read_bytes() == content
            finally:
                assert run("losetup", "-nO", "BACK-FILE", device).strip() == str(second)
                run("losetup", "--detach", device)
    return tally


def _exchanged(first: Path, second: Path) -> tuple[str, Identity]:
    """A device's name and what it was; by now it is another one, over the second file."""
    for _ in range(PATIENCE):
        with loop(first, size=SIZE) as made:
            meant = asyncio.run(_chosen(made.device))
        assert meant is not None
        taken = subprocess.run(["losetup", made.device, str(second)], capture_output=True)
        if taken.returncode == 0:
            return made.device, meant
    raise AssertionError("the name was always taken by somebody else")
