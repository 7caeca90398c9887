"""A later session against an earlier one: worse by the threshold, not worse, or not decided."""

from __future__ import annotations

from math import log
from random import Random

import pytest

from app.core.analysis.regression import RegressionVerdict, judge_later, session_scatter
from app.core.analysis.stats import MeanInterval

SAVED = (100.0, 101.0, 99.0)


def standing(now: tuple[float, ...], **more: object) -> RegressionVerdict:
    return judge_later(SAVED, now, between=None, **more).standing  # type: ignore[arg-type]


def scattered(sd: float, sessions: int = 10) -> MeanInterval:
    return MeanInterval(mean=0.0, half=None, sd=sd, n=sessions)


def test_half_as_fast_is_worse() -> None:
    assert standing((50.0, 50.5, 49.5)) is RegressionVerdict.WORSE


def test_the_same_is_not() -> None:
    assert standing((100.5, 99.5, 100.0)) is RegressionVerdict.NOT_WORSE


def test_faster_is_not() -> None:
    assert standing((200.0, 201.0, 199.0)) is RegressionVerdict.NOT_WORSE


def test_of_a_latency_more_is_worse() -> None:
    assert standing((200.0, 201.0, 199.0), higher_is_better=False) is RegressionVerdict.WORSE


def test_of_a_latency_less_is_not() -> None:
    assert standing((50.0, 50.5, 49.5), higher_is_better=False) is RegressionVerdict.NOT_WORSE


def test_an_interval_over_the_threshold_decides_nothing() -> None:
    assert standing((95.0, 96.0, 94.0)) is RegressionVerdict.NOT_DECIDED


@pytest.mark.parametrize(
    ("threshold", "expected"), [(2.0, RegressionVerdict.WORSE), (12.0, RegressionVerdict.NOT_WORSE)]
)
def test_the_threshold_decides(threshold: float, expected: RegressionVerdict) -> None:
    assert standing((95.0, 96.0, 94.0), threshold=threshold) is expected


def test_two_runs_decide_nothing() -> None:
    assert standing((50.0, 50.5)) is RegressionVerdict.NOT_DECIDED


def test_what_sessions_lie_apart_by_is_allowed_for() -> None:
    judged = judge_later(SAVED, (85.0, 85.5, 84.5), between=scattered(0.08))
    assert judged.standing is RegressionVerdict.NOT_DECIDED


def test_sessions_that_agree_make_the_interval_no_narrower() -> None:
    alone = judge_later(SAVED, (85.0, 85.5, 84.5), between=None)
    assert judge_later(SAVED, (85.0, 85.5, 84.5), between=scattered(1e-6)) == alone


def test_three_sessions_tell_nothing_of_how_far_they_lie_apart() -> None:
    assert session_scatter((100.0, 101.0, 99.0)) is None


def test_four_do() -> None:
    assert session_scatter((100.0, 101.0, 99.0, 100.0)) is not None


def test_how_far_sessions_lie_apart_is_found() -> None:
    random = Random(1)
    found = session_scatter([100 * (1 + random.gauss(0, 0.03)) for _ in range(2000)])
    assert found is not None
    assert found.sd == pytest.approx(0.03, rel=0.08)


def test_a_level_that_changed_does_not_count_as_scatter() -> None:
    found = session_scatter((100.0, 101.0, 100.0, 101.0, 50.0, 50.5, 50.0, 50.5))
    assert found is not None
    assert found.sd == pytest.approx(log(1.01) / 0.6745 / 2**0.5, rel=0.01)
