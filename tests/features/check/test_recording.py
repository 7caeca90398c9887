"""What a check found is in the session, and its report tells of the machine as it was then."""

from __future__ import annotations

from pathlib import Path

from app.core.presentation.raw_data import to_json
from app.core.session.events import MachineChecked, RecordedFinding, last_check
from app.core.session.recorder import Recorder
from app.core.session.state import replay
from app.core.session.store import load
from app.features.check.runner import CheckResult, evaluate, record
from app.features.report.markdown import to_markdown
from app.features.report.model import report_of
from backends.model import State
from tests.backends.fakes import FakeHost
from tests.core import sessions
from tests.features.check.sights import array_of, volume
from tests.tui.stage import paths_in

DEGRADED = evaluate(array_of(array=volume(state=State.DEGRADED)))


async def test_it_is_kept_once_until_it_is_another(tmp_path: Path) -> None:
    recorder = Recorder(FakeHost({}), paths=paths_in(tmp_path))
    record(recorder, DEGRADED)  # no session yet: nothing to put it into
    assert last_check(recorder.session.events) is None
    await recorder.open(tmp_path / "session")
    for checked in (CheckResult(), DEGRADED, DEGRADED, CheckResult(), DEGRADED):
        record(recorder, checked)
    recorder.close()
    kept = [event for event in load(tmp_path / "session").session.events if isinstance(event, MachineChecked)]
    assert [[found.rule for found in event.findings] for event in kept] == [
        ["array-degraded"],
        [],
        ["array-degraded"],
    ]


FLAW = RecordedFinding(
    rule="array-degraded",
    severity="fault",
    where="md:md0",
    message="It is so.",
    evidence="a",
    mends="Replace the drive.",
)


def checked(*found: RecordedFinding) -> MachineChecked:
    return MachineChecked(at=1001.0, findings=found, rules=48)


def test_a_report_tells_the_last_check_and_what_mends_it() -> None:
    session = replay([sessions.started(), sessions.seen(), checked(), checked(FLAW)])
    text = to_markdown(report_of(session))
    section = text.partition("## Findings of the check")[2].partition("\n## ")[0]
    assert "array-degraded" in section
    assert "Replace the drive" in section
    assert [found["rule"] for found in to_json(session, folder="/x")["findings"]] == ["array-degraded"]


def test_where_nothing_was_found_or_checked_there_is_no_such_section() -> None:
    for events in ((), (checked(FLAW), checked())):
        session = replay([sessions.started(), *events])
        assert "Findings of the check" not in to_markdown(report_of(session))
        assert to_json(session, folder="/x")["findings"] == []
