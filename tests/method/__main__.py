"""`make method`: how often the verdicts are wrong, simulated with the functions that give them.

ARGS="--write" puts the tables into docs/method.md; ARGS="--count 500" draws fewer. Ends with 1 where a mark is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.method.line import Line
from tests.method.tables import TABLES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "method.md"
BEGIN, END = "<!-- tables of `make method` -->\n", "<!-- end of the tables -->\n"
COUNT = 2000
"""Experiments a row."""


def _lines(task: tuple[int, int]) -> tuple[Line, ...]:
    number, count = task
    return tuple(TABLES[number].lines(count // TABLES[number].part))


def main() -> int:
    """Print all tables; the exit status."""
    parser = argparse.ArgumentParser(prog="make method", description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help=f"experiments a row, {COUNT} unless named")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/method.md")
    given = parser.parse_args()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(_lines, [(number, given.count) for number in range(len(TABLES))]))
    text = "".join(_table(number, lines, given.count) for number, lines in enumerate(found))
    print(text, end="")
    if given.write:
        page = PAGE.read_text(encoding="utf-8")
        before, after = page.split(BEGIN)[0], page.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}{text}{END}{after}", encoding="utf-8")
    missed = [TABLES[number].title for number, lines in enumerate(found) if not all(line.held for line in lines)]
    for title in missed:
        print(f"missed: {title}", file=sys.stderr)
    return 1 if missed else 0


def _table(number: int, lines: tuple[Line, ...], count: int) -> str:
    table = TABLES[number]
    rows = [table.heads, ("---",) * len(table.heads), *(line.cells for line in lines)]
    drawn = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    kept = all(line.held for line in lines)
    return (
        f"\n**{table.title}** ({count // table.part:,} a row; {table.mark}: {'kept' if kept else 'MISSED'})\n\n{drawn}"
    )


if __name__ == "__main__":
    sys.exit(main())
