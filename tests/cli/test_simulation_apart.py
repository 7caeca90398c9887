"""Sessions, locks, journal and history of simulated machines are separate from those of this machine."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.session.events import RunStarted
from app.core.session.folders import LOG
from app.core.session.paths import Paths
from app.core.workbench import Workbench
from backends.errors import StorageError
from tests.backends.fakes import FakeHost
from tests.cli.conftest import Cli, program
from tests.core import sessions

FAST = ("--demo", "--demo-speed", "500")


@pytest.fixture
def demo_change(cli: Cli) -> None:
    """A change in force on the simulated machine."""
    assert cli(*FAST, "set", "/c0/v0", "read_ahead=none", "--yes").status == 0


@pytest.fixture
def simulated_session(state: Path) -> Path:
    """A simulated session that somebody put among those of this machine."""
    folder = state / "sessions" / "old"
    start, *end = sessions.run()
    assert isinstance(start, RunStarted)
    made = replace(start, simulated=True)
    sessions.written(folder, sessions.started(simulated=True), sessions.seen(), made, *end)
    return folder


@pytest.fixture
def real_session(state: Path) -> Path:
    """A session of this machine that is older than any other."""
    folder = state / "sessions" / "real"
    sessions.written(folder, sessions.started(), sessions.seen(), *sessions.run())
    os.utime(folder / LOG, (1000, 1000))
    return folder


LAST = (("runs",), ("log",), ("report",), ("compare", "r1", "r1"), ("archive", "-o", "x.zip"), ("plot", "r1"))
"""Commands that take the last session."""


@pytest.mark.usefixtures("demo_change")
def test_undo_of_this_machine_does_not_see_a_simulated_change(cli: Cli) -> None:
    done = cli("undo", "--dry-run")
    assert (done.status, "Nothing to undo" in done.err, "/c0/v0" in done.out + done.err) == (0, True, False)


@pytest.mark.long
@pytest.mark.usefixtures("demo_change")
@pytest.mark.parametrize("words", LAST, ids=" ".join)
def test_without_a_session_of_this_machine_there_is_no_last_one(
    cli: Cli, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = cli(*words)
    assert "SIMULATED" not in done.out + done.err
    assert "There are no runs yet" in done.err if words == ("runs",) else done.status == 2


@pytest.mark.usefixtures("demo_change", "real_session")
def test_the_last_session_of_this_machine_is_found_behind_newer_simulated_ones(cli: Cli) -> None:
    assert "Session real" in cli("log").err
    assert "Session real" in cli("runs").err
    assert [one["name"] for one in cli("log", "--list", "--json").json["sessions"]] == ["real"]
    assert {run["session"] for run in cli("history", "--json").json["runs"]} == {"real"}


@pytest.mark.usefixtures("demo_change", "real_session")
def test_a_simulated_machine_answers_with_its_own_sessions_only(cli: Cli) -> None:
    listed = cli(*FAST, "log", "--list", "--json").json["sessions"]
    assert [(one["simulated"], one["in_force"]) for one in listed] == [(True, 1)]
    assert cli("--demo", "hpe", "log", "--list", "--json").json["sessions"] == []
    assert cli("--demo", "linux", "undo", "--dry-run").err.count("Nothing to undo") == 1


def test_no_session_says_where_simulated_ones_are(cli: Cli, demo_change: None) -> None:
    assert "Sessions of simulated hosts are separate" in cli("log").err


def test_a_named_simulated_session_is_still_read_with_its_mark(cli: Cli, simulated_session: Path) -> None:
    assert "SIMULATED" in cli("report", str(simulated_session)).out
    assert "SIMULATED" in cli("report", "old").out


def test_a_name_of_the_other_kind_says_how_to_reach_it(cli: Cli, demo_change: None, real_session: Path) -> None:
    (folder,) = Paths.of("lsi").sessions.iterdir()
    assert "Start with --demo." in cli("log", folder.name).err
    assert "Start without --demo" in cli("--demo", "hpe", "log", "real").err
    for command in ("runs", "undo"):
        assert "Start with --demo." in cli("--session", folder.name, command).err
        assert "Start without --demo" in cli("--demo", "hpe", "--session", "real", command).err


@pytest.mark.parametrize(
    "words", [("undo", "--yes"), ("undo", "--dry-run"), ("undo", "--list"), ("keep",), ("recover", "--restore")]
)
def test_a_simulated_session_is_not_acted_on_as_one_of_this_machine(
    cli: Cli, demo_change: None, words: tuple[str, ...]
) -> None:
    (folder,) = Paths.of("lsi").sessions.iterdir()
    before = (folder / LOG).read_bytes()
    done = cli("--session", str(folder), *words)
    assert (done.status, "Start with --demo." in done.err) == (3, True)
    assert (folder / LOG).read_bytes() == before


def test_a_session_of_this_machine_is_not_gone_on_with_by_a_simulation(cli: Cli, real_session: Path) -> None:
    before = (real_session / LOG).read_bytes()
    done = cli(*FAST, "--session", str(real_session), "set", "/c0/v0", "read_ahead=none", "--yes")
    assert (done.status, (real_session / LOG).read_bytes()) == (3, before)


def test_a_session_of_one_rack_is_not_acted_on_by_another(cli: Cli, demo_change: None) -> None:
    (folder,) = Paths.of("lsi").sessions.iterdir()
    done = cli("--demo", "hpe", "--session", str(folder), "undo", "--list")
    assert (done.status, "Start with --demo." in done.err) == (3, True)


async def test_what_records_refuses_a_session_of_another_machine(simulated_session: Path, tmp_path: Path) -> None:
    """Whoever opens it: the command line has asked before."""
    before = (simulated_session / LOG).read_bytes()
    with pytest.raises(StorageError, match="belongs to the simulated or recorded machine"):
        await Workbench(FakeHost({}), paths=Paths.at(tmp_path / "other")).open(simulated_session)
    assert (simulated_session / LOG).read_bytes() == before


def test_a_user_simulates_below_the_own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAIDBENCH_STATE_DIR")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    real, rack, other = (Paths.of(apart) for apart in ("", "lsi", "hpe"))
    assert len({place for paths in (real, rack, other) for place in (paths.sessions, paths.journal, paths.locks)}) == 9
    assert all((tmp_path / "raidbench" / "simulated") in paths.locks.parents for paths in (rack, other))


def test_recordings_of_two_machines_are_separate(cli: Cli, machine: str, tmp_path: Path) -> None:
    other = str(shutil.copytree(machine, tmp_path / "other"))
    assert cli("--machine", machine, "set", "sda", "nomerges=2", "--yes").status == 0
    assert "c1" in cli("--machine", machine, "undo", "--list").out
    assert "Nothing to undo" in cli("--machine", other, "undo", "--list").err


def test_nothing_of_a_simulation_is_among_the_state_of_this_machine(cli: Cli, demo_change: None, state: Path) -> None:
    cli(*FAST, "watch")
    cli(*FAST, "devices")
    assert {path.name for path in state.iterdir()} == {"simulated"}


def test_a_command_that_is_named_means_the_same_machine(cli: Cli) -> None:
    assert "`raidbench --demo hpe set`" in cli("--demo", "hpe", "log").err


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: two users are switched to")
@pytest.mark.parametrize("home", ["own", "unset", "another user's"])
def test_root_simulates_outside_its_own_folders(tmp_path: Path, home: str) -> None:
    """Whatever HOME says, /var/lib/raidbench and /run/raidbench are for real machines."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    if home == "another user's":
        os.chown(folder, 4321, 4321)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("RAIDBENCH_STATE_DIR", "XDG_STATE_HOME", "HOME"):
            patch.delenv(name, raising=False)
        if home != "unset":
            patch.setenv("HOME", str(folder))
        paths = Paths.of("lsi")
    for place in (paths.sessions, paths.journal, paths.locks, paths.devices):
        assert not {Path("/var/lib/raidbench"), Path("/run/raidbench")} & set(place.parents)
        assert (folder in place.parents) is (home == "own")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: two users are switched to")
def test_two_users_who_became_root_have_a_simulation_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAIDBENCH_STATE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    places = set()
    for uid in ("4321", "4322", "0", "junk"):
        monkeypatch.setenv("SUDO_UID", uid)
        places.add(Paths.of("lsi").state)
    assert len(places) == 3


def test_where_nothing_can_be_written_a_sentence_says_so(tmp_path: Path) -> None:
    """A file in the place of the state folder is refused to root, too."""
    (tmp_path / "file").touch()
    where = {"RAIDBENCH_STATE_DIR": "", "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "file" / "state")}
    done = program(*FAST, "set", "/c0/v0", "read_ahead=none", "--yes", env=where)
    assert (done.status == 0, "Traceback" in done.err, "Internal error" in done.err) == (False, False, False)
    assert "The state folder " in done.err
    assert "cannot be read: Not a directory." in done.err
