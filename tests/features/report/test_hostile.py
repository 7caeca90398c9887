"""Ten thousand strings that would like to be markup, formulas or links: none of them is, in any format."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.core.session.state import Session, replay
from app.core.session.sweep_record import SweepEvent
from app.features.report.blocks import (
    Block,
    Code,
    DefinitionList,
    Graphs,
    Paragraph,
    Report,
    ReportTable,
    Section,
    Sentences,
)
from app.features.report.csv import cell_text, runs_csv
from app.features.report.graph import Axis, AxisUnit, Graph, GraphLine, HeatMap, IntervalGraph, LineGraph, Whisker
from app.features.report.html import to_html
from app.features.report.markdown import to_markdown
from app.features.report.model import report_of
from app.features.report.svg import to_svg
from backends.text import clean
from tests.core.generated import related_events
from tests.features.report.pages import Reader, hostile, picture

STRINGS = hostile(10_000)
FIRST = STRINGS[:200]


def graphs() -> tuple[Graph, ...]:
    axis = Axis(label=STRINGS[1], unit=AxisUnit.IOPS)
    series = tuple(GraphLine(name=name, points=((0.0, 1.0), (1.0, 2.0))) for name in STRINGS[2:8])
    whiskers = tuple(Whisker(label=text, mean=1.0, low=0.5, high=1.5, text=text) for text in FIRST)
    line = LineGraph(key="a", title=STRINGS[0], about=STRINGS[1], x=axis, y=axis, series=series, shaded_as=STRINGS[9])
    forest = IntervalGraph(key="b", title=STRINGS[0], about=STRINGS[1], axis=axis, rows=whiskers)
    cells = tuple((1.0, 2.0) for _ in FIRST)
    texts = tuple((text, text) for text in FIRST)
    heat = HeatMap(
        key="c", title=STRINGS[0], about=STRINGS[1], rows=FIRST, columns=STRINGS[3:5], cells=cells, texts=texts
    )
    return (line, forest, heat)


def report(*blocks: Block) -> Report:
    sections = (Section(heading=STRINGS[11], blocks=blocks), *(Section(heading=text, blocks=()) for text in FIRST))
    return Report(title=STRINGS[10], simulated=True, sections=sections)


def everything(strings: tuple[str, ...] = STRINGS) -> Report:
    pairs = tuple(zip(strings, reversed(strings), strict=True))
    return report(
        ReportTable(columns=FIRST[:2], rows=pairs),
        DefinitionList(pairs=pairs),
        Sentences(items=strings),
        *(Paragraph(text=text) for text in FIRST),
        Code(label=STRINGS[12], lines=strings),
        Graphs(graphs=graphs()),
    )


@pytest.mark.long
def test_a_page_has_no_element_but_its_own() -> None:
    page = Reader(to_html(everything()))
    assert (page.wrong, page.open) == ([], [])


def test_a_page_shows_every_string_as_it_is() -> None:
    page = Reader(to_html(report(ReportTable(columns=("a",), rows=tuple((text,) for text in STRINGS)))))
    assert page.cells == [clean(text, 2000) for text in STRINGS]


@pytest.mark.parametrize("graph", graphs(), ids=lambda graph: type(graph).__name__)
def test_a_picture_is_sound_whatever_stands_in_it(graph: Graph) -> None:
    tags = {element.tag.rpartition("}")[2] for element in picture(to_svg(graph, standalone=True)).iter()}
    assert tags <= {"svg", "title", "desc", "style", "rect", "line", "path", "text", "circle"}


def tokens(markdown: str) -> list[Token]:
    found = MarkdownIt("commonmark", {"linkify": True}).enable(["table", "strikethrough"]).parse(markdown)
    return [child for token in found for child in (token, *(token.children or ()))]


@pytest.mark.long
def test_markdown_makes_nothing_of_them() -> None:
    kinds = {token.type for token in tokens(to_markdown(report(Sentences(items=STRINGS))))}
    assert kinds <= {
        "heading_open", "heading_close", "inline", "text", "text_special", "softbreak", "bullet_list_open",
        "bullet_list_close", "list_item_open", "list_item_close", "paragraph_open", "paragraph_close", "strong_open",
        "strong_close",
    }  # fmt: skip


@pytest.mark.long
def test_markdown_tables_keep_their_cells() -> None:
    grid = ReportTable(columns=("a", "b"), rows=tuple((text or "x", "end") for text in STRINGS))
    cells = [token for token in tokens(to_markdown(report(grid))) if token.type == "td_open"]
    assert len(cells) == 2 * len(STRINGS)


def squeezed(row: str) -> str:
    return row.replace(" ", "").replace("\ufffd", "")


def test_markdown_code_stays_in_its_fence() -> None:
    fences = [token for token in tokens(to_markdown(report(Code(lines=STRINGS)))) if token.type == "fence"]
    (rows,) = (fence.content.split("\n")[:-1] for fence in fences)
    assert [squeezed(row) for row in rows] == [squeezed(clean(text, 2000)) for text in STRINGS]
    assert all(row.isprintable() for row in rows)


def test_no_cell_of_a_table_is_a_formula() -> None:
    number = re.compile(r"[+-]?\d+(\.\d+)?")
    acting = [
        text for text in map(cell_text, STRINGS) if text[:1] in ("=", "+", "-", "@") and not number.fullmatch(text)
    ]
    assert acting == []


def test_cells_come_back_whole() -> None:
    file = io.StringIO()
    csv.writer(file).writerows([cell_text(text)] for text in STRINGS)
    rows = [row[0] if row else "" for row in csv.reader(io.StringIO(file.getvalue()))]
    assert rows == [cell_text(text) for text in STRINGS]


def told(events: list[Any]) -> Session:
    """The session, without sweeps: of these a log that makes no sense is no session."""
    return replay(event for event in events if not isinstance(event, SweepEvent))


@pytest.mark.exhaustive
@settings(max_examples=60, deadline=None)
@given(related_events())
def test_any_session_makes_a_sound_page(events: list[Any]) -> None:
    assert Reader(to_html(report_of(told(events)))).wrong == []


@pytest.mark.exhaustive
@settings(max_examples=30, deadline=None)
@given(related_events())
def test_any_session_makes_a_table_of_equal_rows(events: list[Any]) -> None:
    assert len({len(row) for row in csv.reader(io.StringIO(runs_csv(told(events))))}) == 1
