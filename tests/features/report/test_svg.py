"""Graphs: round numbers at the axes, every line to be told apart, nothing lost that matters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.presentation.raw_data import Raw
from app.core.session.results import DirectionSample, DirectionStats, LatencyStats, Phase, Sample
from app.core.session.state import replay
from app.features.report.graph import Axis, AxisUnit, GraphLine, HeatMap, IntervalGraph, LineGraph, Spacing, Whisker
from app.features.report.series import downsample, percentile_series, run_graphs
from app.features.report.svg import to_svg
from app.features.report.svg.scales import Scale, tick
from tests.case_loop import loop_over
from tests.core import sessions
from tests.features.report.pages import picture, words

LINES = LineGraph(
    key="g",
    title="IOPS over time",
    about="What it is.",
    x=Axis(label="seconds", unit=AxisUnit.SECONDS),
    y=Axis(label="IOPS", unit=AxisUnit.IOPS),
    series=(GraphLine(name="read", points=((0.0, 90_000.0), (10.0, 10_000.0))),),
)


def marks(axis: Axis, *values: float) -> list[str]:
    scale = Scale(axis, values)
    return [scale.label(mark) for mark in scale.marks]


@pytest.mark.parametrize(
    ("axis", "values", "shown"),
    [
        (Axis(label="", unit=AxisUnit.IOPS), (0, 84_000), ["0", "20k", "40k", "60k", "80k", "100k"]),
        (Axis(label=""), (-0.3, 0.7), ["-0.4", "-0.2", "0", "0.2", "0.4", "0.6", "0.8"]),
        (Axis(label="", unit=AxisUnit.MIB_PER_S), (0, 300 << 20), ["0", "50", "100", "150", "200", "250", "300"]),
        (
            Axis(label="", unit=AxisUnit.LATENCY, spacing=Spacing.LOG),
            (120_000, 8_000_000),
            ["100 µs", "200 µs", "500 µs", "1 ms", "2 ms", "5 ms", "10 ms"],
        ),
        (
            Axis(label="", unit=AxisUnit.PERCENT, spacing=Spacing.NINES),
            (1, 99.95),
            ["0", "50", "90", "99", "99.9"],
        ),
        (Axis(label="", unit=AxisUnit.SECONDS, tight=True), (-1.8, 7.9), ["0", "2", "4", "6"]),
        (Axis(label="", at=(1.0, 4.0, 64.0)), (1, 64), ["1", "4", "64"]),
    ],
)
def test_marks_are_round_numbers(axis: Axis, values: tuple[float, ...], shown: list[str]) -> None:
    assert marks(axis, *values) == shown


@loop_over("spacing", list(Spacing))
@loop_over("values", [(), (0.0,), (5.0, 5.0), (1e-300, 1e300), (float("nan"), float("inf")), (-1.0, -2.0)])
def test_no_numbers_are_too_odd_for_an_axis(spacing: Spacing, values: tuple[float, ...]) -> None:
    scale = Scale(Axis(label="", spacing=spacing), values).set_range(0, 100)
    assert all(-0.001 <= scale.position(value) <= 100.001 for value in (*scale.marks, -1e9, 0.0, 1e9))


def test_a_size_is_marked_with_its_unit() -> None:
    assert [tick(size, AxisUnit.BYTES) for size in (512, 4096, 1 << 20)] == ["512B", "4K", "1M"]


def test_a_picture_says_what_it_shows_to_those_who_cannot_see_it() -> None:
    root = picture(to_svg(LINES, standalone=True))
    assert [child.text for child in root[:2]] == ["IOPS over time", "What it is."]


def test_lines_differ_in_more_than_colour() -> None:
    drawn = to_svg(replace(LINES, series=tuple(replace(LINES.series[0], name=str(at)) for at in range(6))))
    assert all(f"curve c{at}" in drawn and f"mark m{at}" in drawn for at in range(6))


def test_a_simulated_picture_is_marked_itself() -> None:
    assert "SIMULATED" in words(to_svg(replace(LINES, simulated=True), standalone=True))


def test_a_picture_of_its_own_lies_on_its_paper_and_not_below_it() -> None:
    drawn = [child.tag.rpartition("}")[2] for child in picture(to_svg(replace(LINES, simulated=True), standalone=True))]
    assert drawn.index("rect") < drawn.index("text")


def test_a_line_is_interrupted_where_there_is_no_figure() -> None:
    points = ((0.0, 1.0), (1.0, 2.0), (2.0, None), (3.0, 2.0), (4.0, 1.0))
    drawn = to_svg(replace(LINES, series=(GraphLine(name="a", points=points),)))
    assert drawn.partition(' d="')[2].partition('"')[0].count("M") == 2


def kinds(graph: LineGraph) -> list[str]:
    return [element.get("class") or "" for element in picture(to_svg(graph, standalone=True)).iter()]


def with_series(*, joined: bool = True, spread: tuple[tuple[float, float] | None, ...] = ()) -> LineGraph:
    return replace(LINES, series=(replace(LINES.series[0], measured=True, joined=joined, spread=spread),))


def test_points_that_do_not_follow_from_each_other_have_no_line_between_them() -> None:
    assert "curve c0" in kinds(with_series())
    assert "curve c0" not in kinds(with_series(joined=False))


def test_every_point_with_an_interval_shows_it() -> None:
    assert kinds(with_series(spread=((80_000.0, 100_000.0), None))).count("bar b0") == 3


def test_an_interval_fits_into_the_picture() -> None:
    high = with_series(spread=((80_000.0, 190_000.0), None))
    assert "200k" in words(to_svg(high, standalone=True))


def test_rates_begin_at_zero() -> None:
    assert "0" in words(to_svg(LINES, standalone=True))


def test_a_heat_map_frames_what_it_is_told_to() -> None:
    cells = ((1.0, 20.0), (2.0, 10.0))
    texts = (("1", "20"), ("2", "10"))
    heat = HeatMap(
        key="h", title="", about="", rows=("a", "b"), columns=("x", "y"), cells=cells, texts=texts,
        framed=frozenset({(0, 1), (1, 1)}),
    )  # fmt: skip
    best = [element.text for element in picture(to_svg(heat, standalone=True)).iter() if element.get("class") == "best"]
    assert best == ["20", "10"]


def test_differences_show_where_none_is() -> None:
    row = Whisker(label="read IOPS", mean=3.0, low=1.0, high=5.0, text="+3.0 % [+1.0, +5.0]")
    axis = Axis(label="", unit=AxisUnit.PERCENT)
    graph = IntervalGraph(key="i", title="", about="", axis=axis, rows=(row,), zero=True, threshold=2.0)
    drawn = to_svg(graph)
    assert ("zero" in drawn, "shade" in drawn, "+3.0 % [+1.0, +5.0]" in drawn) == (True, True, True)


def test_thinning_keeps_the_highest_and_the_lowest() -> None:
    points = [(float(at), 100.0) for at in range(10_000)]
    points[4321], points[8765] = (4321.0, 999.0), (8765.0, 1.0)
    kept = downsample(points)
    assert (len(kept) <= 800, (4321.0, 999.0) in kept, (8765.0, 1.0) in kept) == (True, True, True)


def figures(*bins: tuple[int, int]) -> DirectionStats:
    return DirectionStats(
        iops=1.0,
        bytes_per_second=1.0,
        total_ios=1,
        total_bytes=1,
        runtime_s=1.0,
        latency_ns=LatencyStats(),
        bins=bins,
    )


def test_a_percentile_curve_ends_where_ten_ios_lie_beyond() -> None:
    made = percentile_series("read", [figures((100, 500), (200, 400), (300, 95), (400, 5))])
    assert made is not None
    assert made.points[-1] == (90.0, 200.0)


def test_a_percentile_curve_adds_up_runs() -> None:
    made = percentile_series("read", [figures((100, 50), (200, 50)), figures((100, 100), (300, 100))])
    assert made is not None
    assert made.points[0] == (50.0, 100.0)


def test_too_few_ios_have_no_curve() -> None:
    assert percentile_series("read", [figures((100, 19))]) is None


def sample(at: float, phase: Phase = Phase.MEASURING) -> Sample:
    read = DirectionSample(iops=1000.0, bytes_per_second=4096.0, ios=250, p50_ns=1000, p99_ns=2000)
    return Sample(at=at, seconds=0.25, phase=phase, read=read)


def test_what_came_before_the_measuring_lies_left_of_zero() -> None:
    samples = (sample(1.0, Phase.RAMP), sample(2.0, Phase.RAMP), sample(0.5), sample(1.0))
    graph = run_graphs(replay([sessions.started(), *sessions.run()]), Raw(samples={"r1": samples}))[0]
    assert isinstance(graph, LineGraph)
    assert ([at for at, _ in graph.series[0].points], graph.shaded) == ([-1.0, 0.0, 0.5, 1.0], (-1.0, 0.0))


def test_a_run_has_its_rate_and_its_latency_over_time() -> None:
    samples = (sample(0.5), sample(1.0))
    made = run_graphs(replay([sessions.started(), *sessions.run()]), Raw(samples={"r1": samples}))
    assert [graph.key for graph in made] == ["r1-iops", "r1-read-latency"]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ((-5.0, 100_000.0), ["-50 %", "0", "+100 %", "x10", "x100", "x1000"]),
        ((-92.0, 900.0), ["/100", "/10", "-50 %", "0", "+100 %", "x10"]),
        ((-60.0, 240.0), ["/5", "-50 %", "0", "+100 %", "x5"]),
        ((-4.0, 1e9), ["/100", "0", "x100", "x10000", "x1000000", "x100000000"]),
    ],
)
def test_large_differences_are_told_as_ratios(values: tuple[float, ...], shown: list[str]) -> None:
    scale = Scale(Axis(label="", unit=AxisUnit.PERCENT, spacing=Spacing.RATIO), values, zero=True, most=7)
    assert [scale.label(mark) for mark in scale.marks] == shown


def test_on_an_axis_of_ratios_half_lies_as_far_from_nothing_as_double() -> None:
    scale = Scale(Axis(label="", unit=AxisUnit.PERCENT, spacing=Spacing.RATIO), (-50, 100_000), zero=True).set_range(
        0, 700
    )
    assert scale.position(0) - scale.position(-50) == pytest.approx(scale.position(100) - scale.position(0))
    assert scale.position(0) - scale.position(-50) > 30
