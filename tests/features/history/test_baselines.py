"""Baselines keep their runs whole, and are held against what is measured later."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.core.analysis.past_runs.earlier_runs import PastRun, job_text
from app.core.analysis.regression import RegressionVerdict
from app.core.session.events import LoggedEvent
from app.core.session.paths import Paths
from app.core.session.results import Advice
from app.core.session.state import RunRecord
from app.core.session.store import LoadedSession, load
from app.features.history.baseline_check import BaselineCheck, check_runs
from app.features.history.baseline_presentation import check_text
from app.features.history.baselines import Baseline, Baselines, baseline_of
from backends.errors import InvalidValueError, NotFoundError, StorageError
from tests.core import sessions
from tests.core.past_runs.test_series import DAY, past

WWN = "naa.5000c500a1b2c3d4"


def runs(*iops: float, first: int = 1, **more: object) -> list[LoggedEvent]:
    found: list[LoggedEvent] = []
    for number, each in enumerate(iops, first):
        found += sessions.run(f"r{number}", iops=each, at=1000.0 + number, **more)  # type: ignore[arg-type]
    return found


def session(folder: Path, *events: LoggedEvent) -> LoadedSession:
    return load(sessions.written(folder, sessions.started(), sessions.seen(wwn=WWN), *events))


@pytest.fixture
def saved(tmp_path: Path) -> Baseline:
    loaded = session(tmp_path / "s1", *runs(1000.0, 1010.0, 990.0))
    return baseline_of("night", loaded, loaded.session.runs)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Baselines:
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path / "state"))
    return Baselines(Paths.of(""))


def file_of(tmp_path: Path) -> Path:
    return tmp_path / "state/baselines/night.json"


def test_a_baseline_comes_back_as_it_was(kept: Baselines, saved: Baseline) -> None:
    kept.save(saved)
    assert kept.load("night") == saved


def test_it_knows_the_thing_not_the_name(saved: Baseline) -> None:
    assert saved.thing == f"wwn {WWN}"


def test_it_is_for_its_user_alone(kept: Baselines, saved: Baseline, tmp_path: Path) -> None:
    kept.save(saved)
    assert file_of(tmp_path).stat().st_mode & 0o077 == 0


def test_it_is_not_replaced_unasked(kept: Baselines, saved: Baseline) -> None:
    kept.save(saved)
    with pytest.raises(InvalidValueError, match="already"):
        kept.save(saved)


def test_asked_it_is_replaced(kept: Baselines, saved: Baseline) -> None:
    kept.save(saved)
    kept.save(replace(saved, session="other"), replace=True)
    assert kept.load("night").session == "other"


def test_a_removed_one_is_gone(kept: Baselines, saved: Baseline) -> None:
    kept.save(saved)
    kept.remove("night")
    assert kept.names() == ()


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 65, "a b"])
def test_a_name_that_is_a_path_is_refused(kept: Baselines, name: str) -> None:
    with pytest.raises(InvalidValueError):
        kept.load(name)


def test_an_unknown_one_is_answered_with_those_there_are(kept: Baselines, saved: Baseline) -> None:
    kept.save(saved)
    with pytest.raises(NotFoundError) as caught:
        kept.load("day")
    assert "night" in caught.value.hint


@pytest.mark.parametrize("damage", ["", "{}", '{"schema": 2}', "[1]"])
def test_a_damaged_one_is_told(kept: Baselines, saved: Baseline, tmp_path: Path, damage: str) -> None:
    kept.save(saved)
    file_of(tmp_path).write_text(damage)
    with pytest.raises(StorageError, match="damaged"):
        kept.load("night")


def test_what_a_later_version_adds_is_passed_over(kept: Baselines, saved: Baseline, tmp_path: Path) -> None:
    kept.save(saved)
    more = json.loads(file_of(tmp_path).read_text()) | {"mood": "good"}
    file_of(tmp_path).write_text(json.dumps(more))
    assert kept.load("night") == saved


def test_two_runs_make_none(tmp_path: Path) -> None:
    loaded = session(tmp_path / "s1", *runs(1000.0, 1010.0))
    with pytest.raises(InvalidValueError, match="too few"):
        baseline_of("night", loaded, loaded.session.runs)


def test_runs_with_other_settings_make_none(tmp_path: Path) -> None:
    other = runs(990.0, first=3, settings={"read_ahead_kb": "64"})
    loaded = session(tmp_path / "s1", *runs(1000.0, 1010.0), *other)
    with pytest.raises(InvalidValueError, match="are not repeats of one run"):
        baseline_of("night", loaded, loaded.session.runs)


def now(folder: Path, *iops: float, **more: object) -> tuple[RunRecord, ...]:
    return session(folder / "now", *runs(*iops, first=11, **more)).session.runs


def checked(saved: Baseline, records: tuple[RunRecord, ...], known: tuple[PastRun, ...] = ()) -> BaselineCheck:
    return check_runs(saved, records, known, threshold=5.0)


def test_half_as_fast_is_worse(saved: Baseline, tmp_path: Path) -> None:
    assert checked(saved, now(tmp_path, 500.0, 505.0, 495.0)).judgement.standing is RegressionVerdict.WORSE


def test_as_fast_is_not(saved: Baseline, tmp_path: Path) -> None:
    assert checked(saved, now(tmp_path, 1000.0, 1010.0, 990.0)).judgement.standing is RegressionVerdict.NOT_WORSE


def test_what_differs_is_named(saved: Baseline, tmp_path: Path) -> None:
    records = now(tmp_path, 500.0, 505.0, 495.0, settings={"read_ahead_kb": "64"})
    assert checked(saved, records).differs == (("read_ahead_kb", "128", "64"),)


def test_a_rebuild_forbids_the_verdict(saved: Baseline, tmp_path: Path) -> None:
    rebuilding = (Advice(key="background-task", message="A rebuild.", about=("rebuild",)),)
    records = now(tmp_path, 500.0, 505.0, 495.0, advice=rebuilding)
    assert checked(saved, records).judgement.standing is RegressionVerdict.REFUSED


def nights(saved: Baseline, values: tuple[float, ...], **more: Any) -> tuple[PastRun, ...]:
    """Sessions in which the same was measured."""
    alike = past(1.0, thing=saved.thing, settings=dict(saved.start.settings))
    return tuple(
        replace(alike, value=value, session=f"n{at}", at=at * DAY, job=job_text(saved.start.job), **more)
        for at, value in enumerate(values)
    )


def test_how_far_sessions_lie_apart_is_taken_from_the_history(saved: Baseline, tmp_path: Path) -> None:
    records = now(tmp_path, 1000.0, 1010.0, 990.0)
    found = checked(saved, records, nights(saved, (1000.0, 1100.0, 1000.0, 1100.0)))
    assert found.between is not None
    assert found.between.n == 4


def test_runs_of_one_session_tell_nothing_of_sessions(saved: Baseline, tmp_path: Path) -> None:
    one = tuple(replace(run, session="n0") for run in nights(saved, (1000.0, 1100.0, 1000.0, 1100.0)))
    assert checked(saved, now(tmp_path, 1000.0, 1010.0, 990.0), one).between is None


@pytest.mark.parametrize("other", [{"thing": "wwn other"}, {"settings": {"read_ahead_kb": "64"}}, {"status": "failed"}])
def test_sessions_in_which_something_else_was_measured_tell_nothing(
    saved: Baseline, tmp_path: Path, other: dict[str, object]
) -> None:
    known = nights(saved, (1000.0, 1100.0, 1000.0, 1100.0), **other)
    assert checked(saved, now(tmp_path, 1000.0, 1010.0, 990.0), known).between is None


def test_runs_with_another_engine_are_never_held_against_it(saved: Baseline, tmp_path: Path) -> None:
    """As those that flush are measured by later versions."""
    found = checked(saved, now(tmp_path / "later", 1000, 1001, 999, job={"rw": "randread", "ioengine": "psync"}))
    assert found.judgement.standing is RegressionVerdict.REFUSED
    assert "the I/O engine changed from libaio to psync" in check_text(found)


def test_another_engine_is_another_condition_of_the_history() -> None:
    words = {job_text({"rw": "randwrite", "fsync": "1", "ioengine": engine}) for engine in ("libaio", "psync")}
    assert len(words) == 2
