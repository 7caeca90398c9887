"""Whose a change is: the first intent decides, an id is given once, and no other user comes in between."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from app.core.session import journal as journal_module
from app.core.session.journal import OVERDUE, Journal, boot_clock, read_records
from app.core.session.journals import HelperJournal
from app.core.session.locks import hold_lock, lock_name
from app.privsep import change_verbs
from app.privsep.request_schema import FIELDS, RequestDeniedError
from backends.change import Change
from backends.errors import HeldError, RefusedError, StorageError
from backends.vendors.block.backend import BlockBackend
from tests.case_loop import loop_over
from tests.core.doubles import planned
from tests.privsep.test_guarded_changes import SESSION, Helper

JANE, JOE, ROOT = 4711, 4712, 0

LOCK = "disk0"


@pytest.fixture
def joe(tmp_path: Path) -> Helper:
    """Joe's helper on a machine on whose other disk Jane has a trial."""
    of_janes(tmp_path / "journal").write_intent("c1", Path(SESSION), on_trial(), until=boot_clock() + 600)
    return Helper(tmp_path, JOE)


def on_trial() -> Change:
    return planned("128", "256", lock=LOCK)


def of_janes(folder: Path) -> Journal:
    return Journal(folder, uid=JANE)


def open_trials(helper: Helper) -> list[tuple[str, int | None]]:
    return [(trial.id, trial.uid) for trial in helper.journal.trials()]


JANES = [("c1", JANE)]


# -- an id is given once ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("until", [None, 60.0])
async def test_the_id_of_another_users_trial_is_not_given_again(joe: Helper, until: float | None) -> None:
    await joe.planned()

    with pytest.raises(StorageError, match="different change c1"):
        joe.intend(until=None if until is None else boot_clock() + until)

    assert len(read_records(joe.journal.file)) == 1
    with pytest.raises(RequestDeniedError, match="belongs to another user"):
        joe.changes.outcome(SESSION, "c1", "kept")
    with pytest.raises(RequestDeniedError, match="not announced"):
        await joe.changes.apply(SESSION, "c1")
    assert open_trials(joe) == JANES
    assert joe.host.written == []


@pytest.mark.parametrize("result", ["kept", "restored", "failed", "conflict", "gone"])
async def test_an_id_is_not_given_again_after_the_end_of_its_change(joe: Helper, result: str) -> None:
    of_janes(joe.paths.journal).write_outcome("c1", Path(SESSION), result)
    await joe.planned()

    with pytest.raises(StorageError, match="different change c1"):
        joe.intend()

    made = joe.journal.intent_of("c1", Path(SESSION))
    assert made is not None
    assert made.uid == JANE


async def test_a_user_does_not_get_an_id_of_their_own_again(tmp_path: Path) -> None:
    jane = Helper(tmp_path, JANE)
    await jane.planned()
    jane.intend()
    jane.changes.outcome(SESSION, "c1", "failed")
    await jane.planned()

    with pytest.raises(StorageError, match="different change c1"):
        jane.intend()
    jane.intend(id="c2")

    assert jane.changes.given(SESSION) == {"ids": ["c1", "c2"]}


async def test_of_two_conversations_that_give_an_id_at_once_one_makes_its_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Helper(tmp_path, JANE), Helper(tmp_path, JANE)
    await first.planned("256")
    first.changes.close()
    await second.planned("512")
    append = Journal._append

    def beaten(journal: Journal, record: dict[str, object], otherwise: str) -> None:
        with monkeypatch.context() as patch:  # the other one looks and writes between this one's look and its record
            patch.setattr(Journal, "_append", append)
            patch.setattr(journal_module, "process_start", lambda pid: "another process")
            Journal(tmp_path / "journal", uid=JANE).write_intent("c1", Path(SESSION), on_trial())
        append(journal, record, otherwise)

    monkeypatch.setattr(Journal, "_append", beaten)
    with pytest.raises(StorageError, match="different change c1"):
        second.intend("512")
    with pytest.raises(RequestDeniedError, match="not announced"):
        await second.changes.apply(SESSION, "c1")

    made = second.journal.intent_of("c1", Path(SESSION))
    assert made is not None
    assert made.change.after == "256"
    assert second.host.written == []


