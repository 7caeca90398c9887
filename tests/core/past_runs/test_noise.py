"""How far runs of one job on one thing lie apart, from the history."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.core.analysis.past_runs.earlier_runs import PastRun
from app.core.analysis.past_runs.series import noise_of_condition
from tests.core.past_runs.test_series import past

CONDITION = past(1.0).condition


def repeats(*values: float, session: str = "s1") -> list[PastRun]:
    return [past(value, session=session, id=f"r{at}") for at, value in enumerate(values)]


def with_(runs: list[PastRun], **other: Any) -> list[PastRun]:
    return [replace(run, **other) for run in runs]


def test_the_repeats_of_all_sessions_tell_it_whatever_their_level() -> None:
    known = [*repeats(100.0, 102.0, 98.0), *repeats(50.0, 51.0, 49.0, session="s2")]
    noise = noise_of_condition(CONDITION, known)
    assert noise is not None
    assert (noise.runs, noise.dof, round(noise.percent)) == (6, 4, 2)


def test_other_settings_repeat_nothing() -> None:
    known = [*repeats(100.0, 101.0, 100.5), *with_(repeats(50.0, 50.1, 50.2), settings={"read_ahead_kb": "64"})]
    noise = noise_of_condition(CONDITION, known)
    assert noise is not None
    assert noise.percent < 1


def test_what_was_tried_counts() -> None:
    assert noise_of_condition(CONDITION, with_(repeats(100.0, 101.0, 99.0, 100.0), tried=True)) is not None


@pytest.mark.parametrize("other", [{"thing": "wwn 2"}, {"job": "iodepth=1"}, {"status": "failed"}, {"forbidden": True}])
def test_runs_of_something_else_or_of_two_states_tell_nothing(other: dict[str, object]) -> None:
    assert noise_of_condition(CONDITION, with_(repeats(100.0, 101.0, 99.0, 100.0), **other)) is None


def test_three_runs_are_too_few() -> None:
    assert noise_of_condition(CONDITION, repeats(100.0, 101.0, 99.0)) is None
