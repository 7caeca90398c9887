"""What was drawn and planned is judged, what was not is shown; who asks again is judged by all answers together."""

from __future__ import annotations

from dataclasses import replace
from math import exp
from random import Random

import pytest

from app.core.analysis.comparison import Comparison, compare, compare_experiment
from app.core.analysis.pair_design import STANDARD, repeated_looks
from app.core.analysis.reasons import Reason
from app.core.analysis.sample_groups import RunOrder
from app.core.analysis.verdict import Verdict, VerdictResult, judge
from app.core.session.event_types import InterimAnalysis
from app.core.session.events import ExperimentMark, LoggedEvent
from app.core.session.state import Session, replay
from tests.core import sessions

BY_HAND = "ABBAABBABAAB"


def runs(letters: str, effect: float = 0.8, first: int = 1, **more: object) -> list[list[LoggedEvent]]:
    """Runs with the value of their letter, B by so much."""
    values = {"A": "1", "B": "2"}
    return [
        sessions.run(
            f"r{at}",
            iops=(1000 + at % 3) * (effect if letter == "B" else 1.0),
            settings={"a": values[letter]},
            at=1000.0 + at,
            **more,  # type: ignore[arg-type]
        )
        for at, letter in enumerate(letters, first)
    ]


def headline(comparison: Comparison | None) -> VerdictResult:
    assert comparison is not None
    assert comparison.headline is not None
    assert comparison.headline.judgement is not None
    return comparison.headline.judgement


def by_hand(letters: str) -> Comparison:
    found = replay([event for run in runs(letters) for event in run]).runs
    return compare(found[0], found[1], found, found)


@pytest.mark.parametrize("pairs", [3, 4, 5, 6])
def test_runs_alternated_by_hand_have_an_interval_and_no_verdict(pairs: int) -> None:
    compared = by_hand(BY_HAND[: 2 * pairs])
    judgement = headline(compared)
    assert compared.sides.order is RunOrder.IN_TURN
    assert (judgement.verdict, judgement.reason) == (Verdict.NOT_DECIDED, Reason.NOT_DRAWN)
    assert judgement.interval is not None
    assert judgement.interval.excludes_zero
    assert not any(row.judgement.differs for row in compared.rows if row.judgement)


def test_the_same_runs_in_an_order_that_was_drawn_have_one() -> None:
    session = sessions.in_pairs(runs(BY_HAND), BY_HAND)
    assert headline(compare_experiment(session, "e1")).verdict is Verdict.SLOWER


def test_two_runs_of_it_stand_for_it_with_its_plan() -> None:
    session = sessions.in_pairs(runs(BY_HAND[:8]), BY_HAND[:8], judged=6)
    a, b = session.runs[:2]
    judgement = headline(compare(a, b, session.runs, session.runs, experiments=session.experiments))
    assert (judgement.verdict, judgement.reason) == (Verdict.NOT_DECIDED, Reason.BEFORE_LOOK)


def test_without_its_plan_they_have_no_verdict() -> None:
    session = sessions.in_pairs(runs(BY_HAND), BY_HAND)
    a, b = session.runs[:2]
    assert headline(compare(a, b, session.runs, session.runs)).reason is Reason.OF_EXPERIMENT


def test_an_order_of_an_earlier_version_that_was_not_drawn_is_judged_as_it_was() -> None:
    session = sessions.in_pairs(runs(BY_HAND), BY_HAND, seed=None)
    assert headline(compare_experiment(session, "e1")).verdict is Verdict.SLOWER


def again(session: Session, letters: str, *, effect: float = 0.8, key: str = "a", b: str = "2") -> Session:
    """The session with another experiment that asks the same, unless told otherwise."""
    first = session.experiments[0].start
    number, count = len(session.experiments) + 1, len(session.runs)
    start = replace(first, id=f"e{number}", key=key, b=b)
    events: list[LoggedEvent] = [*session.events, start]
    for at, (run, letter) in enumerate(zip(runs(letters, effect, count + 1), letters, strict=True)):
        begun, over = run
        mark = ExperimentMark(experiment=start.id, letter=letter, pair=at // 2 + 1)
        events += [replace(begun, mark=mark), over]  # type: ignore[arg-type]
    return replay(events)


ONCE = sessions.in_pairs(runs(BY_HAND), BY_HAND)


def test_who_asks_again_is_judged_by_all_pairs_together_at_a_stricter_level() -> None:
    compared = compare_experiment(again(ONCE, BY_HAND), "e2")
    assert compared is not None
    assert (len(compared.sides.a), compared.sides.before, compared.sides.others) == (12, 6, ("e1",))
    interval = headline(compared).interval
    assert interval is not None
    assert interval.level == pytest.approx(0.05 * 0.2)


def test_each_time_more_so() -> None:
    compared = compare_experiment(again(again(ONCE, BY_HAND), BY_HAND), "e3")
    assert compared is not None
    assert (compared.sides.others, compared.sides.looks[-1].pairs) == (("e1", "e2"), 18)
    assert compared.sides.looks[-1].level == pytest.approx(0.05 * 0.1)


def test_the_first_keeps_what_it_was() -> None:
    twice = again(ONCE, BY_HAND, effect=1.0)
    assert headline(compare_experiment(twice, "e1")) == headline(compare_experiment(ONCE, "e1"))


@pytest.mark.parametrize(("key", "b"), [("a", "4"), ("z", "2")])
def test_another_question_is_one_of_its_own(key: str, b: str) -> None:
    compared = compare_experiment(again(ONCE, BY_HAND, key=key, b=b), "e2")
    assert compared is not None
    assert compared.sides.others == ()


def test_looks_that_lie_ahead_count_the_earlier_pairs() -> None:
    again = repeated_looks(STANDARD, 1, 20)
    assert [look.pairs for look in again] == [26, 28, 30, 32, 36, 40]
    assert [look.inside_level for look in again] == pytest.approx([look.inside_level * 0.2 for look in STANDARD])


def test_asking_until_it_shows_is_seldom_wrong() -> None:
    """With a level of its own each time a quarter of experiments without an effect would tell one after five."""
    random, false = Random(5), 0
    for _ in range(200):
        a: list[float] = []
        b: list[float] = []
        told = False
        for time in range(5):
            (look,) = repeated_looks((InterimAnalysis(pairs=6, level=0.05),), time, len(a))
            a, b = (side + [exp(random.gauss(0, 0.03)) for _ in range(6)] for side in (a, b))
            told = told or judge(a, b, interleaved=True, level=look.level, threshold=0.01).differs
        false += told
    assert false <= 22  # 7 % and three standard errors
