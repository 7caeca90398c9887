"""A state folder on vfat, which has no permissions but those that it is mounted with."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.backends.loops import loop, needs_loops
from tests.cli.conftest import Cli
from tests.cli.test_state_folders import assert_no_defect, assert_refused, assert_works, on, queue

pytestmark = [needs_loops(), pytest.mark.root]

SIZE = 16 << 20


def fat16(size: int) -> bytes:
    """The beginning of an empty FAT16 filesystem of so many bytes, as mkfs.vfat makes it."""
    sectors, per_cluster, reserved, tables, entries = size // 512, 4, 1, 2, 512
    per_table = (sectors // per_cluster + 2) * 2 // 512 + 1
    head = struct.pack(
        "<3s8sHBHBHHBHHHIIBBBI11s8s",
        *(b"\xeb\x3c\x90", b"mkfs.fat", 512, per_cluster, reserved, tables, entries, sectors, 0xF8, per_table),
        *(32, 64, 0, 0, 0x80, 0, 0x29, 0x1234ABCD, b"NO NAME    ", b"FAT16   "),
    )
    table = b"\xf8\xff\xff\xff".ljust(per_table * 512, b"\0")
    return head.ljust(510, b"\0") + b"\x55\xaa" + table * tables + bytes(entries * 32)


@pytest.mark.parametrize(("options", "private"), [("umask=000", False), ("umask=077", True)])
def test_a_journal_on_vfat_is_believed_where_nobody_else_may_write_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str, private: bool
) -> None:
    with loop(tmp_path / "disk.img", size=SIZE) as disk, loop(tmp_path / "vfat.img", size=SIZE) as lower:
        queue(disk).write_text("128")
        lower.write(0, fat16(SIZE))
        with on(tmp_path / "m", "vfat", options, lower.sure()) as point:
            state = point / "state"
            monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(state))
            if private:
                assert_works(cli, disk, state)
            else:
                done = cli("set", disk.sure(), "read_ahead_kb=512", "--yes")
                assert_refused(done, disk, state, "RAIDBENCH_STATE_DIR", "vfat")
                assert_no_defect(cli, disk)
