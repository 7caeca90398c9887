"""The doctor rehearses the watchdog of a trial, and says whether trials work."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.core.changes import trial
from app.core.session.paths import Paths
from app.features.doctor import engine
from app.features.doctor.engine import DoctorItem, DoctorStatus
from backends.errors import RaidbenchError, RefusedError, StorageError
from backends.host import SIMULATED_MACHINE, THIS_MACHINE, Capabilities, Host
from backends.system.local import LocalHost
from tests.core.changes.test_trials import paths


class Side:
    """A helper that answers, or refuses."""

    def __init__(self, error: RaidbenchError | None = None) -> None:
        self.error = error
        self.asked: list[object] = []

    async def ask(self, verb: str, **args: object) -> Mapping[str, Any]:
        self.asked.append((verb, args))
        if self.error is not None:
            raise self.error
        return {}


class Rehearsals:
    """What was rehearsed, and what came of it."""

    def __init__(self) -> None:
        self.of: list[Paths] = []
        self.error: RaidbenchError | None = None

    async def rehearse(self, places: Paths) -> None:
        self.of.append(places)
        if self.error is not None:
            raise self.error


@pytest.fixture
def rehearsals(monkeypatch: pytest.MonkeyPatch) -> Rehearsals:
    made = Rehearsals()
    monkeypatch.setattr(trial, "rehearse", made.rehearse)
    return made


async def finding(folder: Path, side: Side | None = None, capabilities: Capabilities = THIS_MACHINE) -> DoctorItem:
    host = SimpleNamespace(capabilities=capabilities, root_side=side)
    return await engine._trials(cast("Host", host), paths(folder))


async def test_trials_work_where_a_watchdog_can_be_armed(tmp_path: Path, rehearsals: Rehearsals) -> None:
    found = await finding(tmp_path)
    assert (found.grade, found.name, found.detail[:9], found.advice) == (DoctorStatus.OK, "trials", "available", "")
    assert rehearsals.of == [paths(tmp_path)]


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (StorageError("The disk is gone.", hint="Mount it."), "Mount it."),
        (RefusedError("The disk is gone."), "Change settings without --trial, and use `raidbench undo`."),
    ],
)
@pytest.mark.parametrize("through_a_helper", [False, True])
async def test_why_no_watchdog_can_be_armed_is_told_with_what_to_do(
    tmp_path: Path, rehearsals: Rehearsals, error: RaidbenchError, advice: str, through_a_helper: bool
) -> None:
    rehearsals.error = error
    found = await finding(tmp_path, Side(error) if through_a_helper else None)
    assert (found.grade, found.advice) == (DoctorStatus.MISSING, advice)
    assert found.detail == "not available: the watchdog cannot be started: The disk is gone."


async def test_the_helper_rehearses_its_own_watchdog(tmp_path: Path, rehearsals: Rehearsals) -> None:
    side = Side()
    found = await finding(tmp_path, side)
    assert (found.grade, side.asked, rehearsals.of) == (DoctorStatus.OK, [("rehearse", {})], [])


async def test_where_nothing_is_watched_nothing_is_started(tmp_path: Path, rehearsals: Rehearsals) -> None:
    found = await finding(tmp_path, capabilities=SIMULATED_MACHINE)
    assert (found.grade, "no watchdog" in found.detail, rehearsals.of) == (DoctorStatus.OK, True, [])


@pytest.mark.long
async def test_the_examination_has_it(tmp_path: Path) -> None:
    (tmp_path / "journal").touch()
    found = {one.name: one for one in await engine.examine(LocalHost(), paths(tmp_path), {})}
    assert found["trials"].grade is DoctorStatus.MISSING
    assert "The journal cannot be written: Not a directory" in found["trials"].detail
