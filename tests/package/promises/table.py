"""The table of forms and promises in docs/dev/packaging.md. `KEEP=1 make package-test` writes it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import date
from typing import TypeVar

from tests.package.promises.forms import FORMS

OUTCOME = "outcome"
"""The property of a test whose success is not `yes`: the form does not have it, and says so."""

PROMISES: dict[str, str] = {}
"""The names of the tests, with the titles of their rows."""

_cells: dict[str, dict[str, str]] = defaultdict(dict)

Test = TypeVar("Test", bound=Callable[..., object])


def promise(title: str) -> Callable[[Test], Test]:
    """Return a decorator that gives a test its row in the table."""

    def add(test: Test) -> Test:
        PROMISES[test.__name__] = title
        return test

    return add


def note(form: str, test: str, outcome: str) -> None:
    """Note the outcome of a test of a form."""
    _cells[PROMISES[test]][form] = outcome


def rows() -> str:
    """Return the table of the noted outcomes."""
    lines = [f"Tried on {date.today()}:", "", f"| | {' | '.join(form.title for form in FORMS)} |"]
    lines.append("| --- " * (len(FORMS) + 1) + "|")
    for title in PROMISES.values():
        cells = (_cells[title].get(form.title, "not tried") for form in FORMS)
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
