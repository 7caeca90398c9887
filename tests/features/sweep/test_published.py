"""What others measured: read strictly from the plan, and put beside what the sweep finds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.presentation.labels import with_labels
from app.core.session.state import Session
from app.core.session.sweep_steps import PublishedKind, SweepCell
from app.features.report.sweep import sweep_sections
from app.features.sweep.cli.text import result_lines
from app.features.sweep.engine.builtin_plans import plan_files
from app.features.sweep.engine.plan import PlanError
from app.features.sweep.engine.plan_file import parse_plan
from app.features.sweep.engine.results import results
from app.features.sweep.presentation.published_results import figure_text, published_json, published_tables
from tests.case_loop import loop_over
from tests.features.sweep.making import design, measured, plan

ROWS = (
    "[[setup]]\nname = 'a'\n[[setup]]\nname = 'b'\narray = { cache = 'on' }\n"
    "[[axis]]\njob = 'iodepth'\nvalues = [1, 2]\n"
)
TABLE = """
[[published]]
source = "Somebody, 2012"
row = "a"
iops = { "iodepth=1" = 1000, "iodepth=2" = 2000 }
latency = { "iodepth=1" = "0.4ms" }

[[published]]
row = "b"
read_iops = { "iodepth=1" = 4000 }
mbps = { "iodepth=1" = 8.192 }
"""


SHAPE = "[published_table]\nrows = '{}'\n"


def test_figures_are_read_with_their_source() -> None:
    found = plan(ROWS + TABLE).published
    assert [(one.row, one.column, one.kind, one.value) for one in found] == [
        ("a", "iodepth=1", PublishedKind.IOPS, 1000),
        ("a", "iodepth=2", PublishedKind.IOPS, 2000),
        ("a", "iodepth=1", PublishedKind.LATENCY, 400_000),
        ("b", "iodepth=1", PublishedKind.READ_IOPS, 4000),
        ("b", "iodepth=1", PublishedKind.MBPS, 8.192),
    ]
    assert {one.source for one in found} == {"Somebody, 2012"}


def test_rows_of_arrays_that_are_made_are_named_as_the_result_names_them() -> None:
    words = (
        "[[axis]]\narray = 'level'\nvalues = ['raid0', 'raid1']\nmembers = 2\npool = 'ssd of kernel'\nstrip = '64k'\n"
    )
    told = "[[published]]\nsource = 's'\nrow = '{}'\niops = {{ randread = 1 }}\n"
    head = "[measure]\nrepeats = 2\n"
    assert plan(words + told.format("raid0, strip 64 KiB"), head=head).published
    with pytest.raises(PlanError, match="Available: raid0, strip 64 KiB; raid1"):
        plan(words + told.format("raid5"), head=head)


@loop_over(
    ("text", "line", "words"),
    [
        ("[[published]]\nrow = 'a'\niops = { 'iodepth=1' = 1 }", 20, "source of the results"),
        ("[[published]]\nsource = 's'\nrow = 'c'\niops = { 'iodepth=1' = 1 }", 22, "is not in the result"),
        ("[[published]]\nsource = 's'\nrow = 'a'\niops = { 'iodepth=3' = 1 }", 23, "'iodepth=3'"),
        ("[[published]]\nsource = 's'\nrow = 'a'\niops = { 'iodepth=1' = -1 }", 23, "a number above 0"),
        ("[[published]]\nsource = 's'\nrow = 'a'\niops = 3", 23, "a table of results by workload"),
        ("[[published]]\nsource = 's'\nrow = 'a'\nlatency = { 'iodepth=1' = 3 }", 23, "latency"),
        ("[[published]]\nsource = 's'\nrow = 'a'", 22, "a result is missing"),
        ("[[published]]\nsource = 's'\nrow = 'a'\ncolour = 3", 23, "unknown key 'colour'"),
        ("[[published]]\nsource = 's'\niops = { 'iodepth=1' = 1 }", 20, "row must be a quoted string"),
        (
            "[[published]]\nsource='s'\nrow='a'\niops={ 'iodepth=1'=1 }\n"
            "[[published]]\nrow='a'\niops={ 'iodepth=1'=2 }",
            26,
            "already has a result",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(PlanError) as error:
        plan(ROWS + text)
    assert words in error.value.message
    assert f"plan.toml, line {line}:" in error.value.message


def test_they_stand_beside_what_was_found_with_the_difference() -> None:
    record, runs = measured(design(ROWS + SHAPE.format("set-ups") + TABLE), {"a": 1100.0, "b": 4000.0})
    found = results(record, runs)
    percents = [one.percent for one in found.published]
    assert percents == pytest.approx([10, -45, 25, 0, 100], abs=0.5)
    (table,) = published_tables(results(with_labels(record), runs))
    assert "Somebody, 2012" in table.heading
    assert [column.title for column in table.columns] == [
        *("Configuration", "queue depth 1 IOPS", "mean ms", "read IOPS", "MB/s", "queue depth 2 IOPS"),
    ]
    assert table.rows[0].cells == ("a", "1,000", "0.4", "", "", "2,000")
    assert (table.rows[1].cells[:2], table.rows[2].cells[0]) == (("ours", "1,101"), "difference")
    assert (table.rows[2].cells[1], table.rows[2].cells[5]) == ("+10.1 %", "-44.9 %")
    assert published_json(found)[1]["published"] == 2000
    lines = result_lines(record, found)
    assert lines[0].startswith("Comparison with published results")
    assert "Summary" in lines
    session = Session(id="s", runs=tuple(runs), sweep=record)
    assert "Somebody, 2012" in next(iter(sweep_sections(session))).heading
    assert any("Somebody, 2012" in section.heading for section in sweep_sections(session))


def test_what_was_left_out_has_no_figure_and_says_so() -> None:
    gone = ROWS.replace("cache = 'on'", "boot = 'b'")
    record, runs = measured(design(gone + TABLE), {"a": 1000.0})
    found = results(record, runs).published
    assert [(one.cell, one.measured, one.percent) for one in found if one.figure.row == "b"] == [(None, None, None)] * 2
    (table,) = published_tables(results(record, runs))
    assert [row.cells[3:5] for row in table.rows[-3:]] == [("4,000", "8.192"), ("skipped",) * 2, ("-",) * 2]


def shaped(shape: str) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the headings of the table of such a shape, and the published rows."""
    record, runs = measured(design(ROWS + shape + TABLE), {"a": 1100.0, "b": 4000.0})
    (table,) = published_tables(results(record, runs))
    assert [row.cells[0] for row in table.rows[1:3]] == ["ours", "difference"]
    return [column.title for column in table.columns], [tuple(map(str, row.cells)) for row in table.rows[::3]]


