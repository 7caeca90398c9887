"""The block backend and the guard on a zram device of our own: no serial number, no scheduler, no backing file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.guard import Intent, claim_device, judge_device
from backends.model import Media, Target
from backends.protocol import Backend
from backends.system.local import LocalHost
from backends.testing.conformance import Conformance
from backends.vendors.block.backend import BlockBackend
from tests.backends.loops import needs_loops

CONTROL = Path("/sys/class/zram-control")
pytestmark = [
    pytest.mark.root,
    needs_loops(),
    pytest.mark.skipif(not os.access(CONTROL / "hot_remove", os.W_OK), reason="needs root and the zram driver"),
]


@pytest.fixture
def name() -> Iterator[str]:
    number = (CONTROL / "hot_add").read_text().strip()  # reading makes a new device
    made = f"zram{number}"
    try:
        Path(f"/sys/block/{made}/disksize").write_text("16M")
        yield made
    finally:
        Path(f"/sys/block/{made}/reset").write_text("1")
        (CONTROL / "hot_remove").write_text(number)


class TestZramConforms(Conformance):
    @pytest.fixture
    def backend(self, name: str) -> Backend:
        return BlockBackend(LocalHost())

    @pytest.fixture
    def targets(self, name: str) -> tuple[Target, ...]:
        return (Target(backend="block", address=name),)


async def test_a_zram_device_is_found_as_memory(name: str) -> None:
    drive = next(
        drive for drive in (await BlockBackend(LocalHost()).inventory()).drives if drive.target.address == name
    )
    assert (drive.media, drive.size_bytes, drive.interface) == (Media.RAM, 16 << 20, "zram")


async def test_settings_a_zram_device_lacks_say_so(name: str) -> None:
    now = await BlockBackend(LocalHost()).read(Target(backend="block", address=name))
    assert now["scheduler"].availability.why_not is not None
    assert now["write_cache"].availability.why_not == "a RAM disk has no write cache"


@pytest.mark.long
async def test_its_number_and_sequence_are_identity_enough(name: str) -> None:
    facts, verdict = await judge_device(LocalHost(), f"/dev/{name}", Intent.WRITE)
    assert facts.identity is not None
    assert facts.identity.diskseq
    assert verdict.ok
    async with claim_device(LocalHost(), f"/dev/{name}", Intent.WRITE) as hold:
        with open(hold.path, "wb", buffering=0) as file:
            assert file.write(bytes(4096)) == 4096
