"""The tables of docs/dev/packaging.md that `KEEP=1 make package-test` writes."""

from __future__ import annotations

import os

from tools.package.tree import ROOT

PAGE = ROOT / "docs" / "dev" / "packaging.md"


def marks(name: str) -> tuple[str, str]:
    """Return the lines before and after a table."""
    return f"<!-- {name} -->\n", f"<!-- /{name} -->\n"


def table(name: str) -> str:
    """Return a table of the page."""
    begin, end = marks(name)
    return PAGE.read_text("utf-8").partition(begin)[2].partition(end)[0]


def keep(name: str, rows: str) -> None:
    """Write a table into the page, if that is asked for."""
    if os.environ.get("KEEP"):
        begin, end = marks(name)
        before, _, rest = PAGE.read_text("utf-8").partition(begin)
        PAGE.write_text(before + begin + rows + end + rest.partition(end)[2], "utf-8")
