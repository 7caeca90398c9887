"""One moment on one machine: what is drawn is the same everywhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.engine.session.events import MachineFacts
from tests.tui.stage import MACHINE, NOON, Table, set_table


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Clock, time zone, host and version stand still."""

    async def facts(_host: object) -> MachineFacts:
        return MACHINE

    monkeypatch.setattr("app.engine.session.recorder.machine_facts", facts)
    monkeypatch.setattr("app.engine.session.recorder.program_version", lambda: "0.1.0")
    monkeypatch.setattr(time, "time", lambda: NOON)
    monkeypatch.setattr("backends.hosts.wrapped.time", SimpleNamespace(time=lambda: NOON, monotonic=lambda: 0.0))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("NO_COLOR", raising=False)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def table(tmp_path: Path, still: None) -> Table:
    """A workbench on a machine with a root disk, a hard disk and a flash drive."""
    return set_table(tmp_path)
