"""`--read-only`: whatever is asked for, nothing outside of raidbench's own folder is written or removed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click
import pytest

from app.cli.main import cli as group
from app.core.benchmark import scratch_xattr
from app.core.session.paths import Paths
from backends.processes import pid_namespace
from backends.system.recorded import apart_of
from tests.cli.conftest import Cli
from tests.core import sessions

JOB = ("--runtime", "1", "--ramp", "0", "--size", "1M")

WORDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "ab": (("ab", "sda", "read_ahead_kb=64", "--on", "FOLDER", *JOB),),
    "apply": (("apply", "FOLDER/wanted.toml", "--yes"), ("apply", "FOLDER/wanted.toml", "--check")),
    "archive": (),  # writes nothing but the file that is named for it
    "array": (("array", "list"), ("array", "delete", "md0", "--yes"), ("array", "create", "--yes")),
    "baseline": (("baseline", "list"), ("baseline", "check", "b")),
    "bench": (
        ("bench", "FOLDER", "--profile", "randread-4k", *JOB),
        ("bench", "FOLDER", "--profile", "randwrite-4k", *JOB),
        ("bench", "FOLDER", "--rw", "randtrim", *JOB),
        ("bench", "FOLDER/left.dat", "--profile", "randread-4k", "--runtime", "1", "--ramp", "0", "--size", "8k"),
    ),
    "capture": (),  # the same
    "check": (("check",),),
    "compare": (("compare",),),
    "curve": (("curve", "FOLDER", *JOB),),
    "devices": (("devices",),),
    "doctor": (("doctor",),),
    "export": (("export",),),
    "history": (("history",),),
    "hosts": (("hosts", "facts", "--json"), ("hosts", "prepare", "--hosts", "localhost", "--yes")),
    "keep": (("keep",),),
    "log": (("log",), ("log", "--list")),
    "metrics": (("metrics",),),
    "note": (("note", "x"),),
    "persist": (("persist", "sda", "read_ahead_kb=64", "--yes"), ("persist", "sda", "--remove", "--yes")),
    "plot": (("plot",),),
    "precondition": (("precondition", "FOLDER", "--yes"),),
    "recover": (
        ("recover", "--list"),
        ("recover", "--dry-run"),
        ("recover", "--restore"),
        ("recover", "--keep"),
        ("recover", "--trials"),
        ("recover",),
        ("recover", "--install-unit", "--yes"),
        ("recover", "--remove-unit", "--yes"),
    ),
    "report": (("report",),),
    "set": (("set", "sda", "read_ahead_kb=64", "--yes"), ("set", "sda", "read_ahead_kb=64", "--trial", "10", "--yes")),
    "show": (("show", "sda"),),
    "slowest": (("slowest", "sda"),),
    "fit": (("fit", "etcd", "FOLDER"), ("fit", "prometheus", "FOLDER")),
    "observe": (("observe", "sda"),),
    "sweep": (("sweep", "FOLDER/plan.toml", "--yes"), ("sweep", "--resume", "--yes")),
    "undo": (("undo", "--yes"), ("undo", "--all", "--yes")),
    "watch": (("watch",),),
}
"""How each command is called; a command that only prints is called by its name."""

PRINTS = {"attach", "completion", "glossary", "help", "keys", "plans", "profiles", "runs", "version"}
"""What has nothing to change."""


@pytest.fixture
def folder(tmp_path: Path, state: Path, machine: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what commands would remove or write: a scratch file and a working folder that a crash left."""
    place = tmp_path / "outside"
    place.mkdir()
    left = place / "left.dat"
    left.write_bytes(b"x" * 8192)
    with left.open("rb") as held:
        scratch_xattr.mark_left(held.fileno(), left)
    own = Paths.below(state, apart_of(Path(machine))).sessions
    sessions.written(own / "gone", sessions.started(), *sessions.run(scratch=str(left), ended=False))
    (place / f"raidbench-{pid_namespace()}-4999999999-1-abc").mkdir(mode=0o700)
    (place / "wanted.toml").write_text('format = 1\n[[target]]\nselect.device = "/dev/sda"\nset.read_ahead_kb = "64"\n')
    (place / "plan.toml").write_text('title = "x"\n')
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.chdir(place)
    return place


def listing(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything below a folder: kind, size, content, time and attributes."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (info.st_mode, info.st_ino, info.st_mtime_ns, content, tuple(os.listxattr(path)))
    return found


def test_every_command_is_walked() -> None:
    assert isinstance(group, click.Group)
    names = set(group.list_commands(click.Context(group)))
    assert names - set(WORDS) - PRINTS == set()


@pytest.mark.parametrize(
    "words", [words for each in WORDS.values() for words in each], ids=lambda words: " ".join(words)[:60]
)
def test_nothing_outside_is_written_or_removed(cli: Cli, machine: str, folder: Path, words: tuple[str, ...]) -> None:
    before = listing(folder)
    done = cli("--read-only", "--machine", machine, *(word.replace("FOLDER", str(folder)) for word in words))
    assert "Internal error" not in done.err
    # empty working folders of a raidbench that was killed go before the first program starts: they are raidbench's own
    assert listing(folder).items() ^ before.items() <= {each for each in before.items() if "-4999999999-" in each[0]}


@pytest.mark.parametrize("words", [("--restore",), ("--keep",), ("--trials",), ()], ids=" ".join)
def test_recover_is_refused_and_names_the_mode(cli: Cli, machine: str, folder: Path, words: tuple[str, ...]) -> None:
    done = cli("--read-only", "--machine", machine, "recover", *words)
    assert (done.status, "Read-only mode" in done.err) == (3, True)


@pytest.mark.long
def test_a_kept_scratch_file_may_be_read_and_stays(cli: Cli, folder: Path) -> None:
    job = ("--profile", "randread-4k", "--size", "8k", "--runtime", "1", "--ramp", "0")
    done = cli("--read-only", "bench", str(folder / "left.dat"), *job)
    assert (done.status, (folder / "left.dat").read_bytes()) == (0, b"x" * 8192), done.err


def test_a_trial_is_not_confirmed_in_read_only_mode(cli: Cli, machine: str) -> None:
    done = cli("--read-only", "--machine", machine, "keep")
    assert (done.status, "Read-only mode" in done.err) == (3, True)
