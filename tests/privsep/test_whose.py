"""A change belongs to the user who made it: nobody else's terminal ends it, and any terminal of that user does."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.session.journal import Journal, boot_clock
from app.core.session.journals import register_journal
from app.core.session.json_codec import unstructure
from app.core.session.paths import Paths
from app.privsep.change_verbs import HelperChanges
from app.privsep.request_schema import RequestDeniedError
from backends.errors import RefusedError
from backends.model import Target
from backends.registry import MachineBackends
from backends.system.local import LocalHost
from tests.core.doubles import planned

JANE, JOE = 4711, 4712
SESSION = "/home/jane/.local/state/raidbench/sessions/2026-11-23_0900"


def of(folder: Path, uid: int) -> HelperChanges:
    """The changes of a conversation that a user has just begun."""
    paths = Paths(
        sessions=folder / "sessions", journal=folder / "journal", locks=folder / "locks", config=folder / "config.toml"
    )
    host = LocalHost()
    return HelperChanges(host, MachineBackends.of(host), paths, uid)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """Root's journal, with a trial of Jane's."""
    made = Journal(tmp_path / "journal", uid=JANE)
    made.write_intent("c1", Path(SESSION), planned("128", "256"), until=boot_clock() + 600)
    return made


@pytest.mark.parametrize("result", ["kept", "failed", "verified"])
def test_nobody_else_ends_a_trial(tmp_path: Path, journal: Journal, result: str) -> None:
    with pytest.raises(RequestDeniedError, match="belongs to another user"):
        of(tmp_path, JOE).outcome(SESSION, "c1", result)
    assert [trial.id for trial in journal.trials()] == ["c1"]


async def test_nobody_else_has_what_it_deleted_made_again(tmp_path: Path, journal: Journal) -> None:
    with pytest.raises(RequestDeniedError, match="belongs to another user"):
        await of(tmp_path, JOE).remake(SESSION, "c1")


@pytest.mark.parametrize("uid", [JANE, 0])
def test_another_terminal_of_that_user_and_root_keep_it(tmp_path: Path, journal: Journal, uid: int) -> None:
    of(tmp_path, uid).outcome(SESSION, "c1", "kept")
    assert journal.trials() == ()


def test_a_trial_that_nobody_announced_is_not_ended(tmp_path: Path, journal: Journal) -> None:
    for session, id in ((SESSION, "c2"), ("/elsewhere", "c1")):
        with pytest.raises(RequestDeniedError, match="no such change"):
            of(tmp_path, JANE).outcome(session, id, "kept")
    assert [trial.id for trial in journal.trials()] == ["c1"]


async def test_a_trial_in_another_journal_of_root_stands_in_the_way(tmp_path: Path) -> None:
    elsewhere = Journal(tmp_path / "elsewhere")
    change = planned("128", "256", lock="disk0")
    elsewhere.write_intent("c1", Path(SESSION), change, until=boot_clock() + 600)
    register_journal(tmp_path / "locks", elsewhere)
    helper = of(tmp_path, JANE)
    helper.lock("disk0", "changing")
    with pytest.raises(RefusedError, match="not decided yet"):
        await helper.plan(unstructure(change), None)
    elsewhere.write_outcome("c1", Path(SESSION), "kept")
    with pytest.raises(Exception, match=str(Target(backend="fake", address="")).rstrip(":")):
        await helper.plan(unstructure(change), None)  # goes on to the backend, which is not there
