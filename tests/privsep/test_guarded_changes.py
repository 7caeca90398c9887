"""What the helper changes: under its lock, as it was planned, in the journal first, and once."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from app.core.changes.trial import LONGEST
from app.core.session import journal as journal_module
from app.core.session.journal import Journal, boot_clock, read_records
from app.core.session.journals import trials_elsewhere
from app.core.session.json_codec import unstructure
from app.core.session.locks import hold_lock, lock_name
from app.core.session.paths import Paths
from app.privsep import change_verbs
from app.privsep.change_verbs import HelperChanges
from app.privsep.request_schema import RequestDeniedError
from backends.change import Change, ChangeStep
from backends.errors import HeldError, RefusedError
from backends.host import custody
from backends.identity import Signature
from backends.model import Target
from backends.processes import process_start
from backends.registry import MachineBackends
from backends.settings import Effect, Risk
from backends.system.local import LocalHost
from backends.vendors.block.backend import BlockBackend
from tests.backends.fakes import FakeHost, disk, machine

SDA = Target(backend="block", address="sda")
PATH = "/sys/block/sda/queue/read_ahead_kb"
SESSION = "/home/jane/.local/state/raidbench/sessions/2026-11-23_0900"


class Helper:
    """The changes of a conversation on a machine with one disk."""

    def __init__(self, folder: Path, uid: int = 4711) -> None:
        self.host = FakeHost(machine(disk("sda", serial="S1", queue__read_ahead_kb="128")))
        self.paths = Paths.at(folder)
        self.journal = Journal(self.paths.journal)
        self.machine = MachineBackends.of(self.host)
        self.changes = HelperChanges(cast(LocalHost, self.host), self.machine, self.paths, uid=uid)

    async def planned(self, value: str = "256") -> Change:
        """Locked and planned."""
        change = await self.machine.setter(SDA).plan(SDA, "read_ahead_kb", value)
        if not self.changes._locks:
            self.changes.lock(lock_name(change.locks[0]), "changing")
        await self.changes.plan(unstructure(change), None)
        return change

    def intend(self, value: str = "256", until: float | None = None, id: str = "c1") -> None:
        self.changes.intend(SESSION, id, str(SDA), "read_ahead_kb", value, until)


@pytest.fixture
def helper(tmp_path: Path) -> Helper:
    return Helper(tmp_path)


async def test_what_was_planned_is_announced_and_made_once(helper: Helper) -> None:
    await helper.planned()
    helper.intend()
    await helper.changes.apply(SESSION, "c1")
    assert helper.host.written == [(PATH, "256")]
    for value in ("256", "512"):
        with pytest.raises(RequestDeniedError, match="this change was not planned"):
            helper.intend(value)
    with pytest.raises(RequestDeniedError, match="this change was not announced"):
        await helper.changes.apply(SESSION, "c1")
    assert len(helper.host.written) == 1


async def test_of_a_program_that_makes_a_change_the_lock_tells_and_the_journal(
    helper: Helper, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = await helper.planned()
    helper.intend()
    told: list[str] = []

    async def begun(_backend: object, _change: Change) -> None:
        made = custody.get()
        assert made is not None
        made.begins(os.getpid(), "sdparm")
        with pytest.raises(HeldError) as held, hold_lock(helper.paths.locks, lock_name(change.locks[0]), "measuring"):
            pass
        told.append(held.value.message)

    monkeypatch.setattr(BlockBackend, "apply", begun)
    await helper.changes.apply(SESSION, "c1")
    assert told == [
        f"{lock_name(change.locks[0])} is locked by sdparm (PID {os.getpid()}, started by raidbench"
        f" PID {os.getpid()}: changing)."
    ]
    assert [record["kind"] for record in read_records(helper.journal.file)] == ["intent", "setter"]


async def test_what_has_come_to_its_end_is_not_made_any_more(helper: Helper) -> None:
    await helper.planned()
    helper.intend()
    helper.changes.outcome(SESSION, "c1", "failed")
    with pytest.raises(RequestDeniedError, match="this change was not announced"):
        await helper.changes.apply(SESSION, "c1")
    assert helper.host.written == []


async def test_nothing_is_planned_or_announced_once_the_lock_was_let_go(helper: Helper) -> None:
    change = await helper.planned()
    helper.changes.close()
    with pytest.raises(RequestDeniedError, match="The device is not locked"):
        await helper.changes.plan(unstructure(change), None)
    with pytest.raises(RequestDeniedError, match="The device is not locked"):
        helper.intend()
    assert helper.journal.intent_of("c1", Path(SESSION)) is None


async def test_nothing_is_set_once_the_lock_was_let_go(helper: Helper) -> None:
    await helper.planned()
    helper.intend()
    helper.changes.close()
    with pytest.raises(RequestDeniedError, match="The device is not locked"):
        await helper.changes.apply(SESSION, "c1")
    assert helper.host.written == []


async def test_nothing_is_done_while_a_program_of_a_raidbench_that_was_killed_still_sets_it(
    helper: Helper, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = await helper.planned()
    with monkeypatch.context() as patch:  # whoever began it is gone, its program is there
        patch.setattr(journal_module, "process_start", lambda pid: "1")
        helper.journal.write_intent("c7", Path("/elsewhere"), change)
    helper.journal.write_setter("c7", Path("/elsewhere"), 1, "sdparm")
    assert process_start(1)
    with pytest.raises(HeldError, match="Still running: sdparm"):
        await helper.changes.plan(unstructure(change), None)
    with pytest.raises(HeldError):
        helper.intend()


@pytest.mark.parametrize("more", [0.0, 0.1], ids=["longest", "longer"])
async def test_no_trial_is_longer_than_trials_are(helper: Helper, monkeypatch: pytest.MonkeyPatch, more: float) -> None:
    now = boot_clock()
    monkeypatch.setattr(change_verbs, "boot_clock", lambda: now)
    await helper.planned()
    if more:
        with pytest.raises(RequestDeniedError, match="a trial cannot last that long"):
            helper.intend(until=now + LONGEST + more)
    else:
        helper.intend(until=now + LONGEST)
    assert len(helper.journal.trials()) == (not more)


async def test_a_trial_can_be_seen_from_the_other_journals_of_root(helper: Helper, tmp_path: Path) -> None:
    await helper.planned()
    helper.intend(until=boot_clock() + 60)
    [trial] = trials_elsewhere(helper.paths.locks, Journal(tmp_path / "elsewhere"))
    assert (trial.id, trial.session, trial.uid) == ("c1", SESSION, 4711)


async def test_a_change_for_good_is_no_trial_to_be_seen_from_elsewhere(helper: Helper) -> None:
    await helper.planned()
    helper.intend()
    assert not (helper.paths.locks / "journals").exists()


@pytest.mark.parametrize(("session", "later"), [(SESSION, 1.0), ("/elsewhere", 0.0)], ids=["time", "session"])
async def test_a_watchdog_is_started_for_trials_that_were_announced_alone(
    helper: Helper, monkeypatch: pytest.MonkeyPatch, session: str, later: float
) -> None:
    armed: list[object] = []

    async def arm(*order: object) -> None:
        armed.append(order)

    monkeypatch.setattr(change_verbs, "arm", arm)
    await helper.planned()
    until = boot_clock() + 60
    helper.intend(until=until)
    with pytest.raises(RequestDeniedError, match="no announced trial ends at that time"):
        await helper.changes.arm(session, until + later)
    assert armed == []
    await helper.changes.arm(SESSION, until)
    assert armed == [(helper.paths, Path(SESSION), until)]


async def test_a_watchdog_is_rehearsed_where_root_keeps_its_things(
    helper: Helper, monkeypatch: pytest.MonkeyPatch
) -> None:
    rehearsed: list[object] = []

    async def rehearse(paths: object) -> None:
        rehearsed.append(paths)

    monkeypatch.setattr(change_verbs, "rehearse", rehearse)
    assert await helper.changes.rehearse() == {}
    assert rehearsed == [helper.paths]


def test_a_lock_is_held_once_and_so_many_at_most(helper: Helper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_verbs, "MAX_LOCKS", 2)
    helper.changes.lock("one", "changing")
    with pytest.raises(RequestDeniedError, match="already locked, or too many locks"):
        helper.changes.lock("one", "changing")
    helper.changes.lock("two", "changing")
    with pytest.raises(RequestDeniedError, match="already locked, or too many locks"):
        helper.changes.lock("three", "changing")


def test_a_lock_that_was_let_go_is_free_and_what_is_held_is_not(helper: Helper) -> None:
    helper.changes.lock("one", "changing")
    with pytest.raises(HeldError), hold_lock(helper.paths.locks, "one", "measuring"):
        pass
    helper.changes.unlock("one")
    with hold_lock(helper.paths.locks, "one", "measuring"):
        pass
    with pytest.raises(RequestDeniedError, match="this lock is not locked"):
        helper.changes.unlock("one")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("before", "7"),
        ("identity", None),
        ("risk", Risk.DESTROYS_DATA),
        ("found", (Signature(kind="ext4"),)),
        ("members", ("sdb",)),
        ("lock", "disk-other"),
        ("effect", Effect.REBOOT),
        ("companions", {"nr_requests": "64"}),
        ("writes", (ChangeStep(path=PATH, text="4096"),)),
    ],
)
async def test_a_change_that_would_not_be_planned_so_is_refused_with_what_differs(
    helper: Helper, name: str, value: object
) -> None:
    change = await helper.planned()
    helper.changes.lock("disk-other", "changing")
    word = "steps" if name == "writes" else name
    with pytest.raises(RefusedError, match=rf"no longer matches what you confirmed \({word}\)"):
        await helper.changes.plan(unstructure(replace(change, **{name: value})), None)  # type: ignore[arg-type]
