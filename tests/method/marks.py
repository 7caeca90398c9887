"""Whether tables keep their marks, and what was recorded of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tests.method.line import AGAIN, FIRST, Bound, Line, drawn_again
from tests.method.tables import TABLES, MethodTable

RESULTS = Path(__file__).with_name("results.json")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "dev" / "method.md"
TABLES_MARKS = ("<!-- tables of `make method` -->\n", "<!-- end of the tables -->\n")
BREAKS_MARKS = ("<!-- breaks of `make method` -->\n", "<!-- end of the breaks -->\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A table with its counts."""

    draws: int
    """Experiments of a row."""
    lines: tuple[Line, ...]
    """Rows of the first draw."""
    missed: tuple[str, ...]
    """First columns of the rows that missed their bounds in both draws."""


def draw(table: MethodTable, count: int) -> Drawn:
    """Return the rows; what misses a bound of 99 % is drawn once more and held against the bound of that draw."""
    draws = count // table.part
    lines = tuple(table.lines(draws))
    missed: tuple[str, ...] = ()
    if not all(line.holds(FIRST) for line in lines):
        with drawn_again():
            second = tuple(table.lines(draws))
        missed = tuple(
            line.cells[0]
            for line, other in zip(lines, second, strict=True)
            if not line.holds(FIRST) and not other.holds(AGAIN)
        )
    return Drawn(draws=draws, lines=lines, missed=missed)


def first_miss(table: MethodTable, count: int) -> str:
    """Return the first column of the first row that misses its bounds in both draws; "" without one."""
    draws = count // table.part
    for at, line in enumerate(table.lines(draws)):
        if not line.holds(FIRST):
            with drawn_again():
                second = next(islice(table.lines(draws), at, None))
            if not second.holds(AGAIN):
                return line.cells[0]
    return ""


def chance(bounds: int) -> float:
    """Return the chance that any of so many bounds is missed where every rate is exactly as promised, at most."""
    return bounds * FIRST * AGAIN


# -- records ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Results of the last commands that recorded theirs."""

    tables: Mapping[str, Drawn]
    """By name."""
    planted: Sequence[tuple[str, str, str]]
    """Each wrong decision, the title of the table that noticed it, and the row."""


def load() -> Recorded:
    """Return the records. Raises OSError and ValueError of a damaged file."""
    data = json.loads(RESULTS.read_text(encoding="utf-8"))
    return Recorded(
        tables={name: _drawn_of(one) for name, one in data["tables"].items()},
        planted=[(str(row[0]), str(row[1]), str(row[2])) for row in data["planted"]],
    )


def _drawn_of(data: Mapping[str, Any]) -> Drawn:
    lines = tuple(
        Line(
            cells=tuple(cells),
            bounds=tuple(
                Bound(count=count, draws=draws, promised=promised, least=least)
                for count, draws, promised, least in bounds
            ),
        )
        for cells, bounds in data["rows"]
    )
    return Drawn(draws=data["draws"], lines=lines, missed=tuple(data["missed"]))


def save(tables: Mapping[str, Drawn], planted: Iterable[tuple[str, str, str]] | None) -> Recorded:
    """Record these tables, and these wrong decisions unless None, in the file and on the page."""
    before = load() if RESULTS.exists() else Recorded(tables={}, planted=())
    known = {**before.tables, **tables}
    recorded = Recorded(
        tables={table.name: known[table.name] for table in TABLES if table.name in known},
        planted=before.planted if planted is None else tuple(planted),
    )
    RESULTS.write_text(_json_of(recorded), encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(filled_in(page, recorded), encoding="utf-8")
    return recorded


def _json_of(recorded: Recorded) -> str:
    """Return the records with a line for each row, so that versions can be compared."""
    tables = ",\n".join(f"{json.dumps(name)}: {_json_of_table(one)}" for name, one in recorded.tables.items())
    planted = ",\n".join(json.dumps(row, ensure_ascii=False) for row in recorded.planted)
    return f'{{"tables": {{\n{tables}\n}},\n"planted": [\n{planted}\n]}}\n'


def _json_of_table(drawn: Drawn) -> str:
    rows = ",\n".join(
        json.dumps([line.cells, [*map(astuple, line.bounds)]], ensure_ascii=False) for line in drawn.lines
    )
    return f'{{"draws": {drawn.draws}, "missed": {json.dumps(drawn.missed, ensure_ascii=False)}, "rows": [\n{rows}]}}'


# -- the page ---------------------------------------------------------------------------------------------------------


def filled_in(page: str, recorded: Recorded) -> str:
    """Return the page with what is recorded between its markers."""
    texts = ((TABLES_MARKS, tables_text(recorded.tables)), (BREAKS_MARKS, planted_text(recorded.planted)))
    for (begin, end), text in texts:
        page = f"{page.split(begin)[0]}{begin}{text}{end}{page.split(end)[1]}"
    return page


def tables_text(tables: Mapping[str, Drawn]) -> str:
    """Return all of these tables in the order of their declaration, after the number of their bounds."""
    bounds = sum(len(line.bounds) for one in tables.values() for line in one.lines)
    said = (
        f"\n{bounds:,} bounds in {len(tables)} tables: where every rate is exactly as promised, chance makes the "
        f"command fail in {chance(bounds) * 100:.1f} % at most.\n"
    )
    return said + "".join(table_text(table, tables[table.name]) for table in TABLES if table.name in tables)


def table_text(table: MethodTable, drawn: Drawn) -> str:
    """Return a table with its title."""
    kept = "MISSED" if drawn.missed else "kept"
    rows = "".join(_rows(table.heads, [line.cells for line in drawn.lines]))
    return f"\n**{table.title}** ({drawn.draws:,} a row; {table.mark}: {kept})\n\n{rows}"


def planted_text(rows: Sequence[tuple[str, str, str]]) -> str:
    """Return the table of wrong decisions."""
    return "\n" + "".join(_rows(("decided wrongly", "table that misses its mark", "first in the row"), rows))


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (heads, ["---"] * len(heads), *rows):
        yield f"| {' | '.join(row)} |\n"
