"""The journal of arrays: what was begun is known after a crash, what is gone is not, and a torn line hides nothing."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.changes.arrays.array_journal import ArrayJournal, ArrayStage
from app.core.session import journal
from backends.array_planning import CreatedArray, MemberDrive
from backends.errors import NewerError, StorageError
from backends.formats import FORMATS, FileFormat
from backends.model import Level, Target

CARD = Target(backend="megaraid", address="c0")


def made(name: str = "rb-1") -> CreatedArray:
    return CreatedArray(
        name=name,
        level=Level.RAID10,
        controller=CARD,
        members=(MemberDrive(place="252:0", serial="S1", size_bytes=10), MemberDrive(place="252:1", serial="S2")),
        strip_bytes=65536,
        spans=2,
        before=("naa.1",),
    )


def begun(tmp_path: Path, *stages: ArrayStage) -> ArrayJournal:
    arrays = ArrayJournal(tmp_path)
    arrays.write_begin(made(), tmp_path / "session")
    for stage in stages:
        arrays.write_stage("rb-1", stage)
    return arrays


@pytest.mark.parametrize(
    ("stages", "left"),
    [
        ((), ArrayStage.MAKING),
        ((ArrayStage.MADE,), ArrayStage.MADE),
        ((ArrayStage.MADE, ArrayStage.REMOVING), ArrayStage.REMOVING),
        ((ArrayStage.MADE, ArrayStage.REMOVING, ArrayStage.GONE), None),
        ((ArrayStage.LEFT,), None),
    ],
)
def test_the_last_stage_counts_and_the_array_is_that_of_the_first(
    tmp_path: Path, stages: tuple[ArrayStage, ...], left: ArrayStage | None
) -> None:
    entry = begun(tmp_path, *stages).entry("rb-1")
    assert (None if entry is None else entry.stage) == left
    if entry is not None:
        assert (entry.array, entry.session) == (made(), str(tmp_path / "session"))


def test_it_is_unfinished_once_its_process_is_gone_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = begun(tmp_path)
    entry = arrays.entry("rb-1")
    assert entry is not None
    assert (entry.unfinished, entry.left_running) == (False, None)
    arrays.write_setter("rb-1", os.getpid(), "mdadm")
    monkeypatch.setattr("app.core.changes.arrays.array_journal.boot_id", lambda: entry.boot)
    later = arrays.entry("rb-1")
    assert later is not None
    gone = replace(later, pid=later.pid, start="0")  # another process has its number by now
    assert (gone.unfinished, gone.left_running) == (True, f"mdadm (PID {os.getpid()})")
    rebooted = replace(gone, boot="another")
    assert (rebooted.unfinished, rebooted.left_running) == (True, None)


@pytest.mark.parametrize("stages", [(), (ArrayStage.MADE, ArrayStage.REMOVING)])
def test_what_this_process_is_done_with_is_unfinished_for_all(tmp_path: Path, stages: tuple[ArrayStage, ...]) -> None:
    arrays = begun(tmp_path, *stages)
    before = arrays.entry("rb-1")
    assert before is not None
    assert not before.unfinished
    arrays.release("rb-1")
    after = arrays.entry("rb-1")
    assert after is not None
    assert (after.unfinished, after.stage, after.array) == (True, before.stage, made())
    assert (after.session, after.left_running) == (before.session, None)


@pytest.mark.parametrize("stages", [(ArrayStage.MADE,), (ArrayStage.GONE,), (ArrayStage.LEFT,)])
def test_what_has_its_end_is_not_let_go_of(tmp_path: Path, stages: tuple[ArrayStage, ...]) -> None:
    arrays = begun(tmp_path, *stages)
    written = arrays.file.read_bytes()
    arrays.release("rb-1")
    assert arrays.file.read_bytes() == written


def test_what_another_process_is_at_is_not_let_go_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = begun(tmp_path)
    written = arrays.file.read_bytes()
    monkeypatch.setattr("os.getpid", lambda: 1)
    arrays.release("rb-1")
    assert arrays.file.read_bytes() == written


@pytest.mark.parametrize("stage", [ArrayStage.MADE, ArrayStage.GONE, ArrayStage.LEFT])
def test_what_came_to_its_end_is_not_unfinished(tmp_path: Path, stage: ArrayStage) -> None:
    entry = begun(tmp_path, stage).entry("rb-1")
    assert entry is None or not replace(entry, start="0").unfinished


def test_a_torn_record_hides_neither_what_came_before_nor_after(tmp_path: Path) -> None:
    arrays = begun(tmp_path)
    arrays.write_begin(made("rb-2"), tmp_path)
    whole = arrays.file.read_bytes()
    first, second = whole.splitlines(keepends=True)
    arrays.file.write_bytes(first[: len(first) // 2] + b"\n" + second)
    assert [entry.array.name for entry in arrays.entries()] == ["rb-2"]
    arrays.file.write_bytes(first + second[: len(second) // 2])
    arrays.write_begin(made("rb-3"), tmp_path)
    assert [entry.array.name for entry in arrays.entries()] == ["rb-1", "rb-3"]


def test_what_a_newer_program_wrote_is_left_alone_and_nothing_is_made_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = ArrayJournal(tmp_path)
    with monkeypatch.context() as newer:
        newer.setattr(journal, "FORMATS", {**FORMATS, FileFormat.ARRAYS: 99})
        arrays.write_begin(made(), tmp_path)
    assert arrays.entries() == ()
    with pytest.raises(NewerError):
        arrays.write_begin(made("rb-2"), tmp_path)
    assert len(arrays.file.read_bytes().splitlines()) == 1


def test_what_cannot_be_written_down_is_not_begun(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"Nothing was created\."):
        ArrayJournal(tmp_path / "file").write_begin(made(), tmp_path)