@loop_over(
    "spelling",
    [
        *(f"{SESSION}/", f"/{SESSION}", SESSION.replace("/home", "/home/../home")),
        *(SESSION.replace("/home", "/./home"), SESSION.replace("/jane", "//jane")),
        *(SESSION[1:], f"{SESSION}\n", f"{SESSION}\0", "/", "//"),
    ],
)
def test_a_session_has_one_spelling(spelling: str) -> None:
    assert all(fields["session"](SESSION) for fields in FIELDS.values() if "session" in fields)
    others = {verb for verb, fields in FIELDS.items() if "session" in fields and fields["session"](spelling)}
    assert others == set()


# -- what the reader of a journal believes ----------------------------------------------------------------------------


@pytest.mark.parametrize("result", ["kept", "restored", "failed", "conflict", "gone", "verified"])
@pytest.mark.parametrize("twice", [False, True], ids=["outcome", "intent and outcome"])
def test_what_another_user_says_of_a_change_is_not_believed(tmp_path: Path, result: str, twice: bool) -> None:
    journal, joes = of_janes(tmp_path), Journal(tmp_path, uid=JOE)
    journal.write_intent("c1", Path(SESSION), on_trial(), until=boot_clock() + 600)
    (trial,) = journal.trials()
    if twice:
        copy = dict(read_records(journal.file)[0])
        joes._append({**copy, "until": None, "after": "1"}, "")

    joes.write_outcome("c1", Path(SESSION), result)
    joes.write_setter("c1", Path(SESSION), os.getpid(), "sdparm")

    assert journal.trials() == (trial,)
    assert journal.trials_of(Path(SESSION), trial.until or 0.0) == (trial,)
    assert journal.intent_of("c1", Path(SESSION)) == trial
    assert not journal.is_decided(trial)


@pytest.mark.parametrize("uid", [None, ROOT, JANE])
def test_its_owner_and_root_end_a_change(tmp_path: Path, uid: int | None) -> None:
    of_janes(tmp_path).write_intent("c1", Path(SESSION), on_trial(), until=boot_clock() + 600)
    journal = Journal(tmp_path, uid=uid)
    (trial,) = journal.trials()

    journal.write_outcome("c1", Path(SESSION), "kept")

    assert (journal.trials(), journal.is_decided(trial)) == ((), True)


@pytest.mark.parametrize("uid", [None, ROOT])
def test_no_user_ends_what_root_has_on_trial(tmp_path: Path, uid: int | None) -> None:
    """With the helper or without it: root's changes name nobody, or user 0."""
    journal = Journal(tmp_path / "journal", uid=uid)
    journal.write_intent("c1", Path(SESSION), on_trial(), until=boot_clock() + 600)
    (trial,) = journal.trials()
    joe = Helper(tmp_path, JOE)

    with pytest.raises(RequestDeniedError, match="belongs to another user"):
        joe.changes.outcome(SESSION, "c1", "kept")
    Journal(tmp_path / "journal", uid=JOE).write_outcome("c1", Path(SESSION), "kept")

    assert (journal.trials(), journal.is_decided(trial)) == ((trial,), False)


@pytest.mark.parametrize("uid", ["4711", True, -1, 4711.0, [], {}], ids=str)
def test_a_record_with_a_strange_user_is_nobodys(tmp_path: Path, uid: object) -> None:
    journal = of_janes(tmp_path)
    journal.write_intent("c1", Path(SESSION), on_trial(), until=boot_clock() + 600)

    Journal(tmp_path)._append({"kind": "outcome", "id": "c1", "session": SESSION, "result": "kept", "uid": uid}, "")

    assert [trial.id for trial in journal.trials()] == ["c1"]


def test_a_journal_of_before_is_read_as_it_was(tmp_path: Path) -> None:
    """Earlier helpers named the user in the intent alone."""
    of_janes(tmp_path).write_intent("c1", Path(SESSION), on_trial(), until=boot_clock() + 600)
    of_janes(tmp_path).write_intent("c2", Path(SESSION), on_trial(), until=boot_clock() + 600)
    Journal(tmp_path).write_outcome("c1", Path(SESSION), "kept")

    assert [trial.id for trial in Journal(tmp_path).trials()] == ["c2"]