def test_the_rows_of_the_table_are_those_that_the_plan_names_under_the_names_of_the_source() -> None:
    named = SHAPE.format("workloads") + "names = { a = 'A x2', 'iodepth=1' = 'one' }\n"
    assert shaped(named) == (
        ["Workload", "A x2", "b"],
        [
            ("one IOPS", "1,000", ""),
            ("one mean ms", "0.4", ""),
            ("one read IOPS", "", "4,000"),
            ("one MB/s", "", "8.192"),
            ("iodepth=2 IOPS", "2,000", ""),
        ],
    )
    by_cell = (
        SHAPE.format("cells")
        + "columns = ['queue', 'cache']\n[published_table.names]\na = { cache = 'off' }\nb = { cache = 'on' }\n"
        + "'iodepth=1' = { queue = '1' }\n'iodepth=2' = { queue = '2' }\n"
    )
    assert shaped(by_cell) == (
        ["queue", "cache", "IOPS", "mean ms", "read IOPS", "MB/s"],
        [
            ("1", "off", "1,000", "0.4", "", ""),
            ("2", "off", "2,000", "", "", ""),
            ("1", "on", "", "", "4,000", "8.192"),
        ],
    )


def test_a_table_without_a_shape_has_the_first_that_fits_80_columns() -> None:
    many = ROWS.replace("values = [1, 2]", f"values = {list(range(1, 9))}")
    figures = ", ".join(f'"iodepth={depth}" = 1000' for depth in range(1, 9))
    told = f"[[published]]\nsource = 's'\nrow = 'a'\niops = {{ {figures} }}\n"
    record, runs = measured(design(many + told), {"a": 1000.0, "b": 1000.0})
    (table,) = published_tables(results(record, runs))
    assert [column.title for column in table.columns] == ["Workload", "a"]


def test_a_latency_is_in_the_unit_of_its_source_with_its_decimals() -> None:
    figure = plan(ROWS + TABLE).published[2]
    assert figure_text(replace(figure, printed="761us"), 762_400) == "762"
    assert figure_text(replace(figure, printed="4.66 ms"), 4_704_000) == "4.70"
    assert figure_text(replace(figure, printed=""), 4_704_000) == "4.70 ms"


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (SHAPE.format("columns"), "must be one of: set-ups, workloads, cells"),
        (SHAPE.format("set-ups") + "columns = ['x']", 'is only valid with rows = "cells"'),
        (SHAPE.format("set-ups") + "names = { c = 'x' }", "is not in the result"),
        (SHAPE.format("cells") + "columns = ['x']\nnames = { a = { x = '1' } }", "b, iodepth=1 has no x"),
        (SHAPE.format("cells") + "columns = ['x']\nnames = { a = { y = '1' } }", "unknown key 'y'"),
    ],
)
def test_a_shape_that_is_wrong_is_refused_with_its_reason(shape: str, words: str) -> None:
    with pytest.raises(PlanError) as error:
        plan(ROWS + shape + "\n" + TABLE)
    assert words in error.value.message


def test_a_shape_without_figures_is_refused() -> None:
    with pytest.raises(PlanError, match="the table has no results"):
        plan(ROWS + SHAPE.format("cells"))


@loop_over("name", [name for name in plan_files() if name.startswith("articles")])
def test_the_table_of_a_shipped_plan_comes_first_once_and_within_80_columns(name: str) -> None:
    text = plan_files()[name].read_text()
    figures = parse_plan(text.encode(), name).published
    cells = list(dict.fromkeys((one.row, one.column) for one in figures))
    measured_cells = [
        SweepCell(id=f"c{at}", row=row, column=column, where="", settings=(), job={})
        for at, (row, column) in enumerate(cells)
    ]
    base = design(ROWS)
    shape = parse_plan(text.encode(), name).published_rows
    record, _ = measured(
        replace(base, cells=tuple(measured_cells), steps=(), published=figures, published_rows=shape), {}
    )
    lines = result_lines(with_labels(record), results(with_labels(record), []))
    heading = "Comparison with published results"
    assert lines[0].startswith(heading)
    assert "\n".join(lines).count(heading) == 1
    end = [*lines, ""].index("")
    assert max(map(len, lines[:end])) <= 80
    assert len([line for line in lines[:end] if line.startswith("  ours")]) >= 1
