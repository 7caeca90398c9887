"""From the tables of tw_cli to rows by the names of their columns. Pure; what is not understood is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from backends.text import clean

LINES = 4000
"""More than any card prints; what follows is not read."""

_RULE = re.compile(r"-{10,200}")
_NAME = re.compile(r"\S{1,24}")
_FIRST = re.compile(r"(?:[cup]\d{1,4}|bbu)", re.ASCII)

Row = Mapping[str, str]


def rows(text: str, *columns: str) -> tuple[Row, ...]:
    """Rows of the tables that have these columns; the first of a name counts."""
    found: dict[str, Row] = {}
    for row in _rows(text):
        name = next(iter(row.values()))
        if all(column in row for column in columns):
            found.setdefault(name, row)
    return tuple(found.values())


def _rows(text: str) -> Iterator[Row]:
    """A title is what stands above a rule; widths differ with the version, so cells begin where their titles do."""
    lines = [line for raw in text.splitlines()[:LINES] if (line := raw.rstrip()[:400]).strip()]
    columns: list[tuple[str, int]] = []
    for line, following in pairwise([*lines, ""]):
        if _RULE.fullmatch(following.strip()):
            columns = [(match[0], match.start()) for match in _NAME.finditer(line)]
        elif columns and not _RULE.fullmatch(line.strip()):
            cells = _cells(line, [start for _, start in columns])
            row = {name: clean(cell) for (name, _), cell in zip(reversed(columns), reversed(cells), strict=True)}
            if _FIRST.fullmatch(row[columns[0][0]]):
                yield {name: row[name] for name in dict.fromkeys(name for name, _ in columns)}


def _cells(line: str, starts: list[int]) -> list[str]:
    """Cut where the titles begin; where a word lies across a cut, word by word, if there are as many as titles."""
    if any(len(line[start - 1 : start + 1].strip()) == 2 for start in starts[1:]):
        words = line.split()
        return words if len(words) == len(starts) else [""] * len(starts)
    return [line[start:end] for start, end in pairwise([*starts, len(line)])]
