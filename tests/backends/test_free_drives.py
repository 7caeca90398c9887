"""Which of the kernel's disks are free to make an array of: every state that a run may not write over, and more."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from backends.array_planning import Candidate
from backends.free_drives import kernel_candidate, kernel_disks
from backends.model import Drive, Inventory, Target
from backends.system.local import LocalHost
from tests.backends import loops
from tests.backends.guard_states import STATES
from tests.backends.loops import loop, needs_loops, needs_sight

REAL = [pytest.mark.root, needs_loops(), needs_sight()]
PLAIN = {"ext4, not named": "ext4", "swap, not named": "swap", "GPT, not named": "pmbr"}
"""What lies on a drive by itself: lost after its word, and no member of anything."""


async def looked_at(device: str) -> Candidate:
    drive = Drive(target=Target(backend="block", address=device.removeprefix("/dev/")), device=device)
    return await kernel_candidate(LocalHost(), drive)


@pytest.mark.long
@pytest.mark.parametrize("state", [pytest.param(state, marks=REAL) for state in STATES])
async def test_a_drive_in_any_of_these_states_is_not_free_unless_something_plain_lies_on_it(
    state: str, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        made = STATES[state](tmp_path, stack)
        one = await looked_at(made.device)
    if state in PLAIN:
        assert (one.free, PLAIN[state] in " ".join(one.lies).lower()) == (True, True)
    else:
        assert one.why_not


@pytest.mark.parametrize(
    ("offset", "data", "why"),
    [
        pytest.param(0, loops.luks_header, "it has a LUKS header", marks=REAL),
        pytest.param(4096, loops.md_superblock, "RAID or multipath set", marks=REAL),
        pytest.param(512, loops.lvm_label, "physical volume", marks=REAL),
    ],
)
async def test_what_mdadm_would_write_over_without_asking_is_refused_with_no_way_round(
    offset: int, data: object, why: str, tmp_path: Path
) -> None:
    with loop(tmp_path / "disk") as made:
        assert callable(data)
        made.write(offset, data())
        one = await looked_at(made.device)
    assert why in " ".join(one.why_not)


@pytest.mark.parametrize("blank", [pytest.param(True, marks=REAL)])
async def test_a_blank_drive_that_nothing_uses_is_free(blank: bool, tmp_path: Path) -> None:
    with loop(tmp_path / "disk") as made:
        one = await looked_at(made.device)
    assert (one.free, one.lies, one.is_visible) == (blank, (), True)


def test_loop_devices_and_arrays_are_no_drives() -> None:
    drives = (
        Drive(target=Target(backend="block", address="loop0"), device="/dev/loop0", interface="loop"),
        Drive(target=Target(backend="block", address="zram0"), device="/dev/zram0", interface="zram"),
        Drive(target=Target(backend="acme", address="c0/1")),
    )
    assert kernel_disks(Inventory(drives=drives)) == ()
