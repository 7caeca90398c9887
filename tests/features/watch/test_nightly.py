"""The recipe of docs/baselines.md for every night, run as it stands there over simulated nights."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import exp
from pathlib import Path
from random import Random

import pytest

from app.cli.exit_status import DONE, FOUND, UNDECIDED
from app.core.analysis.past_runs.earlier_runs import PastRun, job_text
from app.core.analysis.past_runs.series import series_of
from app.core.analysis.regression import RegressionVerdict
from app.core.session.state import RunRecord
from app.core.session.store import load
from app.features.history.baseline_check import STATUS, check_runs, status_of_history
from app.features.history.baseline_presentation import check_text
from app.features.history.baselines import Baseline, baseline_of
from tests.core import sessions
from tests.core.past_runs.test_series import DAY, past

PAGE = Path(__file__).resolve().parents[3] / "docs/baselines.md"
WWN = "naa.5000c500a1b2c3d4"
USUAL = 30
"""Nights before the loss."""


def recipe() -> str:
    """What stands on the page for cron."""
    (found,) = re.findall(
        r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8").partition("## Every night")[2], re.DOTALL
    )
    return str(found)


def measured(folder: Path, level: float, at: float, random: Random) -> tuple[RunRecord, ...]:
    events = [
        event
        for number in range(3)
        for event in sessions.run(f"r{number}", iops=level * exp(random.gauss(0, 0.01)), at=at + number)
    ]
    written = sessions.written(folder, sessions.started(), sessions.seen(wwn=WWN), *events)
    return load(written).session.runs


class Machine:
    """One whose nights lie 2 % apart, and what its checks came to."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._random = folder, Random(seed)
        self._baseline: Baseline | None = None
        self.known: list[PastRun] = []
        self.sentences: list[str] = []

    def night(self, number: int, loss: float) -> int:
        """The exit status of its check."""
        folder = self._folder / f"night{number}"
        level = 1000 * (1 - loss) * exp(self._random.gauss(0, 0.02))
        runs = measured(folder, level, number * DAY, self._random)
        if self._baseline is None:
            self._baseline = baseline_of("nightly", load(folder), runs)
            return DONE
        base = self._baseline
        found = check_runs(base, runs, self.known, threshold=5.0)
        alike = past(1.0, thing=base.thing, settings=dict(base.start.settings))
        self.known += [
            replace(
                alike,
                value=None if run.figures.read is None else run.figures.read.iops,
                session=f"night{number}",
                id=run.id,
                at=run.start.at,
                job=job_text(run.start.job),
            )
            for run in runs
        ]
        self.sentences.append(check_text(found))
        return STATUS[found.judgement.standing]


def mails(folder: Path, statuses: Sequence[int]) -> list[int]:
    """Nights on which the recipe sends one: it is run in a shell, with programs that end as ours did."""
    programs = folder / "bin"
    programs.mkdir()
    for name, body in (("raidbench", 'echo "night $NIGHT"; exit "$STATUS"'), ("mail", "cat >> mails")):
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)
    for night, status in enumerate(statuses):
        environment = {"PATH": f"{programs}:{os.environ['PATH']}", "NIGHT": str(night), "STATUS": str(status)}
        subprocess.run(["sh", "-c", recipe()], cwd=folder, env=environment, check=True, timeout=180)
    sent = folder / "mails"
    return [int(row.split()[1]) for row in sent.read_text().splitlines()] if sent.exists() else []


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(tmp_path_factory.mktemp("machine"), seed=3)


@pytest.fixture(scope="module")
def statuses(machine: Machine) -> tuple[int, ...]:
    """Thirty nights as ever, then twelve with 10 % less."""
    return tuple(machine.night(number, 0.10 if number >= USUAL else 0.0) for number in range(USUAL + 12))


def test_unchanged_nights_send_no_mail_and_a_loss_one(statuses: tuple[int, ...], tmp_path: Path) -> None:
    sent = mails(tmp_path, statuses)
    assert len(sent) == 1
    assert USUAL <= sent[0] < USUAL + 3


def test_what_is_not_decided_is_never_mailed(tmp_path: Path) -> None:
    assert mails(tmp_path, [UNDECIDED, DONE, 1, 2, 3, UNDECIDED]) == []


def test_a_loss_is_5_once_and_4_afterwards(statuses: tuple[int, ...]) -> None:
    told = statuses.index(FOUND)
    assert statuses.count(FOUND) == 1
    assert set(statuses[told + 1 :]) == {UNDECIDED}


def test_the_first_nights_say_that_it_learns(machine: Machine, statuses: tuple[int, ...]) -> None:
    assert statuses
    assert "collecting reference data: 2 of 10 nights" in machine.sentences[0]
    assert not any("learning" in sentence for sentence in machine.sentences[10:])


def test_the_history_tells_it_on_the_same_nights(machine: Machine, statuses: tuple[int, ...]) -> None:
    told = statuses.index(FOUND)

    def standing(nights: int) -> Iterator[RegressionVerdict]:
        known = [run for run in machine.known if run.at < nights * DAY]
        return (one.chart.standing for one in series_of(known).values())

    assert [status_of_history(standing(nights)) for nights in (USUAL, told + 2)] == [DONE, UNDECIDED]
