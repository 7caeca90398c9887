"""What tests about devices stand on: files that keep the room they were made with, and leave none taken behind."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.backends.loops import ext4, loop, needs_loops, run
from tests.packages import needs

SIZE = 64 << 20


def taken(file: Path) -> int:
    """Bytes of the disk that a file has."""
    return os.stat(file).st_blocks * 512


@pytest.mark.root
@needs_loops()
@needs("mkfs.ext4")
def test_a_file_system_leaves_the_file_beneath_all_its_room(tmp_path: Path) -> None:
    with loop(tmp_path / "disk", size=SIZE) as device:
        ext4(device.sure())
        assert taken(device.backing) >= SIZE


@pytest.mark.root
@needs_loops()
@needs("mkfs.ext4", "dumpe2fs")
def test_nor_is_there_any_that_the_kernel_gives_back_later(tmp_path: Path) -> None:
    with loop(tmp_path / "disk", size=SIZE) as device:
        ext4(device.sure())
        told = run("dumpe2fs", device.device)
    groups = re.findall(r"^Group [0-9].*", told, re.MULTILINE)
    assert groups
    assert all("ITABLE_ZEROED" in group for group in groups)


@pytest.mark.root
@needs_loops()
def test_a_file_that_was_made_for_a_device_gives_its_room_back_with_it_whoever_has_that_open(tmp_path: Path) -> None:
    with loop(tmp_path / "disk", size=SIZE) as device:
        other, still = os.open(device.backing, os.O_RDONLY), os.open(device.device, os.O_RDONLY)
    assert not device.backing.exists()
    assert os.fstat(other).st_blocks == 0
    os.close(still)
    os.close(other)