def test_each_record_of_a_helper_names_its_user(tmp_path: Path) -> None:
    journal = of_janes(tmp_path)
    journal.write_intent("c1", Path(SESSION), on_trial())
    journal.write_setter("c1", Path(SESSION), os.getpid(), "sdparm")
    journal.write_outcome("c1", Path(SESSION), "verified")

    assert [record["uid"] for record in read_records(journal.file)] == [JANE] * 3


@pytest.mark.parametrize(("first", "second"), [(None, JOE), (JANE, None), (JANE, ROOT), (JANE, JANE)])
def test_an_id_of_an_ended_change_is_refused_before_anything_is_written(
    tmp_path: Path, first: int | None, second: int | None
) -> None:
    journal = Journal(tmp_path, uid=first)
    journal.write_intent("c1", Path(SESSION), on_trial())
    journal.write_outcome("c1", Path(SESSION), "verified")

    with pytest.raises(StorageError, match="different change c1"):
        Journal(tmp_path, uid=second).write_intent("c1", Path(SESSION), planned("256", "512"))

    assert len(read_records(journal.file)) == 2


def test_in_a_journal_of_ones_own_an_open_change_keeps_its_id(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write_intent("c1", Path(SESSION), on_trial(), until=boot_clock() + 600)
    trials = journal.trials()

    with pytest.raises(StorageError, match="different change c1"):
        journal.write_intent("c1", Path(SESSION), planned("256", "512"))

    assert journal.trials() == trials


def test_what_was_kept_stays_decided_whatever_another_user_announces(tmp_path: Path) -> None:
    journal = of_janes(tmp_path)
    journal.write_intent("c1", Path(SESSION), on_trial(), until=boot_clock() + 600)
    (trial,) = journal.trials()
    record = read_records(journal.file)[0]
    journal.write_outcome("c1", Path(SESSION), "kept")

    Journal(tmp_path, uid=JOE)._append({**record, "at": trial.at + 1}, "")

    assert journal.is_decided(trial)


def test_an_intent_that_does_not_read_back_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "read_records", lambda file: [])
    with pytest.raises(StorageError, match=r"cannot be read after writing it\. Nothing was changed"):
        of_janes(tmp_path).write_intent("c1", Path(SESSION), on_trial())


# -- what is on trial is not disturbed --------------------------------------------------------------------------------


@pytest.mark.parametrize("late", [-600.0, OVERDUE, 3599.0])
async def test_the_lock_of_another_users_trial_is_left_to_its_watchdog(
    joe: Helper, monkeypatch: pytest.MonkeyPatch, late: float
) -> None:
    """Also after the deadline: the watchdog may have to wait for a program."""
    (trial,) = joe.journal.trials()
    assert trial.until is not None
    monkeypatch.setattr(journal_module, "boot_clock", lambda: (trial.until or 0.0) + late)

    with pytest.raises(RefusedError, match=r"^The trial of .* is not decided yet"):
        joe.changes.lock(lock_name(LOCK), "measuring")

    with hold_lock(joe.paths.locks, LOCK, "taking it back"):
        pass


async def test_a_decided_trial_leaves_its_lock_to_everybody(joe: Helper) -> None:
    of_janes(joe.paths.journal).write_outcome("c1", Path(SESSION), "kept")

    assert joe.changes.lock(lock_name(LOCK), "measuring") == {}


@pytest.mark.parametrize("uid", [JANE, ROOT])
async def test_its_owner_and_root_lock_what_is_on_trial(joe: Helper, tmp_path: Path, uid: int) -> None:
    assert Helper(tmp_path, uid).changes.lock(lock_name(LOCK), "changing") == {}


@pytest.mark.parametrize("uid", [JANE, ROOT])
async def test_another_terminal_of_its_owner_and_root_keep_it(joe: Helper, tmp_path: Path, uid: int) -> None:
    Helper(tmp_path, uid).changes.outcome(SESSION, "c1", "kept")

    assert open_trials(joe) == []


