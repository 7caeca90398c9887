"""Two sides of a comparison as a table for people."""

from __future__ import annotations

from app.cli.output import paint
from app.cli.tables import Align, Column, table
from app.engine.judge.comparison import Comparison, Row


def verdict_table(comparison: Comparison, a: str, b: str) -> list[str]:
    """Every figure of both sides, the difference with its interval, the verdict in words. `a`, `b`: headings."""
    judged = any(row.judgement is not None and row.judgement.interval is not None for row in comparison.rows)
    columns = (
        Column(title=""),
        Column(title="Figure"),
        Column(title=a, align=Align.POINT),
        Column(title=b, align=Align.POINT),
        Column(title="Difference [95 %]" if judged else "Difference"),
        *((Column(title=f"In {comparison.counted}"),) if judged else ()),
    )
    head, *body = table(columns, [_row(row, judged) for row in comparison.rows])
    return [paint(head, "bold"), *body]


def _row(row: Row, judged: bool) -> tuple[str, ...]:
    cells = (row.direction, row.figure.label, _shown(row, row.a), _shown(row, row.b), row.difference)
    return (*cells, _word(row)) if judged else cells


def _shown(row: Row, value: float | None) -> str:
    return "too few I/Os" if value is None else row.figure.show(value)


def _word(row: Row) -> str:
    judgement = row.judgement
    if judgement is None:
        return ""
    further = judgement.further_pairs
    return judgement.word if further is None else f"{judgement.word}, {further} more"
