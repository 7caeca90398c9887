"""This version reads the files of every released version."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.core.changes.arrays.array_journal import ArrayJournal, ArrayStage
from app.core.config import load_config
from app.core.session.archive_reader import unpacked_archive
from app.core.session.events import NoteAdded
from app.core.session.folders import session_folders
from app.core.session.journal import Journal, read_records
from app.core.session.paths import Paths
from app.core.session.results import RunStatus
from app.core.session.state import Session
from app.core.session.store import load
from app.features.apply import settings_file
from app.features.history.baselines import Baselines
from app.features.sweep.engine.plan_file import parse_plan
from backends.simulator.state_file import RackFile
from backends.system.recorded import ReplayHost
from tests.cli.conftest import Cli, cli  # noqa: F401  the command line in this process
from tests.released import FOLDER, RACK, VERSIONS


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def files(version: str) -> Path:
    """The files of one version."""
    return FOLDER / version


@pytest.fixture
def state(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the state folder, which commands use."""
    shutil.copytree(files / "state", tmp_path / "state")
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "state"


def places(state: Path) -> Paths:
    return Paths.below(state, RACK)


def sessions(files: Path) -> dict[str, Session]:
    """The session with changes and the one with the sweep."""
    loaded = [load(folder) for folder in session_folders(places(files / "state"))]
    assert [one.passed_over for one in loaded] == [0, 0]
    return {"swept" if one.session.sweep is not None else "worked": one.session for one in loaded}


def test_the_first_release_is_there() -> None:
    assert VERSIONS[0] == "0.2.0"


def test_the_session_names_the_version_that_wrote_it(files: Path, version: str) -> None:
    assert {one.version for one in sessions(files).values()} == {version}


def test_a_session_has_its_changes_and_its_trial(files: Path) -> None:
    changes = sessions(files)["worked"].changes
    told = [(one.change.key, one.change.before, one.change.after, one.intent.trial_until is None) for one in changes]
    assert told[:2] == [("read_ahead", "none", "read-ahead", True), ("io_policy", "direct", "cached", False)]
    assert {one.end.result for one in changes if one.end is not None} == {"verified"}


def test_the_journal_has_the_end_of_the_trial(files: Path) -> None:
    records = read_records(Journal(places(files / "state").journal).file)
    ends = [record["result"] for record in records if (record["kind"], record["id"]) == ("outcome", "c2")]
    assert ends[:2] == ["verified", "kept"]


def test_a_session_has_its_runs_and_their_results(files: Path) -> None:
    runs = sessions(files)["worked"].runs
    assert [(one.end.figures.status, one.end.figures.read is not None) for one in runs[:3] if one.end] == [
        (RunStatus.OK, True)
    ] * 3


def test_a_session_has_a_run_with_flushes_and_an_observation(files: Path) -> None:
    session = sessions(files)["worked"]
    (flushed,) = [run for run in session.runs if run.start.profile == "etcd"]
    assert flushed.end is not None
    assert flushed.end.figures.sync is not None
    assert flushed.end.figures.sync.iops > 0
    notes = [event.text for event in session.events if isinstance(event, NoteAdded)]
    assert any(text.startswith("Observed by the kernel's counters:") for text in notes)


def test_a_session_has_its_experiment(files: Path) -> None:
    (experiment,) = sessions(files)["worked"].experiments
    assert experiment.end is not None
    assert (experiment.start.key, experiment.start.a, experiment.start.b) == ("read_ahead_kb", "128", "256")
    assert experiment.end.restored


def test_a_sweep_is_complete(files: Path) -> None:
    sweep = sessions(files)["swept"].sweep
    assert sweep is not None
    assert sweep.end is not None


def test_an_archive_is_the_session(files: Path) -> None:
    with unpacked_archive(files / "session.raidbench", with_output=True) as loaded:
        swept = sessions(files)["swept"]
        assert (loaded.session.sweep, loaded.session.runs) == (swept.sweep, swept.runs)
        assert loaded.session.runs


def test_the_journal_has_the_open_change(files: Path) -> None:
    journal = Journal(places(files / "state").journal)
    (left,) = journal.unresolved()
    assert (left.change.key, left.change.before, left.change.after) == ("write_cache", "write-through", "write-back")
    assert journal.unreadable_error() is None


def test_the_journal_of_arrays_has_the_open_array(files: Path) -> None:
    (entry,) = ArrayJournal(places(files / "state").journal).entries()
    assert (entry.array.name, entry.stage, entry.unfinished) == ("open", ArrayStage.MAKING, True)


def test_a_baseline_has_its_runs(files: Path) -> None:
    baseline = Baselines(places(files / "state")).load("recorded")
    assert [run.end is not None for run in baseline.runs] == [True, True, True]


def test_a_configuration_has_its_values(files: Path) -> None:
    config = load_config(files / "state" / "config.toml", required=True)
    assert (config.fps, config.profile, config.scratch_size) == (5, "randread-4k", 4 << 30)
    assert config.keymap == {"bench.run": "f5"}


def test_a_plan_has_its_axis(files: Path) -> None:
    plan = parse_plan((files / "plan.toml").read_bytes(), "plan.toml")
    assert [len(axis.values) for axis in plan.axes] == [2]


def test_a_settings_file_has_its_values(files: Path) -> None:
    (target,) = settings_file.parse((files / "settings.toml").read_bytes(), "settings.toml").targets
    assert target.values["read_ahead"] == "read-ahead"


async def test_a_captured_machine_answers(files: Path) -> None:
    assert await ReplayHost(files / "capture").read("/proc/sys/kernel/osrelease")


def test_a_simulated_host_has_its_state(files: Path) -> None:
    assert RackFile(places(files / "state").state / "demo-rack.json").rack.cards


@pytest.mark.long
def test_recover_restores_the_open_change(cli: Cli, state: Path) -> None:  # noqa: F811
    done = cli("--demo", "--demo-speed", "1000", "recover", "--restore")
    assert done.status == 0, done.err
    assert "megaraid:/c0/v1 write_cache: write-through" in done.out
    assert Journal(places(state).journal).unresolved() == ()
