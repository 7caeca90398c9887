"""What others measured: read strictly from the plan, and put beside what the sweep finds."""

from __future__ import annotations

import pytest

from app.engine.report.sweeping import sweep_sections
from app.engine.session.state import Session
from app.engine.session.sweep_steps import PublishedKind
from app.engine.sweep.plan import PlanError
from app.engine.sweep.results import results
from app.engine.view.names import worded
from app.engine.view.published import published_facts, published_json, published_tables
from tests.engine.sweep.making import design, measured, plan

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
    with pytest.raises(PlanError, match="They are: raid0, strip 64 KiB; raid1"):
        plan(words + told.format("raid5"), head=head)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[[published]]\nrow = 'a'\niops = { 'iodepth=1' = 1 }", 20, "whose figures"),
        ("[[published]]\nsource = 's'\nrow = 'c'\niops = { 'iodepth=1' = 1 }", 22, "nothing that the result"),
        ("[[published]]\nsource = 's'\nrow = 'a'\niops = { 'iodepth=3' = 1 }", 23, "'iodepth=3'"),
        ("[[published]]\nsource = 's'\nrow = 'a'\niops = { 'iodepth=1' = -1 }", 23, "a number above 0"),
        ("[[published]]\nsource = 's'\nrow = 'a'\niops = 3", 23, "figures by workload"),
        ("[[published]]\nsource = 's'\nrow = 'a'\nlatency = { 'iodepth=1' = 3 }", 23, "latency"),
        ("[[published]]\nsource = 's'\nrow = 'a'", 22, "no figure"),
        ("[[published]]\nsource = 's'\nrow = 'a'\ncolour = 3", 23, "no key 'colour'"),
        ("[[published]]\nsource = 's'\niops = { 'iodepth=1' = 1 }", 20, "row wants a text"),
        (
            "[[published]]\nsource='s'\nrow='a'\niops={ 'iodepth=1'=1 }\n"
            "[[published]]\nrow='a'\niops={ 'iodepth=1'=2 }",
            26,
            "has a figure already",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(PlanError) as error:
        plan(ROWS + text)
    assert words in error.value.message
    assert f"plan.toml, line {line}:" in error.value.message


def test_they_stand_beside_what_was_found_with_the_difference() -> None:
    record, runs = measured(design(ROWS + TABLE), {"a": 1100.0, "b": 4000.0})
    found = results(record, runs)
    percents = [one.percent for one in found.published]
    assert percents == pytest.approx([10, -45, 25, 0, 100], abs=0.5)
    (table,) = published_tables(results(worded(record), runs))
    assert "Somebody, 2012" in table.heading
    assert table.rows[0].cells[:4] == ("a", "queue depth 1", "IOPS", "1,000")
    assert str(table.rows[0].cells[5]).startswith("+10.")
    assert "against 2,000 IOPS, -4" in published_facts(found)[0].facts[1].value
    assert published_json(found)[1]["published"] == 2000
    session = Session(id="s", runs=tuple(runs), sweep=record)
    assert any("Somebody, 2012" in section.heading for section in sweep_sections(session))


def test_what_was_left_out_has_no_figure_and_says_so() -> None:
    gone = ROWS.replace("cache = 'on'", "boot = 'b'")
    record, runs = measured(design(gone + TABLE), {"a": 1000.0})
    found = results(record, runs).published
    assert [(one.cell, one.measured, one.percent) for one in found if one.figure.row == "b"] == [(None, None, None)] * 2
    (table,) = published_tables(results(record, runs))
    assert table.rows[-1].cells[-2:] == ("left out", "-")
