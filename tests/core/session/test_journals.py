"""Which journals have had a trial stands beside the locks, once each, for whoever keeps things elsewhere."""

from __future__ import annotations

import json
import os
from pathlib import Path

from app.core.session.journal import Journal, boot_clock
from app.core.session.journals import FILE, register_journal, trials_elsewhere
from tests.core.doubles import planned


def on_trial(folder: Path) -> Journal:
    """A journal with a trial that nobody has decided."""
    journal = Journal(folder)
    journal.write_intent("c1", folder, planned("128", "256"), until=boot_clock() + 60)
    return journal


def test_each_journal_stands_there_once_and_nothing_stays_open(tmp_path: Path) -> None:
    locks, journals = tmp_path / "locks", [Journal(tmp_path / name) for name in "abab"]
    before = os.listdir("/proc/self/fd")
    for journal in journals:
        register_journal(locks, journal)
    told = [json.loads(line) for line in (locks / FILE).read_text().splitlines()]
    assert told == [str(tmp_path / "a"), str(tmp_path / "b")]
    assert os.listdir("/proc/self/fd") == before


def test_trials_are_seen_from_every_other_journal_and_not_from_their_own(tmp_path: Path) -> None:
    locks, here, there = tmp_path / "locks", on_trial(tmp_path / "a"), on_trial(tmp_path / "b")
    for journal in (here, there):
        register_journal(locks, journal)
    assert [trial.session for trial in trials_elsewhere(locks, here)] == [str(tmp_path / "b")]
    assert len(trials_elsewhere(locks, Journal(tmp_path / "c"))) == 2
