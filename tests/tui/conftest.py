"""One moment on one machine: what is drawn is the same everywhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation

from app.engine.session.events import MachineFacts
from tests.tui.stage import MACHINE, NOON, Table, set_table


@pytest.fixture(scope="session", autouse=True)
def styles_parsed_once() -> Iterator[None]:
    """Every workbench has the same styles: to parse them anew takes a sixth of the time that it takes to open."""
    parse = Stylesheet._parse_rules
    parsed: dict[object, list[RuleSet]] = {}

    def once(
        sheet: Stylesheet,
        css: str,
        read_from: CSSLocation,
        is_default_rules: bool = False,
        tie_breaker: int = 0,
        scope: str = "",
    ) -> list[RuleSet]:
        given = (css, read_from, is_default_rules, tie_breaker, scope)
        key = (*given, tuple(sheet._variables.items()))
        if key not in parsed:
            parsed[key] = parse(sheet, *given)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", once)
        yield


@contextmanager
def stillness() -> Iterator[None]:
    """Clock, time zone, host and version stand still."""

    async def facts(_host: object) -> MachineFacts:
        return MACHINE

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.engine.session.recorder.machine_facts", facts)
        patch.setattr("app.engine.session.recorder.program_version", lambda: "0.1.0")
        patch.setattr(time, "time", lambda: NOON)
        patch.setattr("backends.hosts.wrapped.time", SimpleNamespace(time=lambda: NOON, monotonic=lambda: 0.0))
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
