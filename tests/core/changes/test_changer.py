"""A change is believed when it is read back, and what it did is on record however it went."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.session import journal as journal_module
from app.core.session.events import AnyEvent, ChangeEnded, ChangeIntended
from app.core.session.journal import Journal, read_records
from app.core.session.locks import hold_lock
from backends.change import Change, ChangeStep
from backends.errors import BlockedError, DeviceGoneError, NotFoundError, RaidbenchError, RefusedError, StorageError
from backends.errors import ToolFailedError as Failed
from backends.identity import Identity
from backends.model import Target
from backends.processes import process_start
from backends.settings import NOT_UNDERSTOOD, Persistence
from tests.core.doubles import TARGET, Bench, FakeBackend, planned


async def settled() -> None:
    """Let every task that can go on go on."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_change_that_took_is_verified(tmp_path: Path) -> None:
    assert (await Bench(tmp_path).set("256")).result == "verified"


@pytest.mark.parametrize("really", ["128", "512", "unknown", None], ids=["nothing", "another", "unknown", "unreadable"])
async def test_a_set_that_says_yes_and_does_something_else_differs(tmp_path: Path, really: str | None) -> None:
    ended = await Bench(tmp_path, FakeBackend(sets=lambda value: really)).set("256")
    assert (ended.result, ended.now) == ("differs", really)


async def test_what_comes_only_after_it_was_read_back_can_be_taken_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(sets=lambda value: "128"))
    await bench.set("256")
    bench.backend.value, bench.backend.sets = "256", lambda value: value
    await bench.changer.undo(bench.record())
    assert bench.backend.value == "128"


async def test_what_differs_is_said_in_a_sentence(tmp_path: Path) -> None:
    ended = await Bench(tmp_path, FakeBackend(sets=lambda value: "512")).set("256")
    assert ended.message == "Read-ahead is 512 although the tool accepted 256"


async def test_a_refusal_of_the_tool_is_a_failure_in_its_words(tmp_path: Path) -> None:
    backend = FakeBackend(sets=lambda value: "128", error=Failed("The kernel refused.", hint="Try less."))
    ended = await Bench(tmp_path, backend).set("256")
    assert (ended.result, ended.message) == ("failed", "The kernel refused. Try less.")


async def test_a_tool_that_complains_and_did_it_all_the_same_is_a_failure_that_can_be_undone(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(error=Failed("One of 24 drives failed.")))
    await bench.set("256")
    assert [change.id for change in bench.session.in_force] == ["c1"]


async def test_a_tool_that_complains_and_did_nothing_leaves_nothing_to_undo(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(sets=lambda value: "128", error=Failed("No.")))
    await bench.set("256")
    assert bench.session.in_force == ()


async def test_a_value_that_cannot_be_read_back_is_a_failure(tmp_path: Path) -> None:
    ended = await Bench(tmp_path, FakeBackend(reads_fail=True)).set("256")
    assert (ended.result, ended.now) == ("failed", None)


async def test_a_surprise_in_the_backend_is_on_record_before_it_is_raised(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(error=ZeroDivisionError("oops")))
    with pytest.raises(ZeroDivisionError):
        await bench.set("256")
    assert [record["kind"] for record in read_records(bench.journal.file)] == ["intent", "outcome"]


async def test_the_intent_is_on_disk_before_the_backend_is_asked(tmp_path: Path) -> None:
    backend = FakeBackend(gate=asyncio.Event())
    bench = Bench(tmp_path, backend)
    change = asyncio.create_task(bench.set("256"))
    await backend.entered.wait()
    on_disk = [(record["kind"], record["after"]) for record in read_records(bench.journal.file)]
    assert backend.gate is not None
    backend.gate.set()
    await change
    assert on_disk == [("intent", "256")]


async def test_a_value_changed_under_us_is_refused_and_not_touched(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(value="512"))
    with pytest.raises(RefusedError, match="changed from 128 to 512"):
        await bench.set("256")
    assert bench.backend.applied == []


