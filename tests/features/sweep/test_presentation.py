"""What is told of a sweep: the same on screen, command line and report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.presentation.labels import with_labels
from app.core.presentation.table import FactLine, Tone, text_of
from app.core.session.results import Advice, MemberStats
from app.core.session.state import RunRecord, replay
from app.core.session.sweep_record import SweepEnded, SweepRecord
from app.core.session.sweep_steps import Rank, SweepResult
from app.features.report.markdown import to_markdown
from app.features.report.model import report_of
from app.features.sweep.cli.text import result_lines
from app.features.sweep.engine.results import results
from app.features.sweep.presentation.findings import ending_text, finding_facts, left_out_facts, session_highlights
from app.features.sweep.presentation.plan import cells_table, order_facts
from app.features.sweep.presentation.sweep import legend, matrix, rankings
from tests.core import sessions
from tests.features.sweep.making import design, measured, started
from widgets.text_utils.symbols import SIGNS

AHEAD = '[[axis]]\ntarget="array"\nsetting="ahead"\nvalues=["none","some","all"]\n'
PATTERNS = '[[axis]]\njob="rw"\nvalues=["randread","read"]\n'
LOCKED = '[[axis]]\ntarget="array"\nsetting="locked"\nvalues=["a","b"]\n'
HALF = {"ahead=all": 500.0}


def finished(record: SweepRecord, result: SweepResult = SweepResult.FINISHED, **more: object) -> SweepRecord:
    return replace(record, running=False, end=SweepEnded(at=9.0, result=result, **more))  # type: ignore[arg-type]


def told(record: SweepRecord, runs: tuple[RunRecord, ...]) -> tuple[str, str]:
    """On the command line and in the report."""
    session = replace(replay([sessions.started()]), sweep=finished(record), runs=runs)
    report = to_markdown(report_of(session)).replace("\\", "")
    return "\n".join(result_lines(record, results(record, runs))), report


@pytest.mark.parametrize("place", [0, 1])
def test_every_figure_verdict_and_finding_stands_in_every_place(place: int) -> None:
    record, runs = measured(design(AHEAD + PATTERNS), HALF)
    found = results(record, runs)
    text = told(record, tuple(runs))[place]
    cells = [text_of(cell) for ranked in rankings(found) for row in ranked.rows for cell in row.cells]
    facts = [fact.value for group in finding_facts(record, found) for fact in group.facts]
    assert [each for each in (*cells, *facts) if each not in text] == []


def test_the_signs_are_explained_by_what_is_ranked() -> None:
    assert legend(Rank.IOPS).startswith("↑ faster, ↓ slower, = no difference, ? not decided")
    assert legend(Rank.P99).startswith("↑ higher, ↓ lower")


@pytest.mark.parametrize("rank", Rank)
def test_the_signs_of_the_matrix_are_those_of_all_screens(rank: Rank) -> None:
    known = {sign.char for sign in SIGNS}
    assert [part for part in legend(rank).split(", ") if part[0] not in known] == []


def test_a_refused_cell_has_no_verdict_and_says_why() -> None:
    record, runs = measured(design(AHEAD), HALF)
    rebuild = Advice(key="background-task", message="Something.", about=("rebuild",))
    advised = [
        replace(run, end=replace(run.end, figures=replace(run.end.figures, advice=(rebuild,))))
        for run in runs
        if run.end is not None
    ]
    found = results(record, advised)
    shown = matrix(record, found)
    assert shown.places[shown.down.index("ahead=all")][0].sign == "?"
    assert any("verdict refused: a rebuild was running in" in fact.value for fact in _facts(record, advised, "Notes"))


def _facts(record: SweepRecord, runs: list[RunRecord], heading: str) -> tuple[FactLine, ...]:
    groups = finding_facts(record, results(record, runs))
    return next(group.facts for group in groups if group.heading == heading)


def test_what_is_left_out_is_said_once_for_a_set_up() -> None:
    facts = left_out_facts(design(LOCKED + PATTERNS)).facts
    assert [fact.value.startswith("locked=b: ") for fact in facts] == [True]


DEPTHS = '[[axis]]\njob="iodepth"\nvalues=[1,8,64]\n'


def short(plan: str, iops: dict[str, float]) -> list[str]:
    record, runs = measured(design(plan, repeats=4), iops)
    return list(session_highlights(record, results(record, runs)))


def test_workloads_alone_have_a_best_one_and_no_matrix() -> None:
    record, runs = measured(design(DEPTHS, repeats=4), {"iodepth=64": 2000.0})
    found = results(record, runs)
    assert next(session_highlights(record, found)) == (
        "t: queue depth 64 has the most IOPS, 2.00k; it is significantly better than each of the others."
    )
    assert len(list(rankings(found))) == 1


def test_matrix_rankings_and_front_say_a_field_of_the_job_in_words() -> None:
    plan = f'{AHEAD}[[axis]]\njob="iodepth"\nvalues=[1,8]\n'
    made, runs = measured(design(plan), {})
    record = with_labels(made)
    found = results(record, runs)
    shown = matrix(record, found)
    assert {*shown.down, *shown.across} >= {"queue depth 1", "queue depth 8"}
    assert {table.columns[1].title for table in rankings(found)} == {
        "Configuration, queue depth 1",
        "Configuration, queue depth 8",
    }
    told = [group.heading + fact.value for group in finding_facts(record, found) for fact in group.facts]
    assert not [line for line in told if "iodepth" in line]


def test_lines_of_a_curve_are_the_same_in_words_and_as_recorded() -> None:
    plan = '[[axis]]\njob="profile"\nvalues=["randread-4k","randwrite-4k"]\n' + DEPTHS
    made, runs = measured(design(plan), {})
    assert list(results(made, runs).lines) == ["randread-4k", "randwrite-4k"]
    assert list(results(with_labels(made), runs).lines) == ["randread-4k", "randwrite-4k"]


def test_the_plan_says_its_workloads_and_blocks_in_words() -> None:
    made = design(DEPTHS)
    table = cells_table(made)
    texts = [*(column.title for column in table.columns), *(text_of(row.cells[0]) for row in table.rows)]
    assert {"queue depth 1", "queue depth 8", "queue depth 64"} <= set(texts)
    steps = [fact.value for group in order_facts(made) for fact in group.facts]
    assert all("; queue depth " in step for step in steps)


def test_the_largest_effect_comes_first_good_or_bad() -> None:
    told = short(AHEAD, {"ahead=some": 1200.0, "ahead=all": 500.0})
    assert [sentence.partition(", ")[0] for sentence in told[:2]] == [
        "randread: ahead=all is slower than ahead=none",
        "randread: ahead=some is faster than ahead=none",
    ]


def test_a_tie_is_told_as_one() -> None:
    told = short(AHEAD, {"ahead=some": 2000.0, "ahead=all": 2000.0})
    assert (
        "randread: a tie for the most IOPS: ahead=all with 2.00k, which is not significantly different from ahead=some."
        in told
    )


def test_nothing_is_called_better_where_nothing_is_shown() -> None:
    assert short(AHEAD, {}) == [
        "randread: no configuration is significantly better than another, 1.00k to 1.00k IOPS.",
    ]


def test_a_sweep_tells_which_member_served_the_reads() -> None:
    record, runs = measured(design(AHEAD), {})
    shares = (("nvme0n1", 0.52), ("sda", 0.48))
    members = tuple(MemberStats(device=name, share_of_reads=share) for name, share in shares)
    counted = [
        replace(run, end=replace(run.end, figures=replace(run.end.figures, members=members)))
        for run in runs
        if run.end is not None
    ]
    facts = _facts(record, counted, "Reads by member")
    assert facts[0].value == "ahead=none, randread: nvme0n1 52 %, sda 48 %"


def test_those_that_share_the_first_place_share_its_number() -> None:
    record, runs = measured(design(AHEAD, repeats=4), {"ahead=some": 2000.0, "ahead=all": 2000.0})
    (ranked,) = rankings(results(record, runs))
    assert [text_of(row.cells[0]) for row in ranked.rows] == ["1=", "1=", "3"]


def test_different_workloads_of_one_set_up_have_no_best_one() -> None:
    assert short(PATTERNS, {"rw=read": 5000.0}) == []


def test_the_end_says_whether_the_settings_are_as_before() -> None:
    record = started(design(AHEAD))
    assert ending_text(finished(record))[0].endswith("; settings restored")
    assert ending_text(finished(record, left=("ahead of fake:v1",))) == (
        "FINISHED: NOT ALL SETTINGS WERE RESTORED: ahead of fake:v1",
        Tone.BAD,
    )
    assert ending_text(finished(record, SweepResult.STOPPED, reason="It was asked to."))[1] is Tone.ATTENTION


def test_in_short_says_what_the_most_of_a_figure_costs_along_a_field_of_numbers() -> None:
    record, runs = measured(design('[[axis]]\njob="iodepth"\nvalues=["1","8","32"]\n'), {})
    told = list(session_highlights(finished(record), results(record, runs)))
    assert [one for one in told if "Queue depth 32 gives" in one and "IOPS of 1 at" in one] != []


def test_a_sweep_that_decides_nothing_says_first_why_and_what_to_do() -> None:
    plan = design(AHEAD, repeats=4)
    record, runs = measured(plan, {"ahead=some": 2000.0, "ahead=all": 500.0})
    half = replace(record, ended=record.ended[: len(record.steps) // 2])
    done = [run for run in runs if run.id in {end.run for end in half.ended}]
    first = next(session_highlights(half, results(half, done)))
    assert first == (
        "No difference is decided: the verdict is due after 4 rounds, and 6 of 12 steps are done. "
        "Resume the sweep to complete the rounds."
    )


def test_too_few_rounds_name_the_number_that_is_enough() -> None:
    record, runs = measured(design(AHEAD, repeats=2), {"ahead=some": 2000.0, "ahead=all": 500.0})
    first = next(session_highlights(record, results(record, runs)))
    assert (first.startswith("No difference is decided: 2 rounds of"), "Measure with " in first) == (True, True)


def test_a_sweep_that_decides_something_does_not_say_so() -> None:
    record, runs = measured(design(AHEAD, repeats=6), {"ahead=some": 2000.0, "ahead=all": 500.0})
    assert not any("No difference is decided" in text for text in session_highlights(record, results(record, runs)))


def test_equal_shares_of_members_are_counted_and_not_listed() -> None:
    record, runs = measured(design(AHEAD), {})
    members = tuple(MemberStats(device=f"sd{letter}", share_of_reads=1 / 3) for letter in "abc")
    counted = [
        replace(run, end=replace(run.end, figures=replace(run.end.figures, members=members)))
        for run in runs
        if run.end is not None
    ]
    facts = _facts(record, counted, "Reads by member")
    assert [fact.value for fact in facts] == ["3 combinations: the same share from each member."]
