"""How many findings there are, in words."""

from __future__ import annotations

from app.core.presentation.finding_counts import findings_text, severities_text


def test_findings_are_counted_by_severity_the_gravest_first() -> None:
    severities = ("note", "fault", "warn", "note", "fault")
    assert findings_text(severities) == "5 findings (2 faults, 1 warning, 2 notes)"
    assert severities_text(severities) == "2 faults, 1 warning, 2 notes"


def test_one_finding_and_none() -> None:
    assert findings_text(("warn",)) == "1 finding (1 warning)"
    assert (findings_text(()), severities_text(())) == ("no findings", "")


def test_a_severity_of_another_version_counts_in_the_sum() -> None:
    assert findings_text(("fault", "disaster")) == "2 findings (1 fault)"
