"""What was done to a device, newest first: changes and runs under any of its addresses."""

from __future__ import annotations

from app.core.presentation.device_history import device_events
from app.core.session.state import replay
from tests.core.sessions import SDA, change, run, seen, started


def test_changes_and_runs_of_a_device_are_listed_newest_first() -> None:
    session = replay([started(), seen(), *change(), *run("r1")])
    device = session.inventory.find(str(SDA))
    assert device is not None
    assert [row.key for row in device_events(session, session.inventory, device).rows] == ["r1", "c1"]
