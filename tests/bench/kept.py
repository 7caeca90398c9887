"""The table that docs/dev/performance.md keeps, and what has become worse since."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from tests.bench.figures import Figure

BEGIN, END = "<!-- begin: written by make bench -->", "<!-- end -->"
COLUMNS = ("figure", "reached", "interval", "goal", "met or not", "beside it")
MUCH = 0.05
"""What is worse by a larger share is told."""

_NUMBER = re.compile(r"-?[\d.]+")


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


def worse(figures: Iterable[Figure], before: Mapping[str, float]) -> list[str]:
    """A sentence for every figure that is worse than before by more than `MUCH`."""
    found = []
    for figure in figures:
        was = before.get(figure.name)
        if was is None or was <= 0:
            continue
        change = figure.value / was - 1
        if (-change if figure.at_least else change) > MUCH:
            unit = f" {figure.unit}".rstrip()
            found.append(f"{figure.name}: {figure.value:.4g}{unit}, kept {was:g}{unit} ({change:+.0%})")
    return found


def told(figures: Sequence[Figure], page: str) -> str:
    """The last lines of a measurement: what is worse than the page says."""
    before = kept(page)
    found = worse(figures, before)
    compared = sum(figure.name in before for figure in figures)
    if not found:
        return f"worse than in docs/dev/performance.md by more than {MUCH:.0%}: none of {compared}"
    head = f"worse than in docs/dev/performance.md by more than {MUCH:.0%}:"
    return "\n".join((head, *(f"  {line}" for line in found)))


def _between(page: str) -> tuple[str, str, str]:
    before, begin, rest = page.partition(BEGIN)
    inside, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no lines {BEGIN} and {END}")
    return before, inside, after
