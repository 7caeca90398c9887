"""What the laboratory proved, row by row: recorded by tests, printed, and compared with what docs/dev/lab.md claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

SETTINGS = "Settings"
SECTIONS = {
    SETTINGS: ("Backend", "On", "Setting", "From", "To", "Read back", "Undone"),
    "Guard": ("State of the device", "Raw write", "Command line", "Format or re-creation", "Said"),
    "Arrays": ("Array", "What", "Seen"),
    "Faults": ("Fault", "What", "Seen"),
    "Members": ("Array", "What", "Seen"),
    "Terminal": ("Screen", "Keys", "Seen"),
    "Side effects": ("Disk", "Written", "Moves"),
    "Machine": ("Part", "What", "Seen"),
}
"""The tables and their columns; each has a verdict besides."""

OK, FAILED = "ok", "FAILED"
BEGIN, END = "<!-- begin: written by make lab -->", "<!-- end -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing that was tried."""

    section: str
    """Which table."""
    cells: tuple[str, ...]
    """One text for each column; the same on every boot."""
    ok: bool
    """Whether it did what it should."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The cells with the verdict."""
        return (*self.cells, OK if self.ok else FAILED)


@dataclass
class Results:
    """All rows of one boot, in the order in which they were proved."""

    rows: list[Row] = field(default_factory=list)

    def setting(
        self,
        *,
        backend: str,
        on: str,
        setting: str,
        before: str | None,
        after: str,
        read_back: str | None,
        undone: str | None,
        ok: bool | None = None,
    ) -> bool:
        """A setting changed, read back and taken back; whether that is what happened.

        `on`: the disk's name in the laboratory or the array's level, never a kernel name. `ok`: only where the rule
        `read_back == after and undone == before` does not say it.
        """
        good = read_back == after and undone == before if ok is None else ok
        cells = (backend, on, setting, str(before), after, str(read_back), str(undone))
        return self.add(SETTINGS, *cells, ok=good)

    def add(self, section: str, *cells: str, ok: bool) -> bool:
        """A row of any table; returns `ok`, for an assertion. Raises ValueError when the cells do not fit."""
        if len(cells) != len(SECTIONS[section]):
            raise ValueError(f"{section} has the columns {', '.join(SECTIONS[section])}")
        # A row must not break the table it is written into.
        texts = tuple(" ".join(cell.replace("|", "/").split()) for cell in cells)
        self.rows.append(Row(section=section, cells=texts, ok=ok))
        return ok


def markdown(rows: Iterable[Row]) -> str:
    """The tables."""
    known = list(rows)
    parts: list[str] = []
    for section, columns in SECTIONS.items():
        texts = [row.texts for row in known if row.section == section]
        if texts:
            lines = [_line((*columns, "Verdict")), _line(["---"] * (len(columns) + 1)), *map(_line, texts)]
            parts.append("\n".join((f"### {section}", "", *lines, "")))
    return "\n".join(parts)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def claims(page: str) -> list[Row]:
    """The rows that a page claims. Raises ValueError when it has no place for them."""
    section = ""
    found: list[Row] = []
    for line in _between(page)[1].splitlines():
        if line.startswith("### "):
            section = line.removeprefix("### ")
        elif line.startswith("| ") and not line.startswith("| ---"):
            *cells, verdict = line.removeprefix("| ").removesuffix(" |").split(" | ")
            if verdict in (OK, FAILED):
                found.append(Row(section=section, cells=tuple(cells), ok=verdict == OK))
    return found


def with_claims(page: str, rows: Iterable[Row]) -> str:
    """The page with these rows instead of those it has, in the order in which it had them."""
    before, _, after = _between(page)
    places = {_tried(row): place for place, row in enumerate(claims(page))}
    ordered = sorted(rows, key=lambda row: places.get(_tried(row), len(places)))
    return f"{before}{BEGIN}\n\n{markdown(ordered)}\n{END}{after}"


def _between(page: str) -> tuple[str, str, str]:
    before, begin, rest = page.partition(BEGIN)
    inside, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no lines {BEGIN} and {END}")
    return before, inside, after


def _tried(row: Row) -> tuple[str, ...]:
    """What a row is about: a setting of a device, or a part and what was tried on it."""
    return (row.section, *row.cells[: 3 if len(row.cells) > 6 else 2])


def broken_claims(claimed: Iterable[Row], rows: Sequence[Row]) -> list[str]:
    """A sentence for every claim that was not proved this time, and every row that went wrong.

    What was seen may differ from one boot to the next (a share, a count); what was tried may not.
    """
    seen = {_tried(row) for row in rows if row.ok}
    lost = [row for row in claimed if _tried(row) not in seen]
    wrong = [row for row in rows if not row.ok]
    told = [f"claimed, but not proved: {row.section}: {' | '.join(row.cells)}" for row in lost]
    return [*told, *(f"wrong: {row.section}: {' | '.join(row.cells)}" for row in wrong)]
