"""Read the list of known flaky tests, `tests/flaky.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from tests.ci.safety import ROOT, safety_subject

FILE = ROOT / "tests" / "flaky.toml"
LIFETIME = timedelta(days=14)
"""The time after which an entry expires."""
KEYS = {"test", "cause", "added"}


@dataclass(frozen=True)
class Entry:
    """One known flaky test."""

    test: str
    """Its node id. Without parameters it covers the test with all of them."""
    cause: str
    """Why it fails now and then."""
    added: date

    def is_expired(self, today: date) -> bool:
        """Return whether the entry no longer counts."""
        return today > self.added + LIFETIME

    def covers(self, test: str) -> bool:
        """Return whether the entry is about this node id."""
        return self.test in (test, test.partition("[")[0])


def read_entries(text: str, today: date) -> tuple[Entry, ...]:
    """Return the entries of the file, expired ones included.

    Raises ValueError with the malformed entry.
    """
    table = tomllib.loads(text)
    entries = table.pop("flaky", [])
    if table or not isinstance(entries, list):
        raise ValueError(f"only [[flaky]] is allowed here, not {', '.join(table) or 'flaky'}")
    return tuple(_entry(values, today) for values in entries)


def _entry(values: object, today: date) -> Entry:
    if not isinstance(values, dict) or set(values) != KEYS:
        raise ValueError(f"an entry has the keys {', '.join(sorted(KEYS))}: {values}")
    test, cause, added = values["test"], values["cause"], values["added"]
    if not isinstance(test, str) or not test.startswith("tests/") or "::" not in test:
        raise ValueError(f"test is a node id, tests/FILE::TEST: {test!r}")
    if not isinstance(cause, str) or len(cause.split()) < 3:
        raise ValueError(f"cause is a sentence: {cause!r} ({test})")
    if not isinstance(added, date) or isinstance(added, datetime):
        raise ValueError(f"added is a date without quotes, YYYY-MM-DD: {added!r} ({test})")
    if added > today + timedelta(days=1):
        raise ValueError(f"added is in the future: {added} ({test})")
    if subject := safety_subject(test):
        raise ValueError(f"a test of {subject} is never repeated: {test}")
    return Entry(test, cause, added)
