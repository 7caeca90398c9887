"""Preallocated scratch files: new blocks, whatever the file held before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.core.benchmark.preallocation import preallocate
from app.core.benchmark.scratch import plan_scratch
from app.core.benchmark.scratch_descriptor import ScratchFile, remove_scratch
from app.core.benchmark.scratch_xattr import is_interrupted, is_own
from app.core.fio.profiles import profile

_MIB = 1 << 20


def test_the_log_of_etcd_is_preallocated_and_that_of_postgres_is_overwritten() -> None:
    assert profile("etcd").job.preallocates
    assert not profile("postgres").job.preallocates
    assert not profile("etcd").job.with_fields({"rw": "rw"}).preallocates  # unwritten blocks cannot be read


async def test_a_preallocated_file_has_all_blocks_and_is_not_filled(tmp_path: Path) -> None:
    plan = plan_scratch(str(tmp_path), _MIB, writes=True, preallocated=True)
    assert not plan.fill
    file = ScratchFile(plan)
    await file.open()
    try:
        info = plan.path.stat()
        assert info.st_size == _MIB
        assert info.st_blocks * 512 >= _MIB
        assert is_own(plan.path, plan.path)
    finally:
        await file.close(keep=False)
    assert not plan.path.exists()


async def test_a_kept_file_gets_new_blocks_and_stays_own(tmp_path: Path) -> None:
    first = ScratchFile(plan_scratch(str(tmp_path), _MIB, writes=True))
    await first.open()
    path = tmp_path / "raidbench-scratch.dat"
    path.write_bytes(b"x" * _MIB)
    await first.close(keep=True)
    plan = plan_scratch(str(tmp_path), _MIB, writes=True, preallocated=True)
    assert plan.exists
    again = ScratchFile(plan)
    await again.open()
    try:
        assert path.read_bytes() == bytes(_MIB)
        assert is_own(path, path)
    finally:
        await again.close(keep=False)


async def test_a_preallocated_file_that_a_crash_left_is_removed_as_our_own(tmp_path: Path) -> None:
    plan = plan_scratch(str(tmp_path), _MIB, writes=True, preallocated=True)
    file = ScratchFile(plan)
    await file.open()
    file._release()  # the process is gone, and nothing was closed in order
    assert is_interrupted(plan.path, plan.path)
    assert await remove_scratch(plan.path) is None
    assert not plan.path.exists()


def test_a_filesystem_that_cannot_preallocate_leaves_the_file_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    try:
        with pytest.raises(OSError, match="Illegal seek"):
            preallocate(write, _MIB, has_content=False)
        monkeypatch.setattr("app.core.benchmark.preallocation._fallocate", lambda *_: False)
        assert not preallocate(write, _MIB, has_content=False)
    finally:
        os.close(read)
        os.close(write)
