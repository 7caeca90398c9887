"""What a check found is in the session, and its report tells of the machine as it was then."""

from __future__ import annotations

from pathlib import Path

from app.core.presentation.events import describe_event
from app.core.presentation.raw_data import to_json
from app.core.session.events import MachineChecked, RecordedFinding, last_check
from app.core.session.recorder import Recorder
from app.core.session.state import replay
from app.core.session.store import load
from app.core.workbench import Workbench
from app.features.check.runner import CheckResult, check, check_session, evaluate, record
from app.features.report.markdown import to_markdown
from app.features.report.model import report_of
from backends.model import State
from backends.registry import MachineBackends
from tests.backends.fakes import FakeHost
from tests.backends.simulator.asking import still_host
from tests.core import sessions
from tests.features.check.sights import array_of, volume
from tests.tui.stage import BrokenBackend, paths_in, put, set_table, settled, until

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


async def test_a_session_of_the_command_line_records_what_the_command_check_finds(tmp_path: Path) -> None:
    bench = Workbench(still_host(), paths=paths_in(tmp_path))
    await bench.open(tmp_path / "session")
    inventory = await bench.hardware.probe()
    await check_session(bench, bench.hardware.machine)
    recorded = last_check(bench.session.events)
    whole = await check(MachineBackends.of(still_host()), inventory)
    assert recorded is not None
    assert [(one.rule, one.where) for one in recorded.findings] == [
        (one.rule.id, one.outcome.where) for one in whole.findings
    ]
    assert describe_event(recorded).head.endswith("11 findings (2 faults, 4 warnings, 5 notes)")


async def test_an_incomplete_scan_is_not_checked(tmp_path: Path) -> None:
    table = set_table(tmp_path)
    table.host.files["/sys/block/nvme0n1/queue/scheduler"] = "none mq-deadline [bfq]"
    slow = BrokenBackend()
    put(table, "slow", slow)
    app = table.app()

    def recorded() -> list[int]:
        return [len(event.findings) for event in app.session.events if isinstance(event, MachineChecked)]

    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.session.inventory.drives)
        app.recheck()
        await app.workers.wait_for_complete([worker for worker in app.workers if worker.group == "check"])
        assert (app.session.probing, recorded(), tuple(app.findings.severities)) == (True, [], ())
        slow.answers.set()
        await settled(pilot)
        assert recorded() == [len(app.findings.severities)] != [0]


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