async def test_a_setting_that_became_unavailable_is_not_touched(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(why_not="the disk is rebuilding"))
    with pytest.raises(BlockedError, match="rebuilding"):
        await bench.set("256")
    assert bench.backend.applied == []


async def test_a_setting_that_vanished_is_a_device_gone(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with pytest.raises(DeviceGoneError):
        await bench.changer.apply(replace(planned("128", "256"), key="no_such_key"))


async def test_a_target_nobody_manages_is_not_found(tmp_path: Path) -> None:
    stranger = replace(planned("128", "256"), target=replace(TARGET, backend="stranger"))
    with pytest.raises(NotFoundError):
        await Bench(tmp_path).changer.apply(stranger)


async def test_a_held_lock_refuses_and_names_its_holder(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with hold_lock(bench.locks, str(TARGET), "measuring"), pytest.raises(RefusedError, match="measuring"):
        await bench.set("256")
    assert bench.backend.applied == []


async def test_an_undo_takes_the_lock_that_the_change_took(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(lock="controller-0"))
    await bench.changer.apply(planned("128", "256", lock="controller-0"))
    with hold_lock(bench.locks, "controller-0", "measuring"), pytest.raises(RefusedError, match="measuring"):
        await bench.changer.undo(bench.record())


# -- where the record cannot be written ----------------------------------------------------------------------------


async def test_without_a_journal_nothing_is_set(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    (tmp_path / "journal").write_text("in the way")
    with pytest.raises(StorageError, match="Nothing was changed"):
        await bench.set("256")
    assert bench.backend.applied == []


async def test_a_change_refused_by_the_journal_is_not_left_open_in_the_session(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    (tmp_path / "journal").write_text("in the way")
    with pytest.raises(StorageError):
        await bench.set("256")
    assert bench.session.in_force == ()


async def test_without_a_session_nothing_is_set(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    def full(event: AnyEvent) -> None:
        raise StorageError("The session cannot be written: No space left on device.")

    bench.refuse_events = full
    with pytest.raises(StorageError):
        await bench.set("256")
    assert bench.backend.applied == []


def fills_up_after_the_intent(event: AnyEvent) -> None:
    if isinstance(event, ChangeEnded):
        raise StorageError("The session cannot be written: No space left on device.")


async def test_a_change_made_is_told_even_if_it_cannot_be_recorded(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.refuse_events = fills_up_after_the_intent
    with pytest.raises(StorageError, match="was set to 256 and now is 256"):
        await bench.set("256")


async def test_the_journal_knows_the_end_that_the_session_could_not_take(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.refuse_events = fills_up_after_the_intent
    with pytest.raises(StorageError):
        await bench.set("256")
    assert read_records(bench.journal.file)[-1]["result"] == "verified"


# -- whoever cancels -----------------------------------------------------------------------------------------------


async def test_a_cancelled_change_comes_to_its_end(tmp_path: Path) -> None:
    backend = FakeBackend(gate=asyncio.Event())
    bench = Bench(tmp_path, backend)
    change = asyncio.create_task(bench.set("256"))
    await backend.entered.wait()
    change.cancel()
    await settled()
    assert backend.gate is not None
    backend.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await change
    assert bench.record().end is not None


async def test_whoever_cancels_a_change_waits_for_its_end(tmp_path: Path) -> None:
    backend = FakeBackend(gate=asyncio.Event())
    change = asyncio.create_task(Bench(tmp_path, backend).set("256"))
    await backend.entered.wait()
    change.cancel()
    await settled()
    still_going = not change.done()
    assert backend.gate is not None
    backend.gate.set()
    await asyncio.wait({change})
    assert still_going


def test_a_change_that_a_closing_loop_interrupts_is_on_record(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend())

    async def leave_in_the_middle() -> None:
        bench.backend.gate = asyncio.Event()
        asyncio.create_task(bench.set("256"), name="abandoned")  # noqa: RUF006  # abandoned on purpose
        await bench.backend.entered.wait()

    asyncio.run(leave_in_the_middle())
    assert [record["kind"] for record in read_records(bench.journal.file)] == ["intent", "outcome"]


# -- undo ----------------------------------------------------------------------------------------------------------


async def test_undo_brings_the_old_value_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await bench.set("256")
    await bench.changer.undo(bench.record())
    assert bench.backend.value == "128"


async def test_a_change_taken_back_is_no_longer_in_force(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await bench.set("256")
    await bench.changer.undo(bench.record())
    assert bench.session.in_force == ()


async def test_an_undo_that_did_not_take_leaves_the_change_in_force(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await bench.set("256")
    bench.backend.sets = lambda value: "256"
    await bench.changer.undo(bench.record())
    assert [change.id for change in bench.session.in_force] == ["c1"]


@pytest.mark.parametrize("foreign", ["512", None])
async def test_undo_does_not_clobber_what_somebody_else_set(tmp_path: Path, foreign: str | None) -> None:
    bench = Bench(tmp_path)
    await bench.set("256")
    bench.backend.value = foreign
    with pytest.raises(RefusedError, match="Another program changed it"):
        await bench.changer.undo(bench.record())
    assert bench.backend.value == foreign


async def test_undo_does_not_need_to_understand_the_present_value(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await bench.set("256")
    bench.backend.value = NOT_UNDERSTOOD
    ended = await bench.changer.undo(bench.record())
    assert (ended.result, bench.backend.value) == ("verified", "128")


async def test_undo_of_a_value_the_kernel_rounded_goes_back_from_the_rounded_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(sets=lambda value: "252" if value == "256" else value))
    await bench.set("256")
    await bench.changer.undo(bench.record())
    assert bench.backend.value == "128"


async def test_undo_of_what_is_already_back_writes_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await bench.set("256")
    bench.backend.value = "128"
    await bench.changer.undo(bench.record())
    assert len(bench.backend.applied) == 1


async def test_a_change_without_a_known_old_value_cannot_be_undone(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(value=None))
    await bench.set("256", before=None)
    with pytest.raises(BlockedError, match="not known"):
        await bench.changer.undo(bench.record())


async def test_an_undo_says_which_change_it_takes_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await bench.set("256")
    await bench.changer.undo(bench.record())
    intents = [event.undoes for event in bench.session.events if isinstance(event, ChangeIntended)]
    assert intents == [None, "c1"]


# -- several at once -----------------------------------------------------------------------------------------------


async def test_the_first_change_that_is_not_verified_is_the_last(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(sets=lambda value: "128"))
    changes = [planned("128", "256"), planned("128", "512")]
    results = [ended.result async for _, ended in bench.changer.apply_all(changes)]
    assert results == ["differs"]


class OneRegister(FakeBackend):
    """Its steps carry what another setting in the same register is now."""

    shares: tuple[str, ...] = ()

    async def plan(self, target: Target, key: str, value: str) -> Change:
        steps = (ChangeStep(path="/fake/register", text=f"{self.value} {value}"),)
        return replace(planned(self.value, value), writes=steps, shares=self.shares)


async def test_a_change_that_would_take_other_steps_than_those_shown_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, OneRegister())
    with pytest.raises(RefusedError, match="no longer has the steps"):
        async for _ in bench.changer.apply_all([planned("128", "256"), planned("256", "512")]):
            pass
    assert bench.backend.value == "256"


async def test_steps_may_carry_the_value_set_before_in_the_same_register(tmp_path: Path) -> None:
    backend = OneRegister()
    backend.shares = ("read_ahead_kb",)
    bench = Bench(tmp_path, backend)
    changes = [planned("128", "256"), planned("256", "512")]
    done = [change.writes[0].text async for change, _ in bench.changer.apply_all(changes)]
    assert done == ["256", "256 512"]


# -- after a crash -------------------------------------------------------------------------------------------------


@pytest.fixture
def crashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Somebody died after setting 128 to 256 and before saying so."""
    monkeypatch.setattr(journal_module, "process_start", lambda pid: "1")
    Journal(tmp_path / "journal").write_intent("c1", tmp_path / "old", planned("128", "256"))
    monkeypatch.setattr(journal_module, "process_start", process_start)
    return Bench(tmp_path, FakeBackend(value="256"))


async def test_recovery_restores_the_old_value(crashed: Bench) -> None:
    await crashed.changer.recover(crashed.journal.unresolved()[0])
    assert crashed.backend.value == "128"


async def test_what_was_recovered_is_not_unresolved_any_more(crashed: Bench) -> None:
    await crashed.changer.recover(crashed.journal.unresolved()[0])
    assert crashed.journal.unresolved() == ()


async def test_recovery_of_what_never_happened_writes_nothing(crashed: Bench) -> None:
    crashed.backend.value = "128"
    await crashed.changer.recover(crashed.journal.unresolved()[0])
    assert crashed.backend.applied == []


@pytest.mark.parametrize("foreign", ["512", None])
async def test_recovery_leaves_a_foreign_value_alone(crashed: Bench, foreign: str | None) -> None:
    crashed.backend.value = foreign
    assert await crashed.changer.recover(crashed.journal.unresolved()[0]) == "conflict"
    assert crashed.backend.applied == []


async def test_a_conflict_stays_unresolved(crashed: Bench) -> None:
    crashed.backend.value = "512"
    await crashed.changer.recover(crashed.journal.unresolved()[0])
    assert [intent.id for intent in crashed.journal.unresolved()] == ["c1"]


async def test_an_unknown_old_value_is_a_conflict_and_never_restored(crashed: Bench) -> None:
    crashed.backend.value = None
    left = crashed.journal.unresolved()[0]
    unknown = replace(left, change=replace(left.change, before=None))
    assert await crashed.changer.recover(unknown) == "conflict"


async def test_a_recovery_that_does_not_take_says_so_and_stays_open(crashed: Bench) -> None:
    crashed.backend.sets = lambda value: "256"
    with pytest.raises(RaidbenchError, match="is 256 although"):
        await crashed.changer.recover(crashed.journal.unresolved()[0])
    assert [intent.id for intent in crashed.journal.unresolved()] == ["c1"]


async def test_what_a_program_still_sets_is_not_set_even_if_that_closed_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(journal_module, "process_start", lambda _pid: "1")
        bench.journal.write_intent("c1", bench.folder, planned("128", "512"))
    bench.journal.write_setter("c1", bench.folder, os.getpid(), "sdparm")
    with pytest.raises(RefusedError, match=rf"Still running: sdparm \(PID {os.getpid()}\)"):
        await bench.set("256")
    assert bench.backend.applied == []


async def test_what_an_earlier_version_still_sets_under_another_name_of_the_lock_is_not_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)
    disk = replace(planned("128", "512"), target=replace(TARGET, address="sdl"), identity=Identity(name="sdl", wwn="W"))
    with monkeypatch.context() as patch:
        patch.setattr(journal_module, "process_start", lambda _pid: "1")
        bench.journal.write_intent("c1", bench.folder, replace(disk, lock="block-sdl"))
    bench.journal.write_setter("c1", bench.folder, os.getpid(), "sdparm")
    with pytest.raises(RefusedError, match="Still running"):
        await bench.changer.apply(planned("128", "256", lock="disk-wwn W"))


# -- another device under the same name ----------------------------------------------------------------------------


class Replugged(FakeBackend):
    """Another disk came under the name; its setting reads as that of the first did before."""

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        change = await super().back(target, key, value, companions)
        assert change.identity is not None
        return replace(change, identity=replace(change.identity, serial="another"))


async def test_recovery_does_not_take_another_disk_for_one_put_back(tmp_path: Path, crashed: Bench) -> None:
    bench = Bench(tmp_path, Replugged(value="128"))
    with pytest.raises(DeviceGoneError, match="is now a different device"):
        await bench.changer.recover(bench.journal.unresolved()[0])
    assert [intent.id for intent in bench.journal.unresolved()] == ["c1"]


async def test_an_undo_does_not_take_another_disk_for_one_put_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await bench.changer.apply(planned("128", "256", persistence=Persistence.LOST_AT_REBOOT))
    other = Bench(tmp_path, Replugged(value="128"))
    ended = await other.changer.undo(bench.record())
    assert (ended.result, other.backend.applied) == ("gone", [])
