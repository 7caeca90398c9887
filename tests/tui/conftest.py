"""One moment on one machine: what is drawn is the same everywhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.core.session.events import MachineFacts
from tests.headless import drawn_at_rest, styles_parsed_once
from tests.tui.stage import MACHINE, NOON, Table, set_table

__all__ = ["drawn_at_rest", "still", "stillness", "styles_parsed_once", "table"]


async def read_nothing(_watch: object) -> None:
    """In place of the reading of what devices do now, which is never the same twice."""


@contextmanager
def stillness() -> Iterator[None]:
    """Clock, time zone, host and version stand still."""

    async def facts(_host: object) -> MachineFacts:
        return MACHINE

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.core.session.recorder.machine_facts", facts)
        patch.setattr("app.core.session.recorder.program_version", lambda: "1.0")
        patch.setattr(time, "time", lambda: NOON)
        patch.setattr("app.tui.activity_watch.ActivityWatch.read", read_nothing)
        patch.setattr("backends.system.wrapped.time", SimpleNamespace(time=lambda: NOON, monotonic=lambda: 0.0))
        patch.setenv("TZ", "UTC")
        patch.delenv("NO_COLOR", raising=False)
        time.tzset()
        yield
    time.tzset()


@pytest.fixture
def still() -> Iterator[None]:
    """For the length of a test."""
    with stillness():
        yield


@pytest.fixture
def table(tmp_path: Path, still: None) -> Table:
    """A workbench on a machine with a root disk, a hard disk and a flash drive."""
    return set_table(tmp_path)
