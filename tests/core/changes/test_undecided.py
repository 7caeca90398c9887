"""Undecided trials of a machine: those of all of root's journals, each until its watchdog is overdue."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.changes.pending_trials import UndecidedTrials
from app.core.presentation.trials import trial_lines
from app.core.session import journal as journals_module
from app.core.session.journal import OVERDUE, Journal, boot_clock
from app.core.session.journals import register_journal
from tests.core.doubles import planned


def ids(trials: UndecidedTrials) -> list[str]:
    return [one.trial.id for one in trials.current()]


def test_a_trial_in_another_state_folder_of_root_is_found(tmp_path: Path) -> None:
    (locks := tmp_path / "locks").mkdir(mode=0o700)
    own, other = Journal(tmp_path / "own"), Journal(tmp_path / "other")
    register_journal(locks, other)
    other.write_intent("c1", tmp_path / "session", planned("128", "256"), until=boot_clock() + 600)
    trials = UndecidedTrials(own, locks)
    assert ids(trials) == ["c1"]
    other.write_outcome("c1", tmp_path / "session", "kept")
    assert ids(trials) == []


def test_a_trial_whose_watchdog_is_overdue_is_undecided_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though its journal has not changed since it was read."""
    own, until = Journal(tmp_path / "own"), boot_clock() + 600
    own.write_intent("c1", tmp_path / "session", planned("128", "256"), until=until)
    trials = UndecidedTrials(own, tmp_path / "locks")
    assert ids(trials) == ["c1"]
    monkeypatch.setattr(journals_module, "boot_clock", lambda: until + OVERDUE + 1)
    assert ids(trials) == []


def test_the_sentence_names_the_session_that_undoes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A newer session may have changes in force: plain `undo` would take those."""
    own = Journal(tmp_path / "own")
    own.write_intent("c7", tmp_path / "a session", planned("128", "256"), until=boot_clock() + 600)
    trials = UndecidedTrials(own, tmp_path / "locks").current()
    assert f"`raidbench --session '{tmp_path}/a session' undo c7` reverts" in trial_lines(trials)[0]
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    (others,) = trial_lines([replace(one, uid=4321) for one in trials])
    assert "`u` in the workbench reverts" in others
    monkeypatch.setattr(os, "geteuid", lambda: 4322)
    (others,) = trial_lines([replace(one, uid=4321) for one in trials])
    assert others.endswith("user 4321 or root can confirm or revert it.")
