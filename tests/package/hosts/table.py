"""The table of tested hosts in docs/dev/packaging.md. `KEEP=1 make package-test` writes it."""

from __future__ import annotations

from collections import defaultdict
from datetime import date

from tests.package.hosts import CLEAN, ROOTS

COLUMNS = ("first start", "`devices`", "`--demo`", "trial", "scratch run", "with the static fio", "workbench")

_cells: dict[str, dict[str, str]] = defaultdict(dict)


def note(title: str, column: str, outcome: str) -> None:
    """What came of one attempt."""
    _cells[title][column] = outcome


def rows() -> str:
    """The table of what was noted."""
    lines = [f"Tried on {date.today()}:", "", f"| host | glibc | {' | '.join(COLUMNS)} |"]
    lines.append("| --- " * (len(COLUMNS) + 2) + "|")
    for root in ROOTS:
        cells = (_cells[root.title].get(column, "not tried") for column in COLUMNS)
        lines.append(f"| {root.title} | {root.glibc} | {' | '.join(cells)} |")
    lines += ["", f"| the packages, on {CLEAN.title} (glibc {CLEAN.glibc}) | |", "| --- | --- |"]
    lines += [f"| {title} | {outcome} |" for title, outcome in _cells[CLEAN.title].items()]
    return "\n".join(lines) + "\n"
