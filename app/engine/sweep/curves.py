"""Cells of a sweep as curves over the one field of the job that takes numbers. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.fio.sizes import parse_size
from app.engine.sweep.cell_result import CellResult
from backends.errors import InvalidValueError

_FIELDS = ("iodepth", "bs", "numjobs", "rwmixread", "rate_iops")


def numeric_field(cells: Sequence[CellResult]) -> str | None:
    """The field of the job that takes at least three numbers; None if there is none."""
    jobs = [one.cell.job for one in cells]
    return next((key for key in _FIELDS if _numeric(key, jobs)), None)


def curves(cells: Sequence[CellResult]) -> dict[str, list[CellResult]]:
    """Cells that differ in that field only, by what else they are; all in one, named "", if there is no such field."""
    field = numeric_field(cells)
    several = len({one.cell.row for one in cells}) > 1
    lines: dict[str, list[CellResult]] = {}
    for one in cells:
        own = "" if field is None else f"{field}={one.cell.job.get(field, '')}"
        rest = [part for part in one.cell.column.split(", ") if part != own]
        row = [one.cell.row] if several else []
        lines.setdefault(", ".join((*row, *rest)) if field is not None else "", []).append(one)
    return lines


def curve_place(cells: Sequence[CellResult], one: CellResult) -> str:
    """What a cell is beside the name of its curve."""
    field = numeric_field(cells)
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
