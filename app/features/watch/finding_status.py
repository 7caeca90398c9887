"""Determines which findings of a watch are new, worse or known, and stores them for the next watch."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from enum import StrEnum
from pathlib import Path

from app.core.session.paths import write_private
from app.core.session.trusted_file import read_own
from backends.formats import FORMATS, FileFormat
from backends.text import clean
from backends.values import dataclass

_FORMAT = FORMATS[FileFormat.WATCH]
_LARGEST = 4 << 20

WEEK = 6.5 * 86400
"""Seconds after which known findings are reported again.

It is less than seven days, because the watch of each night starts at a random minute.
"""

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?: ?(?:%|°C))?", re.ASCII)
_STEP = 5.0
"""Percentage points or degrees by which a value must grow to count as worse. Many values vary by less within a day."""


class News(StrEnum):
    """Status of a finding compared with the last watch."""

    NEW = "new"
    WORSE = "worse"
    KNOWN = "known"
    REMINDER = "reminder"
    """Known, but reported again because a week has passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedFinding:
    """A finding, or a difference from a settings file, with the data that is compared between watches."""

    rule: str
    """Id of the rule, or `drift`."""
    where: str
    """Address of the affected target, or the name of another place."""
    rank: int
    """Rank of the severity; 0 is the least important."""
    evidence: str
    """Evidence of the finding, with its values."""

    @property
    def key(self) -> tuple[str, str]:
        """Return the rule and the place, which identify the same finding in another watch."""
        return self.rule, self.where

    def is_worse_than(self, before: ReportedFinding) -> bool:
        """Return whether the finding is worse than before.

        It is worse if its severity is higher. At the same severity, it is worse if the words of the evidence differ or
        a number in it has grown (a percentage or temperature by `_STEP` or more).
        """
        if self.rank != before.rank or _without_numbers(self.evidence) != _without_numbers(before.evidence):
            return self.rank >= before.rank
        pairs = zip(_NUMBER.findall(self.evidence), _NUMBER.findall(before.evidence), strict=True)
        return any(_has_grown(now, then) for now, then in pairs)


def _without_numbers(evidence: str) -> str:
    return _NUMBER.sub("#", evidence)


def _has_grown(now: str, then: str) -> bool:
    units = now.endswith(("%", "C"))
    growth = float(now.rstrip("% °C")) - float(then.rstrip("% °C"))
    return growth >= _STEP if units else growth > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedFindings:
    """Findings that earlier watches have reported."""

    findings: tuple[ReportedFinding, ...] = ()
    """Each finding as it was when it was last reported as new or worse."""
    reminded: float | None = None
    """When all known findings were last reported again, in seconds since 1970; None if never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchComparison:
    """The result of a comparison with the last watch."""

    news: Mapping[tuple[str, str], News] = field(default_factory=dict)
    """Status of each finding, by its key."""
    to_store: ReportedFindings = ReportedFindings()
    """Findings to store for the next watch."""

    @property
    def has_news(self) -> bool:
        """Return whether there is a new or worse finding, or a weekly reminder."""
        return any(news is not News.KNOWN for news in self.news.values())


def compare(
    findings: Iterable[ReportedFinding],
    before: ReportedFindings,
    now: float,
    *,
    rules: Iterable[str],
    silent: Iterable[str] = (),
) -> WatchComparison:
    """Compare the findings with those of earlier watches. No I/O.

    `rules`: ids of all existing rules, so that a finding whose rule was renamed is recognised. `silent`: places and
    backends that could not be read. Their earlier findings are kept, so that they do not count as new once the places
    can be read again.
    """
    current = _merge_findings(findings)
    old = {entry.key: entry for entry in before.findings}
    for finding in current:
        old |= _renamed_entry(finding, old, frozenset(rules))
    reminded = before.reminded if before.reminded is not None and before.reminded <= now else now
    due = now - reminded >= WEEK
    news: dict[tuple[str, str], News] = {}
    kept: list[ReportedFinding] = []
    for finding in current:
        then = old.get(finding.key)
        worse = then is not None and finding.is_worse_than(then)
        news[finding.key] = News.NEW if then is None else News.WORSE if worse else News.REMINDER if due else News.KNOWN
        kept.append(finding if then is None or worse or finding.rank < then.rank else replace(then, rule=finding.rule))
    absent = tuple(silent)
    kept += [earlier for key, earlier in old.items() if key not in news and _is_at(earlier.where, absent)]
    return WatchComparison(
        news=news, to_store=ReportedFindings(findings=tuple(kept), reminded=now if due or not old else reminded)
    )


def _merge_findings(findings: Iterable[ReportedFinding]) -> tuple[ReportedFinding, ...]:
    """Merge findings of the same rule at the same place into one, with the evidence of all of them."""
    merged: dict[tuple[str, str], ReportedFinding] = {}
    for finding in sorted(findings, key=lambda entry: entry.evidence):
        other = merged.get(finding.key)
        both = finding if other is None else replace(finding, evidence=f"{other.evidence}; {finding.evidence}")
        merged[finding.key] = both
    return tuple(merged.values())


def _is_at(where: str, places: Iterable[str]) -> bool:
    """Return whether `where` is one of these places or backends, or belongs to one of them."""
    return any(where == name or where.startswith((f"{name}:", f"{name}/")) for name in places)


def _renamed_entry(
    finding: ReportedFinding, old: Mapping[tuple[str, str], ReportedFinding], rules: frozenset[str]
) -> dict[tuple[str, str], ReportedFinding]:
    """Return the entry that `finding` had in `old` under a rule id that no longer exists, with the key of `finding`.

    Both have the same place, and the same evidence apart from numbers. If there is no such entry, or `old` has one with
    the key of `finding`, return an empty dictionary.
    """
    if finding.key in old:
        return {}
    gone = (then for (rule, where), then in old.items() if where == finding.where and rule not in rules)
    match = next((then for then in gone if _without_numbers(then.evidence) == _without_numbers(finding.evidence)), None)
    return {} if match is None else {finding.key: match}


def load(file: Path) -> ReportedFindings:
    """Return the findings that the last watch stored. If the file is unusable, there are none, so that all are new."""
    try:
        document = json.loads(read_own(file))
        if document["format"] != _FORMAT:
            return ReportedFindings()
        reminded = document["reminded"]
        return ReportedFindings(
            findings=tuple(
                ReportedFinding(
                    rule=clean(str(row["rule"]), 100),
                    where=clean(str(row["where"]), 300),
                    rank=int(row["rank"]),
                    evidence=clean(str(row["evidence"]), 1000),
                )
                for row in document["findings"]
            ),
            reminded=None if reminded is None else float(reminded),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return ReportedFindings()


def save(file: Path, reported: ReportedFindings) -> None:
    """Store the findings in a file. Never raises: without the file, the next watch reports all findings as new."""
    rows = [
        {"rule": finding.rule, "where": finding.where, "rank": finding.rank, "evidence": finding.evidence}
        for finding in reported.findings
    ]
    text = json.dumps({"format": _FORMAT, "reminded": reported.reminded, "findings": rows}, separators=(",", ":"))
    if len(text) <= _LARGEST:
        write_private(file, text)
