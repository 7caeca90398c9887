"""A saturation search and a throughput-latency curve in words, in a table, and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest

from app.core.presentation.table import text_of
from app.features.report.sweep import load_graphs
from app.features.sweep.engine.results import Results, results
from app.features.sweep.presentation.findings import session_highlights
from app.features.sweep.presentation.json_schema import sweep_json
from app.features.sweep.presentation.load_curve import curve_table, knee_text, search_facts, search_text
from tests.features.sweep.loaded import LoadedSweep


@cache
def swept() -> LoadedSweep:
    return LoadedSweep()


@cache
def found() -> Results:
    return results(swept().record, swept().runs)


def words(column: str) -> list[str]:
    """A column of the table of the curve."""
    table = curve_table(found().load_curves[0])
    at = [one.key for one in table.columns].index(column)
    return [text_of(row.cells[at]) for row in table.rows]


def test_the_rate_that_was_too_much_is_told_as_saturated() -> None:
    assert words("word")[-1] == "saturated"


def test_one_rate_is_marked_as_the_knee() -> None:
    assert words("word").count("knee") == 1


def test_every_rate_has_what_was_asked_beside_what_was_reached() -> None:
    asked, reached = words("asked"), words("reached")
    assert asked[0] == reached[0]
    assert asked[-1] != reached[-1]


def test_the_knee_is_told_with_its_interval_and_its_latency() -> None:
    told = knee_text(found().load_curves[0])
    assert told.startswith("Knee at 5.")
    assert "mean latency" in told
    assert "% of saturation" in told


def test_a_curve_that_is_not_complete_says_that_its_knee_is_not_known() -> None:
    curve = replace(found().load_curves[0], knee=None)
    assert knee_text(curve, complete=False) == "The knee is not known yet."


def test_a_curve_without_a_knee_says_how_far_it_was_looked_for() -> None:
    curve = found().load_curves[0]
    carried = replace(curve, knee=None, points=curve.points[:3])
    assert knee_text(carried).startswith("No knee up to")


def test_the_search_names_its_workload_and_every_depth_with_its_error() -> None:
    goal = swept().design.saturation
    assert goal is not None
    told = search_facts(found().saturated[0], goal, "randread-4k")
    assert told.heading == "Saturation of randread-4k"
    assert all("+-" in fact.value and "(3 runs)" in fact.value for fact in told.facts[:-1])


def test_the_search_tells_what_the_target_can_and_the_least_depth_for_it() -> None:
    goal = swept().design.saturation
    assert goal is not None
    assert search_text(found().saturated[0], goal).endswith("is the lowest within 5 % of the maximum.")


def test_a_search_that_ended_at_its_highest_depth_says_that_there_may_be_more() -> None:
    cut = LoadedSweep("[saturation]\nto = 4\n")
    goal = cut.design.saturation
    assert goal is not None
    [one] = results(cut.record, cut.runs).saturated
    assert "A higher depth may reach more" in search_text(one, goal)


def test_a_search_under_way_names_no_saturation() -> None:
    cut = LoadedSweep(most=8)
    goal = cut.design.saturation
    assert goal is not None
    [one] = results(cut.record, cut.runs).saturated
    assert search_text(one, goal).startswith("The search is not complete. The maximum so far is")


def test_in_short_has_the_saturation_and_the_knee() -> None:
    told = [*session_highlights(swept().record, found())]
    assert [one.split()[0] for one in told] == ["Saturated", "Knee"]


def test_the_report_draws_every_point_of_a_curve_with_its_interval() -> None:
    graph = load_graphs(found(), simulated=False)[0]
    assert [line.name for line in graph.series] == ["mean", "p50", "p99", "p99.9"]
    assert all(len(line.points) == len(line.spread) and None not in line.spread for line in graph.series[:3])


def test_the_report_shades_the_interval_of_the_knee() -> None:
    graph = load_graphs(found(), simulated=False)[0]
    knee = found().load_curves[0].knee
    assert knee is not None
    assert graph.shaded == (knee.low, knee.high)


def test_the_json_has_every_rate_with_its_intervals() -> None:
    told = json.loads(json.dumps(sweep_json(swept().record, found(), session="s")))["curves"][0]
    assert [one["percent"] for one in told["points"]] == [20, 40, 60, 70, 80, 90, 95, 100, 110]
    assert {*told["points"][0]["latency_ns"]["p99"]} == {"mean", "low", "high", "n"}
    assert told["knee"]["low"] < told["knee"]["iops"] < told["knee"]["high"]


def test_before_the_first_rate_the_report_draws_the_search() -> None:
    cut = LoadedSweep(most=14)
    assert [graph.key for graph in load_graphs(results(cut.record, cut.runs), simulated=False)] == ["saturation-1"]


def test_the_rates_of_a_curve_are_shares_of_the_saturation() -> None:
    [curve] = found().load_curves
    assert curve.saturation.plateau is not None
    assert curve.points[0].asked == pytest.approx(0.2 * curve.saturation.plateau.mean, rel=0.001)
