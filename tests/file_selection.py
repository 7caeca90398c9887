"""Files that a run need not import, because none of their tests is a part of it.

`make test` leaves some marks out and `make test-exhaustive` asks for two of them. Every worker would import all files
to find out that most of their tests belong to the other run. The text of a file tells it in a fraction of the time.
"""

from __future__ import annotations

import re

RUNS = frozenset({"exhaustive", "long", "browser", "prometheus", "ansible", "package"})
"""Marks that decide which run has a test. Each stands in the file of its test (tests/test_file_selection.py)."""

_LEAVE_OUT = re.compile(r"not \((\w+(?: or \w+)*)\)")
_ASK_FOR = re.compile(r"\w+(?: or \w+)*")
_MARK = re.compile(r"\bmark\.(\w+)")
_OF_ALL = re.compile(r"^pytestmark = (\[[^]]*\]|.*)", re.MULTILINE)


def has_no_test(text: str, expression: str) -> bool:
    """Return whether a file with this text has no test that the expression of marks selects; False if in doubt."""
    if found := _LEAVE_OUT.fullmatch(expression):
        return not _marks(" ".join(_OF_ALL.findall(text))).isdisjoint(_words(found[1]))
    if _ASK_FOR.fullmatch(expression) and _words(expression) <= RUNS:
        return _marks(text).isdisjoint(_words(expression))
    return False


def _marks(text: str) -> frozenset[str]:
    return frozenset(_MARK.findall(text))


def _words(expression: str) -> frozenset[str]:
    return frozenset(expression.split(" or "))
