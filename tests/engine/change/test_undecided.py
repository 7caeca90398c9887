"""Undecided trials of a machine: those of all of root's journals, each until its watchdog is overdue."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.change.undecided import UndecidedTrials
from app.engine.session import journal as journals_module
from app.engine.session.journal import OVERDUE, Journal, boot_clock
from app.engine.session.journals import enrol
from tests.engine.doubles import planned


def ids(trials: UndecidedTrials) -> list[str]:
    return [one.trial.id for one in trials.now()]


def test_a_trial_in_another_state_folder_of_root_is_found(tmp_path: Path) -> None:
    (locks := tmp_path / "locks").mkdir(mode=0o700)
    own, other = Journal(tmp_path / "own"), Journal(tmp_path / "other")
    enrol(locks, other)
    other.intent("c1", tmp_path / "session", planned("128", "256"), until=boot_clock() + 600)
    trials = UndecidedTrials(own, locks)
    assert ids(trials) == ["c1"]
    other.outcome("c1", tmp_path / "session", "kept")
    assert ids(trials) == []


def test_a_trial_whose_watchdog_is_overdue_is_undecided_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though its journal has not changed since it was read."""
    own, until = Journal(tmp_path / "own"), boot_clock() + 600
    own.intent("c1", tmp_path / "session", planned("128", "256"), until=until)
    trials = UndecidedTrials(own, tmp_path / "locks")
    assert ids(trials) == ["c1"]
    monkeypatch.setattr(journals_module, "boot_clock", lambda: until + OVERDUE + 1)
    assert ids(trials) == []
