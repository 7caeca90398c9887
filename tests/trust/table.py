"""The table that docs/dev/trust.md keeps, and where a new run differs from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tests.trust.row import Result, Standing

BEGIN, END = "<!-- begin: written by make trust -->", "<!-- end -->"
COLUMNS = ("row", "what was tried", "tried", "failed", "mark", "at its mark", "time", "date")
TRIED = COLUMNS.index("tried")
PASSING = ("time", "date")
NEARLY = 0.02
"""Numbers of tries that differ by a smaller share are the same: a journal is as long as its time stamps."""


def row_of(result: Result) -> tuple[str, ...]:
    """The cells of one row."""
    tally = result.tally
    return (
        result.row.number,
        result.row.what,
        f"{tally.tried:,}",
        f"{tally.failed:,}",
        result.row.mark,
        result.standing,
        _clock(result.seconds),
    )


def in_order(results: Iterable[Result]) -> list[Result]:
    """T1, T2, ... A17."""
    return sorted(results, key=lambda result: _place(result.row.number))


def _place(number: str) -> tuple[int, int]:
    return "TAL".index(number[0]), int(number[1:])


def with_table(page: str, results: Iterable[Result], date: str) -> str:
    """The page with these results; rows that were not tried stay as they are."""
    before, _, after = _parts(page)
    tried = (each for each in results if each.standing is not Standing.UNTRIED)
    rows = {row[0]: tuple(row) for row in _rows(page)} | {each.row.number: (*row_of(each), date) for each in tried}
    lines = [COLUMNS, ("---",) * len(COLUMNS), *(rows[number] for number in sorted(rows, key=_place))]
    return f"{before}{BEGIN}\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in lines) + f"\n\n{END}{after}"


def differences(page: str, results: Sequence[Result]) -> list[str]:
    """A sentence for every row that is not what the page says, times and dates apart."""
    kept = {row[0]: row for row in _rows(page)}
    found = []
    for result in in_order(results):
        now, then = row_of(result), kept.pop(result.row.number, None)
        if then is None:
            found.append(f"{now[0]}: not in docs/dev/trust.md")
            continue
        for index, name in enumerate(COLUMNS[: len(now)]):
            same = now[index] == then[index] or (index == TRIED and _near(now[index], then[index]))
            if name not in PASSING and not same:
                found.append(f"{now[0]}: {name} is {now[index]}, in docs/dev/trust.md {then[index]}")
    return found + [f"{number}: in docs/dev/trust.md, and not tried" for number in kept]


def _near(one: str, other: str) -> bool:
    first, second = (int(re.sub(r"\D", "", text) or 0) for text in (one, other))
    return abs(first - second) <= NEARLY * max(first, second)


def _rows(page: str) -> list[list[str]]:
    lines = [line for line in _parts(page)[1].splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines[2:]]


def _parts(page: str) -> tuple[str, str, str]:
    before, begin, rest = page.partition(BEGIN)
    inside, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no lines {BEGIN} and {END}")
    return before, inside, after


def _clock(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds) // 60} min {int(seconds) % 60} s"