@pytest.mark.parametrize("again", ["intend", "apply"])
async def test_a_plan_ends_with_its_lock(tmp_path: Path, again: str) -> None:
    """What somebody else does under the lock meanwhile was not there when it was planned."""
    helper = Helper(tmp_path, JANE)
    change = await helper.planned()
    if again == "apply":
        helper.intend()
    helper.changes.unlock(lock_name(change.locks[0]))
    helper.changes.lock(lock_name(change.locks[0]), "changing")

    async def go_on() -> None:
        if again == "intend":
            helper.intend()
        else:
            await helper.changes.apply(SESSION, "c1")

    with pytest.raises(RequestDeniedError, match="was lost in between"):
        await go_on()

    assert helper.host.written == []


@pytest.mark.parametrize("verb", ["apply", "remake"])
async def test_a_lock_is_not_let_go_while_a_change_is_made_under_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    helper = Helper(tmp_path, JANE)
    change = await helper.planned()
    helper.intend()
    name = lock_name(change.locks[0])
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def waits(_backend: object, _change: Change) -> None:
        begun.set()
        await may_end.wait()

    async def again(_backend: object, change: Change) -> Change:
        return change

    monkeypatch.setattr(BlockBackend, "apply", waits)
    monkeypatch.setattr(BlockBackend, "plan_remake", again, raising=False)
    making = asyncio.ensure_future(getattr(helper.changes, verb)(SESSION, "c1"))
    await begun.wait()
    with pytest.raises(RequestDeniedError, match="a change is being applied under this lock"):
        helper.changes.unlock(name)
    with pytest.raises(HeldError), hold_lock(helper.paths.locks, name, "measuring"):
        pass
    may_end.set()
    await making
    helper.changes.unlock(name)


# -- watchdogs --------------------------------------------------------------------------------------------------------


async def test_nobody_arms_a_watchdog_for_another_users_trial(joe: Helper) -> None:
    (trial,) = joe.journal.trials()
    assert trial.until is not None

    with pytest.raises(RequestDeniedError, match="no announced trial"):
        await joe.changes.arm(SESSION, trial.until)


async def test_nobody_adds_to_the_set_that_another_users_watchdog_takes_back(joe: Helper) -> None:
    """One trial that cannot be taken back would keep the watchdog from being armed for the others."""
    (trial,) = joe.journal.trials()
    await joe.planned()

    with pytest.raises(RequestDeniedError, match="this set of trials belongs to another user"):
        joe.intend(until=trial.until, id="c2")

    assert open_trials(joe) == JANES


async def test_a_watchdog_is_armed_once_and_not_without_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jane, ends = Helper(tmp_path, JANE), [boot_clock() + 100 + number for number in range(20)]
    for number, until in enumerate(ends):
        jane.changes._journal.write_intent(f"c{number}", Path(SESSION), on_trial(), until=until)
    failing = [True]

    async def arms(*_: object) -> None:
        if failing.pop():
            raise RefusedError("It is not armed.")

    monkeypatch.setattr(change_verbs, "arm", arms)
    with pytest.raises(RefusedError, match="not armed"):
        await jane.changes.arm(SESSION, ends[0])
    done = []
    for until in (ends[0], *ends):
        failing.append(False)
        try:
            done.append(await jane.changes.arm(SESSION, until))
        except RequestDeniedError as error:
            assert "already armed, or too many watchdogs" in str(error)  # noqa: PT017
    assert len(done) == change_verbs.MAX_WATCHDOGS


# -- one's own, among those of others ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("uid", "ours"), [(JANE, True), (JOE, False), (ROOT, True)])
def test_a_user_decides_their_own_trials_and_root_all(
    joe: Helper, monkeypatch: pytest.MonkeyPatch, uid: int, ours: bool
) -> None:
    (trial,) = joe.journal.trials()
    monkeypatch.setattr(os, "getuid", lambda: uid)
    assert HelperJournal(joe.paths.journal, side=None).is_ours(trial) is ours  # type: ignore[arg-type]


async def test_an_outcome_that_is_there_already_adds_nothing(tmp_path: Path) -> None:
    jane = Helper(tmp_path, JANE)
    await jane.planned()
    jane.intend(until=boot_clock() + 60)
    for result in ("verified", "verified", "kept", "kept", "verified", "failed"):
        jane.changes.outcome(SESSION, "c1", result)

    assert [record.get("result") for record in read_records(jane.journal.file)] == [None, "verified", "kept"]
