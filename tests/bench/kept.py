"""The table that docs/dev/performance.md keeps, and what has become worse since."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.bench.figures import Figure

BEGIN, END = "<!-- begin: written by make bench -->", "<!-- end -->"
COLUMNS = ("figure", "reached", "interval", "goal", "met or not", "notes")
MUCH = 0.05
"""A measurement names a figure that is worse by a larger share."""
TOO_MUCH = 0.10
"""A release is refused if a figure is worse by a larger share and the page does not say why."""
EXCUSES = "Known to be worse"
"""Heading of the page below which a line `- **NAME.** REASON` says why a figure is worse."""

_NUMBER = re.compile(r"-?[\d.]+")
_EXCUSE = re.compile(r"^- \*\*(.+)\.\*\* +(?=\S)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """A figure that is worse than on the page."""

    name: str
    value: float
    before: float
    """The value on the page."""
    unit: str

    def __str__(self) -> str:
        """Return both values and the change."""
        unit = f" {self.unit}".rstrip()
        return f"{self.name}: {self.value:.4g}{unit}, kept {self.before:g}{unit} ({self.value / self.before - 1:+.0%})"


def kept(page: str) -> dict[str, float]:
    """The values of a page by the names of their figures. Raises ValueError when it has no place for them."""
    rows = [[cell.strip() for cell in line.split("|")[1:]] for line in _between(page)[1].splitlines() if "|" in line]
    found = {row[0]: _NUMBER.match(row[1]) for row in rows}
    return {name: float(value[0]) for name, value in found.items() if value is not None}


def with_figures(page: str, figures: Sequence[Figure], circumstances: str = "") -> str:
    """The page with these figures instead of those it has, under a sentence on how they came about."""
    before, _, after = _between(page)
    rows = [COLUMNS, ("---",) * len(COLUMNS), *(figure.row() for figure in figures)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    inside = "\n\n".join(filter(None, (BEGIN, circumstances, table, goals(figures), END)))
    return f"{before}{inside}{after}"


def goals(figures: Iterable[Figure]) -> str:
    """How many goals are met, and which are not."""
    held = [figure for figure in figures if figure.goal is not None]
    missed = [figure.name for figure in held if not figure.reached]
    return f"Goals reached: {len(held) - len(missed)} of {len(held)}. Not reached: {'; '.join(missed) or 'none'}."


def worse(figures: Iterable[Figure], before: Mapping[str, float], much: float = MUCH) -> list[Regression]:
    """Return the figures that are worse than before by a larger share than `much`.

    A figure is not worse if its interval includes the value from before, because the difference may be noise.
    """
    found = []
    for figure in figures:
        was = before.get(figure.name)
        if was is None or was <= 0:
            continue
        sign = -1 if figure.at_least else 1
        if (figure.value / was - 1) * sign > much and not figure.low <= was <= figure.high:
            found.append(Regression(name=figure.name, value=figure.value, before=was, unit=figure.unit))
    return found


def excuses(page: str) -> list[str]:
    """Return the names of the figures of which the page says why they are worse."""
    _, _, rest = page.partition(f"\n## {EXCUSES}\n")
    return _EXCUSE.findall(rest.partition("\n## ")[0])


def comparison_text(figures: Sequence[Figure], page: str) -> str:
    """Return the last lines of a measurement: the figures that are worse than on the page."""
    before = kept(page)
    found = worse(figures, before)
    compared = sum(figure.name in before for figure in figures)
    if not found:
        return f"worse than in docs/dev/performance.md by more than {MUCH:.0%}: none of {compared}"
    head = f"worse than in docs/dev/performance.md by more than {MUCH:.0%}:"
    return "\n".join((head, *(f"  {regression}" for regression in found)))


def refusal_text(figures: Sequence[Figure], page: str) -> str:
    """Return why a release with these figures is refused and the next step, "" if it is not.

    It is refused if a figure is too much worse without a reason on the page, and if one of the page is missing.
    """
    before, reasons = kept(page), excuses(page)
    measured = {figure.name for figure in figures if not math.isnan(figure.value)}
    regressions = [found for found in worse(figures, before, TOO_MUCH) if found.name not in reasons]
    missing = [name for name in before if name not in measured]
    lines: list[str] = []
    if regressions:
        lines += (
            f"A release is refused, because these figures are more than {TOO_MUCH:.0%} worse than in "
            "docs/dev/performance.md:",
            *(f"  {regression}" for regression in regressions),
            f'Fix the cause. Or give the reason below "{EXCUSES}" on that page, and commit it: - **NAME.** REASON',
        )
    if missing or not before:
        lines += (
            "A release is refused, because these figures of docs/dev/performance.md were not measured:",
            *(f"  {name}" for name in missing or ["all: the page has none"]),
            "Fix what the parts above report. If the figures have new names, write the table: make bench ARGS=--keep",
        )
    return "\n".join(lines)


def _between(page: str) -> tuple[str, str, str]:
    before, begin, rest = page.partition(BEGIN)
    inside, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no lines {BEGIN} and {END}")
    return before, inside, after
