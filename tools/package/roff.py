"""Text as man(7) wants it."""

from __future__ import annotations

from collections.abc import Iterable

_NAMED = {"\\": "\\e", "-": "\\-", "`": "\\(ga", "'": "\\(aq", "^": "\\(ha", "~": "\\(ti"}


def escape(text: str) -> str:
    """The text with nothing left in it that roff reads as a request or draws as another sign, in ASCII."""
    told = "".join(_NAMED.get(sign) or (sign if sign.isascii() else f"\\[u{ord(sign):04X}]") for sign in text)
    return f"\\&{told}" if told.startswith(".") else told


def title(name: str, section: int, date: str, version: str) -> str:
    """The first line of a page; `date` is 2026-11-23."""
    return f'.TH "{escape(name.upper())}" "{section}" "{escape(date)}" "raidbench {escape(version)}" "raidbench"'


def heading(text: str) -> str:
    """A section: `OPTIONS`."""
    return f".SH {escape(text)}"


def part(text: str) -> str:
    """A section within one."""
    return f'.SS "{escape(text)}"'


def paragraphs(text: str) -> list[str]:
    """Paragraphs that a blank line parts, each filled anew."""
    return [row for block in text.split("\n\n") if block.strip() for row in (".PP", escape(" ".join(block.split())))]


def entry(term: str, text: str) -> list[str]:
    """A term in bold with what it means, indented."""
    return [".TP", f"\\fB{escape(term)}\\fR", escape(" ".join(text.split())) or "\\&"]


def entries(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Terms and what they mean."""
    return [line for term, text in rows for line in entry(term, text)]
