"""Numbers of findings as text, the same everywhere. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from widgets.text_utils import units

NOTE = "note"
"""Severity of a finding that needs no action."""

SEVERITIES: Mapping[str, str] = MappingProxyType({"fault": "fault", "warn": "warning", NOTE: "note"})
"""Name of each severity by its value in JSON and in the log, the gravest first."""


def severities_text(severities: Iterable[str]) -> str:
    """Return the number of findings by severity: `1 fault, 3 warnings`; "" without findings."""
    count = Counter(severities)
    return ", ".join(units.plural(count[value], word) for value, word in SEVERITIES.items() if count[value])


def findings_text(severities: Iterable[str]) -> str:
    """Return the number of findings: `4 findings (1 fault, 3 warnings)`, or `no findings`."""
    values = tuple(severities)
    parts = severities_text(values)
    return units.plural(len(values), "finding") + (f" ({parts})" if parts else "") if values else "no findings"
