"""Cells of a sweep as curves over the one field of the job that takes numbers. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.fio.sizes import parse_size
from app.engine.sweep.results import CellResult, Results
from backends.errors import InvalidValueError

_FIELDS = ("iodepth", "bs", "numjobs", "rwmixread", "rate_iops")


def numeric_field(found: Results) -> str | None:
    """The field of the job that takes at least three numbers; None if there is none."""
    jobs = [one.cell.job for one in found.cells]
    return next((key for key in _FIELDS if _numeric(key, jobs)), None)


def curves(found: Results) -> dict[str, list[CellResult]]:
    """Cells that differ in that field only, by what else they are; all in one, named "", if there is no such field."""
    field = numeric_field(found)
    lines: dict[str, list[CellResult]] = {}
    for one in found.cells:
        own = "" if field is None else f"{field}={one.cell.job.get(field, '')}"
        rest = [part for part in one.cell.column.split(", ") if part != own]
        row = [one.cell.row] if len(found.rows) > 1 else []
        lines.setdefault(", ".join((*row, *rest)) if field is not None else "", []).append(one)
    return lines


def curve_place(found: Results, one: CellResult) -> str:
    """What a cell is beside the name of its curve."""
    field = numeric_field(found)
    return one.cell.column if field is None else f"{field}={one.cell.job.get(field, '')}"


def number_of(text: str) -> float:
    """A size or count as a number; 0 for what is none."""
    try:
        return float(parse_size(text))
    except InvalidValueError:
        return 0.0


def _numeric(key: str, jobs: Sequence[dict[str, str]]) -> bool:
    texts = {job.get(key, "") for job in jobs}
    return len(texts) > 2 and all(number_of(text) > 0 for text in texts)
