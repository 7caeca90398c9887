"""`make method`: how often the verdicts are wrong, simulated with the functions that give them.

Draws thousands of experiments whose truth is known. Fails with exit status 1 where a rate is beyond its promise by more
than chance explains. ARGS="--planted" plants one wrong decision at a time and fails where no table notices it.
ARGS="--write" records the results in tests/method/results.json and docs/dev/method.md; ARGS="--count 500" draws less;
ARGS="--only periods,matrix" draws some tables.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.method.breaks import BREAKS, notices
from tests.method.marks import Drawn, chance, draw, planted_text, save, table_text
from tests.method.tables import NAMES

COUNT = 2000
"""Experiments of a row."""


def main() -> int:
    """Print all tables, and return the exit status."""
    parser = argparse.ArgumentParser(prog="make method", description=__doc__)
    parser.add_argument(
        "--count", type=int, help=f"experiments of a row (default: {COUNT}, or as many as notice a wrong decision)"
    )
    parser.add_argument("--write", action="store_true", help="record the results in docs/dev/method.md")
    parser.add_argument("--only", default="", help="names of tables, with commas between them")
    parser.add_argument("--planted", action="store_true", help="plant one wrong decision at a time")
    given = parser.parse_args()
    wanted = given.only.split(",") if given.only else [*NAMES]
    if unknown := [name for name in wanted if name not in NAMES]:
        parser.error(f"no table {', '.join(unknown)}; there are: {', '.join(NAMES)}")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        if given.planted:
            missed = _planted(pool, given.count, wanted, write=given.write)
        else:
            missed = _tables(pool, given.count or COUNT, wanted, write=given.write)
    for problem in missed:
        print(problem, file=sys.stderr)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"{sum(usage.ru_utime + usage.ru_stime for usage in used):.0f} s of processor time", file=sys.stderr)
    return 1 if missed else 0


def _draw(name: str, count: int) -> Drawn:
    return draw(NAMES[name], count)


def _tables(pool: ProcessPoolExecutor, count: int, names: list[str], *, write: bool) -> list[str]:
    drawn: dict[str, Drawn] = {}
    for name, one in zip(names, pool.map(partial(_draw, count=count), names), strict=True):
        drawn[name] = one
        print(table_text(NAMES[name], one), end="", flush=True)
        if write:
            save({name: one}, None)
    bounds = sum(len(line.bounds) for one in drawn.values() for line in one.lines)
    print(f"\n{bounds} bounds, false alarm in {chance(bounds) * 100:.2f} % at most", file=sys.stderr)
    return [f"missed: {NAMES[name].title}: {row}" for name, one in drawn.items() for row in one.missed]


def _noticed(number: int, count: int | None) -> tuple[str, str]:
    planted = BREAKS[number]
    for name in planted.noticed_by:
        if row := notices(planted, NAMES[name], count or planted.draws):
            return NAMES[name].title, row
    return "", ""


def _planted(pool: ProcessPoolExecutor, count: int | None, names: list[str], *, write: bool) -> list[str]:
    numbers = [at for at, planted in enumerate(BREAKS) if set(planted.noticed_by) & set(names)]
    rows: list[tuple[str, str, str]] = []
    for number, (title, row) in zip(numbers, pool.map(partial(_noticed, count=count), numbers), strict=True):
        rows.append((BREAKS[number].what, title, row))
        print(f"{BREAKS[number].what}: {f'{title}: {row}' if title else 'NOT NOTICED'}", file=sys.stderr, flush=True)
    print(planted_text(rows), end="")
    missed = [f"not noticed: {what}" for what, title, _ in rows if not title]
    if write and not missed and len(numbers) == len(BREAKS):
        save({}, rows)
    return missed


if __name__ == "__main__":
    sys.exit(main())
