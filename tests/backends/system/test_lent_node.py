"""A device's second node, for a user who may not open the first: its owner, its permissions, and what stays open."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from backends.system.local.fd_passing import open_for
from tests.backends.loops import loop, needs_loops

GROUP = 65534


def open_descriptors() -> set[int]:
    """Return the descriptors of this process, without that of the listing itself."""
    listed = map(int, os.listdir("/proc/self/fd"))
    return {number for number in listed if os.path.exists(f"/proc/self/fd/{number}")}


@pytest.mark.root
@needs_loops()
@pytest.mark.parametrize(("write", "mode"), [(False, 0o440), (True, 0o660)])
def test_the_node_is_roots_for_the_group_and_only_its_descriptor_stays_open(
    tmp_path: Path, write: bool, mode: int
) -> None:
    with loop(tmp_path / "disk") as device:
        number = os.stat(device.sure()).st_rdev
        before = open_descriptors()
        descriptor = open_for(number, GROUP, write=write)
        try:
            opened = open_descriptors() - before
            info = os.fstat(descriptor)
            assert opened == {descriptor}
            assert (info.st_rdev, info.st_uid, info.st_gid, stat.S_IMODE(info.st_mode)) == (number, 0, GROUP, mode)
        finally:
            os.close(descriptor)
