"""Text in the roff format of man(7)."""

from __future__ import annotations

from collections.abc import Iterable

_NAMED = {"\\": "\\e", "-": "\\-", "`": "\\(ga", "'": "\\(aq", "^": "\\(ha", "~": "\\(ti"}


def escape(text: str) -> str:
    """Return the text in ASCII, with all characters escaped that roff would interpret or replace."""
    escaped = "".join(_NAMED.get(sign) or (sign if sign.isascii() else f"\\[u{ord(sign):04X}]") for sign in text)
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


def title(name: str, section: int, date: str, version: str) -> str:
    """Return the title line of a page. `date`: such as 2026-11-23."""
    return f'.TH "{escape(name.upper())}" "{section}" "{escape(date)}" "raidbench {escape(version)}" "raidbench"'


def heading(text: str) -> str:
    """Return the heading of a section, such as `OPTIONS`."""
    return f".SH {escape(text)}"


def part(text: str) -> str:
    """Return the heading of a subsection."""
    return f'.SS "{escape(text)}"'


def paragraphs(text: str) -> list[str]:
    """Return the roff lines of a text. Blank lines separate its paragraphs; line breaks in a paragraph are removed."""
    return [row for block in text.split("\n\n") if block.strip() for row in (".PP", escape(" ".join(block.split())))]


def entry(term: str, text: str) -> list[str]:
    """Return the roff lines of a bold term with its indented description."""
    return [".TP", f"\\fB{escape(term)}\\fR", escape(" ".join(text.split())) or "\\&"]


def entries(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Return the roff lines of several terms, each with its description."""
    return [line for term, text in rows for line in entry(term, text)]
