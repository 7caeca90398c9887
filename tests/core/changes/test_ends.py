"""How a change ends when its device is gone, another one, silent or in parts: the first reason is what is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.core.session import journal as journal_module
from app.core.session.events import AnyEvent, ChangeEnded, ChangeIntended
from app.core.session.journal import Journal, boot_clock
from backends.change import Change
from backends.errors import (
    BlockedError,
    DeviceGoneError,
    NotFoundError,
    RaidbenchError,
    RefusedError,
    StorageError,
    ToolFailedError,
)
from backends.model import Target
from backends.settings import Persistence, Reading
from tests.core.changes.test_trials import Trial
from tests.core.doubles import TARGET, Bench, FakeBackend, planned

IN_THE_KERNEL = planned("128", "256", persistence=Persistence.LOST_AT_REBOOT)


@dataclass
class Breaking(FakeBackend):
    """Its answers to `read` and `back` after a change, and to `apply`, are errors."""

    read_error: Exception | None = None
    plan_error: Exception | None = None

    async def read(self, target: Target) -> Mapping[str, Reading]:
        if self.applied and self.read_error is not None:
            raise self.read_error
        return await super().read(target)

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        if self.plan_error is not None:
            raise self.plan_error
        return await super().back(target, key, value, companions)

    async def remains(self, change: Change) -> str | None:
        """What is left of a thing that was taken apart."""
        return "Create it again from c0:e1:s1 and c0:e1:s2 first."


def left_open(folder: Path, monkeypatch: pytest.MonkeyPatch, session: Path) -> None:
    """Somebody died after setting 128 to 256 and before saying so."""
    with monkeypatch.context() as patch:
        patch.setattr(journal_module, "process_start", lambda pid: "1")
        Journal(folder / "journal").write_intent("c7", session, planned("128", "256"))


# -- reading back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [NotFoundError("The disk does not answer."), ZeroDivisionError("oops")])
async def test_a_read_back_that_fails_is_a_failed_change_that_has_an_end(tmp_path: Path, error: Exception) -> None:
    ended = await Bench(tmp_path, Breaking(read_error=error)).set("256")
    assert (ended.result, str(error) in ended.message) == ("failed", True)


@pytest.mark.parametrize("error", [NotFoundError("The disk does not answer."), ZeroDivisionError("oops")])
async def test_what_the_tool_said_is_told_rather_than_that_reading_back_failed(
    tmp_path: Path, error: Exception
) -> None:
    backend = Breaking(error=ToolFailedError("The card refused."), read_error=error)
    assert (await Bench(tmp_path, backend).set("256")).message == "The card refused."


# -- the device is gone, or another one ----------------------------------------------------------------------------


async def test_a_value_of_a_device_that_vanished_is_not_told_as_put_back(tmp_path: Path) -> None:
    backend = Breaking()
    bench = Bench(tmp_path, backend)
    await bench.changer.apply(IN_THE_KERNEL)
    backend.value, backend.plan_error = "128", DeviceGoneError("disk0 is gone.")
    assert (await bench.changer.undo(bench.record())).result == "gone"


async def test_a_value_that_is_back_is_put_back_though_nothing_can_be_set_any_more(tmp_path: Path) -> None:
    backend = Breaking()
    bench = Bench(tmp_path, backend)
    await bench.changer.apply(IN_THE_KERNEL)
    backend.value, backend.plan_error = "128", BlockedError("It is rebuilding.")
    assert (await bench.changer.undo(bench.record())).result == "restored"


async def test_a_device_that_never_said_who_it_is_is_not_taken_for_another_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await bench.changer.apply(replace(IN_THE_KERNEL, identity=None))
    bench.backend.value = "128"
    assert (await bench.changer.undo(bench.record())).result == "restored"


@pytest.mark.parametrize("error", [NotFoundError("No such disk."), DeviceGoneError("disk0 is gone.")])
async def test_a_setting_of_the_kernel_went_with_its_device(tmp_path: Path, error: Exception) -> None:
    backend = Breaking()
    bench = Bench(tmp_path, backend)
    await bench.changer.apply(IN_THE_KERNEL)
    backend.read_error = error
    assert (await bench.changer.undo(bench.record())).result == "gone"


@pytest.mark.parametrize("error", [NotFoundError("No such disk."), DeviceGoneError("disk0 is gone.")])
async def test_a_setting_of_a_drive_that_is_away_is_still_to_be_taken_back(tmp_path: Path, error: Exception) -> None:
    backend = Breaking()
    bench = Bench(tmp_path, backend)
    await bench.set("256")
    backend.read_error = error
    with pytest.raises(type(error)):
        await bench.changer.undo(bench.record())
    assert [change.id for change in bench.session.in_force] == ["c1"]


class Vanishing(FakeBackend):
    """The disk is pulled between the look and the write."""

    async def read(self, target: Target) -> Mapping[str, Reading]:
        self.looks = getattr(self, "looks", 0) + 1
        if self.looks == self.gone_at:
            raise DeviceGoneError("disk0 is gone.")
        return await super().read(target)

    gone_at = 0


async def test_a_device_that_vanishes_under_the_undo_took_its_setting_along(tmp_path: Path) -> None:
    backend = Vanishing()
    bench = Bench(tmp_path, backend)
    await bench.changer.apply(IN_THE_KERNEL)
    backend.gone_at = backend.looks + 1
    assert (await bench.changer.undo(bench.record())).result == "gone"


async def test_a_setting_that_is_not_readable_any_more_is_named_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await bench.set("256")
    bench.backend.value = None
    with pytest.raises(RefusedError, match=r"is now not readable: neither 256 \(set here\) nor 128"):
        await bench.changer.undo(bench.record())


# -- what is left of a thing that was taken apart ------------------------------------------------------------------


@pytest.mark.parametrize("error", [NotFoundError("No such array."), DeviceGoneError("The array is gone.")])
async def test_an_undo_says_what_to_do_first_about_what_was_taken_apart(tmp_path: Path, error: RaidbenchError) -> None:
    backend = Breaking()
    bench = Bench(tmp_path, backend)
    await bench.set("256")
    backend.read_error = error
    with pytest.raises(type(error)) as raised:
        await bench.changer.undo(bench.record())
    assert (raised.value.message, raised.value.hint) == (
        str(error),
        "Create it again from c0:e1:s1 and c0:e1:s2 first.",
    )


async def test_recovery_says_what_to_do_first_about_what_was_taken_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_open(tmp_path, monkeypatch, tmp_path / "old")
    backend = Breaking(value="256", read_error=NotFoundError("No such array."))
    backend.applied.append(planned("128", "256"))
    bench = Bench(tmp_path, backend)
    with pytest.raises(NotFoundError) as raised:
        await bench.changer.recover(bench.journal.unresolved()[0])
    assert raised.value.hint == "Create it again from c0:e1:s1 and c0:e1:s2 first."


async def test_a_backend_that_takes_nothing_apart_has_its_own_words(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    error = NotFoundError("No such array.", hint="Look again.")
    assert await bench.changer.with_recovery_hint(planned("128", "256"), error) is error


async def test_where_nothing_is_known_of_the_parts_the_error_stays_as_it_is(tmp_path: Path) -> None:
    class Silent(Breaking):
        async def remains(self, change: Change) -> str | None:
            return None

    error = NotFoundError("No such array.", hint="Look again.")
    assert await Bench(tmp_path, Silent()).changer.with_recovery_hint(planned("128", "256"), error) is error


async def test_of_a_backend_that_is_not_there_any_more_the_error_stays_as_it_is(tmp_path: Path) -> None:
    stranger = replace(planned("128", "256"), target=replace(TARGET, backend="stranger"))
    error = NotFoundError("No such array.")
    assert await Bench(tmp_path, Breaking()).changer.with_recovery_hint(stranger, error) is error


# -- what is on record ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("own", "undoes"), [(True, "c7"), (False, "old/c7")], ids=["this session", "another"])
async def test_a_recovery_names_the_change_it_takes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: bool, undoes: str
) -> None:
    left_open(tmp_path, monkeypatch, tmp_path / ("session" if own else "old"))
    bench = Bench(tmp_path, FakeBackend(value="256"))
    told: list[AnyEvent] = []
    bench.refuse_events = told.append
    await bench.changer.recover(bench.journal.unresolved()[0])
    assert [event.undoes for event in told if isinstance(event, ChangeIntended)] == [undoes]


async def test_when_neither_can_be_written_the_session_is_what_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)

    def full(event: AnyEvent) -> None:
        if isinstance(event, ChangeEnded):
            raise StorageError("The session's disk is full.")

    def broken(*args: object) -> None:
        raise StorageError("The journal cannot be written.")

    bench.refuse_events = full
    monkeypatch.setattr(bench.journal, "write_outcome", broken)
    with pytest.raises(StorageError, match=r"was set to 256 and now is 256, .* The session's disk is full"):
        await bench.set("256")


async def test_an_end_that_the_journal_alone_cannot_take_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)

    def broken(*args: object) -> None:
        raise StorageError("The journal cannot be written.")

    monkeypatch.setattr(bench.journal, "write_outcome", broken)
    with pytest.raises(StorageError, match=r"The journal cannot be written"):
        await bench.set("256")


# -- trials --------------------------------------------------------------------------------------------------------

DISK1 = Target(backend="fake", address="disk1")


async def test_a_further_value_of_the_same_trial_may_be_set(tmp_path: Path) -> None:
    bench, until = Trial(tmp_path), boot_clock() + 60
    await bench.changer.apply(planned("128", "256"), until=until)
    assert (await bench.changer.apply(planned("256", "512"), until=until)).result == "verified"


async def test_a_trial_of_another_session_that_ends_at_the_same_moment_stands_in_the_way(tmp_path: Path) -> None:
    bench, until = Trial(tmp_path), boot_clock() + 60
    bench.journal.write_intent("c1", tmp_path / "another", planned("128", "256"), until=until)
    with pytest.raises(RefusedError, match=r"trial of .* is not decided"):
        await bench.changer.apply(planned("128", "512"), until=until)


@pytest.mark.parametrize("first", [True, False], ids=["begun before", "begun after"])
async def test_the_own_trial_hides_no_other_one_of_the_disk(tmp_path: Path, first: bool) -> None:
    bench, until = Trial(tmp_path), boot_clock() + 60
    own = (bench.folder, replace(planned("128", "256", lock="disk1"), target=DISK1), until)
    another = (tmp_path / "another", planned("128", "256"), until + 1)
    for at, (session, change, end) in enumerate((own, another) if first else (another, own)):
        bench.journal.write_intent(f"c{at}", session, change, until=end)
    with pytest.raises(RefusedError, match="The trial of Read-ahead of fake:disk0 is not decided"):
        await bench.changer.apply(planned("128", "512"), until=until)


async def test_a_trial_elsewhere_on_an_unknown_controller_stands_in_nobodys_way(tmp_path: Path) -> None:
    bench = Trial(tmp_path)
    await bench.changer.apply(planned("128", "256", lock="disk0"), until=boot_clock() + 60)
    other = replace(planned("256", "512", lock="disk1"), target=DISK1)
    assert (await bench.changer.apply(other, until=boot_clock() + 61)).result == "verified"


# -- with a helper that makes the changes --------------------------------------------------------------------------


class FakeSide:
    """A helper that does as it is asked, and keeps what that was."""

    def __init__(self, backend: FakeBackend) -> None:
        self.backend = backend
        self.asked: list[tuple[str, dict[str, object]]] = []
        self.planned: Change | None = None

    async def ask(self, verb: str, **words: object) -> object:
        self.asked.append((verb, words))
        if verb == "apply":
            assert self.planned is not None
            await self.backend.apply(self.planned)
        return None

    def words(self, verb: str, key: str) -> list[object]:
        return [words[key] for asked, words in self.asked if asked == verb]


def helped(bench: Bench, after: str) -> FakeSide:
    """The changer of a bench does nothing itself any more."""
    side = FakeSide(bench.backend)
    side.planned = planned("128", after)
    bench.changer.side = side  # type: ignore[assignment]
    return side


async def test_values_set_together_are_told_to_the_helper_by_target_before_any_is_set(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    side = helped(bench, "256")
    changes = (planned("128", "256"), replace(planned("128", "512"), key="nr_requests"))
    async for _ in bench.changer.apply_all(changes):
        break
    assert (side.asked[0][0], side.words("together", "values")) == (
        "together",
        [{"read_ahead_kb": "256", "nr_requests": "512"}],
    )


async def test_the_helper_plans_a_new_change_as_one_that_takes_nothing_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    side = helped(bench, "256")
    await bench.set("256")
    assert side.words("plan", "back") == [None]


async def test_the_helper_is_told_what_comes_back_along_with_the_value_of_an_undo(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await bench.changer.apply(replace(planned("128", "256"), companions={"nr_requests": "64"}))
    side = helped(bench, "128")
    await bench.changer.undo(bench.record())
    assert side.words("plan", "back") == [{"nr_requests": "64"}]


async def test_the_helper_is_told_what_comes_back_along_with_the_value_that_is_recovered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_open(tmp_path, monkeypatch, tmp_path / "old")
    bench = Bench(tmp_path, FakeBackend(value="256"))
    side = helped(bench, "128")
    await bench.changer.recover(bench.journal.unresolved()[0])
    assert side.words("plan", "back") == [{}]
