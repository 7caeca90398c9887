"""`make method`: how often the verdicts are wrong, simulated with the functions that give them.

ARGS="--write" puts what is drawn into docs/method.md; ARGS="--count 500" draws less, ARGS="--only periods,matrix" some;
ARGS="--breaks" makes one decision wrongly at a time, which a table has to notice. Ends with 1 where a mark is missed,
or a break is not noticed.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.method.breaks import BREAKS, notices
from tests.method.line import Line
from tests.method.tables import TABLES, MethodTable

PAGE = Path(__file__).resolve().parents[2] / "docs" / "method.md"
BEGIN, END = "<!-- tables of `make method` -->\n", "<!-- end of the tables -->\n"
BREAKS_BEGIN, BREAKS_END = "<!-- breaks of `make method` -->\n", "<!-- end of the breaks -->\n"
COUNT = 4000
"""Experiments a row."""


def _lines(task: tuple[str, int]) -> tuple[Line, ...]:
    name, count = task
    table = next(table for table in TABLES if table.name == name)
    return tuple(table.lines(count // table.part))


def _noticed(task: tuple[int, int]) -> tuple[str, str]:
    number, count = task
    one = BREAKS[number]
    for table in TABLES:
        if table.name in one.noticed_by and (row := notices(one, table, count)):
            return table.title, row
    return "", ""


def main() -> int:
    """Print all tables; the exit status."""
    parser = argparse.ArgumentParser(prog="make method", description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help=f"experiments a row, {COUNT} unless named")
    parser.add_argument("--write", action="store_true", help="put what is found into docs/method.md")
    parser.add_argument("--only", default="", help="names of tables, with commas between them")
    parser.add_argument("--breaks", action="store_true", help="make one decision wrongly at a time")
    given = parser.parse_args()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        text, missed = (_breaks if given.breaks else _tables)(pool, given.count, given.only)
    print(text, end="")
    if given.write and given.breaks:
        _write(text, BREAKS_BEGIN, BREAKS_END)
    elif given.write:
        _write(_among_the_others(text), BEGIN, END)
    for one in missed:
        print(one, file=sys.stderr)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"{sum(one.ru_utime + one.ru_stime for one in used):.0f} s of processor time", file=sys.stderr)
    return 1 if missed else 0


def _tables(pool: ProcessPoolExecutor, count: int, only: str) -> tuple[str, list[str]]:
    names = [table.name for table in TABLES if not only or table.name in only.split(",")]
    found = dict(zip(names, pool.map(_lines, [(name, count) for name in names]), strict=True))
    shown = [table for table in TABLES if table.name in found]
    missed = [f"missed: {table.title}" for table in shown if not all(line.held for line in found[table.name])]
    return "".join(_table(table, found[table.name], count) for table in shown), missed


def _breaks(pool: ProcessPoolExecutor, count: int, only: str) -> tuple[str, list[str]]:
    numbers = [at for at, one in enumerate(BREAKS) if not only or set(one.noticed_by) & set(only.split(","))]
    found = list(pool.map(_noticed, [(number, count) for number in numbers]))
    rows = [(BREAKS[number].what, *seen) for number, seen in zip(numbers, found, strict=True)]
    missed = [f"not noticed: {what}" for what, table, _ in rows if not table]
    return "\n" + "".join(_drawn(("decided wrongly", "table that misses its mark", "first in the row"), rows)), missed


def _among_the_others(text: str) -> str:
    """These tables with those of the page that were not drawn, in their order; what is no table any more goes."""
    known: dict[str, str] = {}
    for one in (PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0], text):
        known |= {block.partition("**")[0]: f"\n**{block}" for block in one.split("\n**")[1:]}
    return "".join(known.get(table.title, "") for table in TABLES)


def _write(text: str, begin: str, end: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(begin)[0], page.split(end)[1]
    PAGE.write_text(f"{before}{begin}{text}{end}{after}", encoding="utf-8")


def _table(table: MethodTable, lines: tuple[Line, ...], count: int) -> str:
    kept = "kept" if all(line.held for line in lines) else "MISSED"
    drawn = "".join(_drawn(table.heads, [line.cells for line in lines]))
    return f"\n**{table.title}** ({count // table.part:,} a row; {table.mark}: {kept})\n\n{drawn}"


def _drawn(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (heads, ["---"] * len(heads), *rows):
        yield f"| {' | '.join(row)} |\n"


if __name__ == "__main__":
    sys.exit(main())
