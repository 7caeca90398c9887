"""What was said of the runs decides whether there is a verdict, and what stands after it."""

from __future__ import annotations

import pytest

from app.core.analysis.caveats import FORBIDS, LOST_WRITE_BACK, WEAKENS, blocking_caveats
from app.core.analysis.comparison import Comparison, compare
from app.core.analysis.reasons import Caveat
from app.core.analysis.verdict import Verdict
from app.core.presentation import json_schema_compare
from app.core.presentation.comparison_text import comparison_sentence
from app.core.presentation.verdict_text import state_text, weakened_text
from app.core.session.results import Advice, SteadyStateResult
from app.core.session.state import replay
from app.features.advice.rules import KEYS
from tests.case_loop import loop_over
from tests.core import sessions

REBUILD = Advice(key="background-task", message="Background work goes on.", about=("rebuild",))
GOVERNOR = Advice(key="governor", message="The frequency governor is powersave on 4 of 4 CPUs.")
UNSTEADY = SteadyStateResult(attained=False, range_share=0.4, slope_share=0.2, rounds=5, window=5, round_s=10.0)


def compared(advice: dict[str, Advice], *, steady: SteadyStateResult | None = None) -> Comparison:
    """Three runs of 1000 IOPS and three of 800, measured in turn, with what was said of some."""
    sides = (
        ("r1", 1000, "1"),
        ("r2", 800, "2"),
        ("r3", 801, "2"),
        ("r4", 1001, "1"),
        ("r5", 999, "1"),
        ("r6", 799, "2"),
    )
    runs = [
        sessions.run(
            name,
            iops=iops,
            settings={"a": value},
            advice=(advice[name],) if name in advice else (),
            steady=steady if name == "r1" else None,
            at=1000.0 + int(name[1:]),
        )
        for name, iops, value in sides
    ]
    session = sessions.in_pairs(runs, "ABBAAB")
    return compare(session.runs[0], session.runs[1], session.runs, session.runs, experiments=session.experiments)


def test_runs_of_which_nothing_is_said_carry_a_verdict() -> None:
    both = compared({})
    assert comparison_sentence(both).startswith("Slower with a 2 than with 1: read IOPS")
    assert "Caveats" not in comparison_sentence(both)


def test_a_rebuild_during_two_runs_forbids_a_verdict_and_is_named() -> None:
    both = compared({"r3": REBUILD, "r5": REBUILD})
    assert comparison_sentence(both).startswith(
        "No verdict on a 2 against 1: a rebuild was running in r3, r5; read IOPS"
    )
    assert {row.judgement.verdict for row in both.rows if row.judgement} == {Verdict.REFUSED}


@pytest.mark.parametrize("key", FORBIDS)
def test_every_disqualifying_advice_forbids_a_verdict(key: str) -> None:
    about = {"policy-not-in-force": LOST_WRITE_BACK}.get(key, ())
    both = compared({"r4": Advice(key=key, message="Something.", about=about)})
    assert comparison_sentence(both).startswith("No verdict on a 2 against 1")
    assert "Caveats" not in comparison_sentence(both)
    assert "in r4" in comparison_sentence(both)


@loop_over("key", sorted(WEAKENS))
def test_what_weakens_leaves_the_verdict_and_stands_after_it(key: str) -> None:
    both = compared({"r2": Advice(key=key, message="Something.")})
    assert comparison_sentence(both).startswith("Slower with a 2 than with 1: read IOPS")
    assert comparison_sentence(both).endswith(f"Caveats: {weakened_text(both.weakened)}.")


def test_what_is_said_of_all_runs_is_said_once() -> None:
    both = compared({f"r{number}": GOVERNOR for number in range(1, 7)})
    assert comparison_sentence(both).endswith("Caveats: frequency governor in all runs.")


def test_a_run_that_was_not_steady_is_said_without_any_advice() -> None:
    assert comparison_sentence(compared({}, steady=UNSTEADY)).endswith("Caveats: not steady in r1.")


def test_the_interval_is_kept_and_no_more_pairs_are_asked_for() -> None:
    row = compared({"r1": REBUILD}).rows[0]
    told = json_schema_compare.figure(row)
    assert (told["verdict"], told["further_pairs"]) == ("refused", None)
    assert told["interval_percent"] is not None


def test_work_of_a_kind_that_has_no_name_forbids_as_well() -> None:
    both = compared({"r1": Advice(key="background-task", message="Background work goes on: defragmenting.")})
    assert "background work was running in r1" in comparison_sentence(both)


def test_two_kinds_of_work_are_both_named() -> None:
    work = Advice(key="background-task", message="Something.", about=("patrol-read", "consistency-check"))
    session = replay([*sessions.run("r1", advice=(work,))])
    assert state_text(blocking_caveats(session.runs)) == "patrol read and a consistency check were running in r1"


def test_everything_that_weakens_has_words_of_its_own() -> None:
    doubts = [Caveat(key=key, about=(), runs=("r2",), all_runs=False) for key in sorted(WEAKENS)]
    told = [weakened_text((one,)) for one in doubts]
    assert len({*told}) == len(told)
    assert all(words.endswith(" in r2") and len(words) > len("xx in r2") for words in told)


def test_only_advice_that_exists_is_weighed() -> None:
    assert set(FORBIDS) | set(WEAKENS) <= set(KEYS)


def test_cached_io_that_caches_writes_as_well_is_a_setting_and_no_mishap() -> None:
    cached = Advice(key="policy-not-in-force", message="Something.", about=("write_cache", "write-back"))
    both = compared({"r4": cached})
    assert comparison_sentence(both).startswith("Slower with a 2 than with 1: read IOPS")
    assert comparison_sentence(both).endswith("Caveats: a configured policy was not in force in r4.")


def test_no_wording_of_an_advice_decides_anything() -> None:
    """Only its key and what it is about do."""
    message = "Write cache is set to write-back, but write-through is in force, and a rebuild goes on."
    session = replay([*sessions.run("r1", advice=(Advice(key="governor", message=message),))])
    assert state_text(blocking_caveats(session.runs)) == ""
    cached = Advice(key="policy-not-in-force", message=message, about=("io_policy", "cached"))
    assert blocking_caveats(replay([*sessions.run("r1", advice=(cached,))]).runs) == ()
