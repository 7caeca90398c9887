"""What became of a trial is read from the device when it is decided, never taken from what was set once."""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from app.core.changes import changes
from app.core.session import journal, trusted_file
from app.core.session.paths import Paths
from app.core.workbench import Workbench
from backends.errors import ToolFailedError
from backends.model import Target
from tests.backends.fakes import FakeHost, disk, machine

PATH = "/sys/block/sda/queue/read_ahead_kb"
"""128 before, 256 on trial."""


@pytest.fixture
def host() -> FakeHost:
    return FakeHost(machine(disk("sda", serial="S1", queue__read_ahead_kb="128")))


@pytest.fixture
async def bench(host: FakeHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Workbench]:
    async def armed(*_order: object) -> None:
        """A watchdog that never comes."""

    monkeypatch.setattr(changes, "arm", armed)
    made = Workbench(host, paths=Paths.at(tmp_path))
    await made.open()
    await made.hardware.probe()
    change = await made.hardware.plan(Target(backend="block", address="sda"), "read_ahead_kb", "256")
    async with aclosing(made.changes.apply_all((change,), trial=60)) as steps:
        assert [ended.result async for _, ended in steps] == ["verified"]
    yield made
    made.close()


async def kept(bench: Workbench) -> tuple[str | None, str]:
    """What keeping says of the one trial."""
    [(_, ended)] = await bench.changes.keep_trials()
    return ended.now, ended.message


async def test_what_stands_is_kept_without_a_word_more(bench: Workbench) -> None:
    assert await kept(bench) == ("256", "")


async def test_what_went_back_by_itself_is_not_said_to_stand(bench: Workbench, host: FakeHost) -> None:
    host.files[PATH] = "128"
    assert await kept(bench) == ("128", "the value 256 did not last")


async def test_what_cannot_be_read_any_more_is_not_said_to_stand(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_target: Target) -> None:
        raise ToolFailedError("The card does not answer.")

    monkeypatch.setattr(bench.hardware, "read", fails)
    assert await kept(bench) == (None, "The card does not answer.")


async def test_the_log_has_what_was_read_when_it_was_kept(bench: Workbench, host: FakeHost) -> None:
    host.files[PATH] = "128"
    await bench.changes.keep_trials()
    assert [(record.end.result, record.end.now) for record in bench.changes.undoable() if record.end] == [
        ("kept", "128")
    ]


async def test_what_went_back_by_itself_is_not_written_again_by_an_undo(bench: Workbench, host: FakeHost) -> None:
    host.files[PATH] = "128"
    await bench.changes.keep_trials()
    written = list(host.written)
    assert ((await bench.changes.undo("c1")).result, host.written) == ("restored", written)


@pytest.mark.parametrize(("by_now", "back"), [("128", True), ("256", False), ("512", False)])
async def test_a_trial_that_is_over_is_back_only_where_the_old_value_is_read(
    bench: Workbench, host: FakeHost, by_now: str, back: bool
) -> None:
    bench.changes.journal.write_outcome("c1", bench.require_recording(), "conflict")
    host.files[PATH] = by_now
    assert await bench.changes.record_ended_trials() is back


@pytest.mark.parametrize("trouble", ["gone", "writable", "unreadable"])
async def test_a_journal_that_is_not_read_has_decided_no_trial(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    known = [trial.id for trial in bench.changes.trials()]
    file = bench.changes.journal.file
    if trouble == "gone":
        file.unlink()
    elif trouble == "writable":
        file.chmod(0o666)
    else:

        def fail(*_: object) -> int:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        monkeypatch.setattr(trusted_file, "open_own", fail)
        monkeypatch.setattr(journal, "open_own", fail)
    assert ([trial.id for trial in bench.changes.trials()], len(known)) == (known, 1)
