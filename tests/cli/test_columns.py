"""Every command on a terminal of 80 and of 100 columns: no line is wider, and no word is broken."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import Outcome, run_here

WIDTHS = (80, 100)
SPEED = "--demo-speed=1000"

PREPARED = {
    "lsi": (
        "bench md:md0 --runtime 5 --ramp 0 --repeat 3",
        "baseline save before-update",
        "bench md:md0 /c1/v0 --runtime 5 --ramp 0",
        "set /c0/v1 write_cache=write-back --yes",
        "set md:md0 read_ahead_kb=4096 --yes",
        "bench /c0/v1 --runtime 5 --ramp 0",
        "ab md:md0 read_ahead_kb=512 --pairs 3 --runtime 2 --ramp 0 --yes",
    ),
    "arrays": (),
    "linux": (),
    "hpe": (),
}
"""What the commands presuppose, by simulated host."""

COMMANDS = {
    "lsi": (
        "devices",
        "show /c0/v1",
        "show /c0",
        "show md:md0",
        "show nvme0n1",
        "set /c0/v1 read_ahead=adaptive write_cache=always-write-back --dry-run",
        "set /c2/v0 strip_size=64k --dry-run",
        "check",
        "check /c2/v0",
        "runs",
        "runs --all",
        "compare r1 r2",
        "compare e1",
        "log",
        "log --list",
        "log --show all",
        "profiles",
        "doctor",
        "undo --list",
        "undo --all --dry-run",
        "recover",
        "keep",
        "persist md:md0 --dry-run",
        "history",
        "baseline list",
        "sweep --list",
        "sweep articles-a --seed 1 --dry-run",
        "ab /c0/v1 read_ahead=adaptive --dry-run",
        "bench /c0/v1 --dry-run",
        "curve /c0/v1 --dry-run",
        "precondition /c0/v1 --dry-run",
        "array list",
        "keys",
        "glossary",
        "plot e1",
    ),
    "linux": (
        "devices",
        "show vg0/mail",
        "show md:md1",
        "show tank/files",
        "set vg0/mail cache_mode=write-back --dry-run",
        "check",
        "slowest md1 --dry-run",
        "sweep cache-modes --seed 1 --dry-run",
        "doctor",
    ),
    "arrays": (
        "devices",
        "array list",
        "array list --free",
        "array create raid50 sdb sdc sdd sde sdf sdg --name rb-1 --dry-run",
        "sweep levels --seed 1 --dry-run",
        "check",
    ),
    "hpe": ("devices", "show fct0", "show /dev/dm-1", "check", "doctor"),
}
"""Commands that print a table or sentences and change nothing, by simulated host."""

MEASURED = (
    "bench /c0/v1 --runtime 5 --ramp 0 --repeat 3",
    "bench md:md0 --profile mixed-4k --runtime 5 --ramp 0 --confirm md0",
    "ab /c0/v1 read_ahead=adaptive --pairs 3 --runtime 2 --ramp 0 --yes",
    "set /c0/v1 read_ahead=adaptive --yes",
    "undo --yes",
    "baseline check before-update",
)
"""Commands that measure or change something, so that their numbers differ from time to time."""

EXACT = re.compile(
    r"(?:[\d:]{8}  (?:write|command) +|\s*)/\S+( \S+)*|\s*`raidbench [^`]+`\S*"
    r"|\s*(?:echo|mdadm|lv\w+|nvme|zfs|ACTION|# Settings) ?.*"
)
"""A command to copy, a path, or a line of a file: on a line of its own, it may be wider than the terminal."""

CODES = re.compile(r"\x1b\[[\d;]*[A-Za-z]")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a state folder with runs, changes, an experiment and a baseline."""
    with prepared_in(tmp_path_factory.mktemp("columns"), PREPARED) as folder:
        yield folder


@contextmanager
def prepared_in(folder: Path, commands_by_host: Mapping[str, Sequence[str]]) -> Iterator[Path]:
    """Yield the state folder, in which these commands have run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAIDBENCH_STATE_DIR", str(folder))
        patch.chdir(folder)
        for host, commands in commands_by_host.items():
            for line in commands:
                done = run_here(f"--demo={host}", SPEED, *shlex.split(line))
                assert done.status == 0, (line, done.err)
        yield folder


def shown(monkeypatch: pytest.MonkeyPatch, folder: Path, host: str, line: str, width: int | None) -> list[str]:
    """Return the lines that a command prints on a terminal of so many columns; None for a pipe."""
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(folder))
    monkeypatch.setenv("COLUMNS", str(width or 80))
    monkeypatch.setattr("app.cli.output._width_of", lambda _stream: width)
    done: Outcome = run_here(f"--demo={host}", SPEED, *shlex.split(line))
    assert "Traceback" not in done.err
    rows = (*done.out.splitlines(), *done.err.splitlines())
    return [CODES.sub("", row.rpartition("\r")[2]) for row in rows]


def wider(rows: list[str], width: int) -> list[str]:
    return [row for row in rows if len(row) > width and not EXACT.fullmatch(row)]


def words(rows: list[str]) -> set[str]:
    """Return the words, without what differs from time to time: names drawn at random, times, progress of a rebuild."""
    return {word for row in rows for word in row.split() if not re.search(r"\d%?$|\d\d:\d\d|rb-\w{8}|--uuid", word)}


def defects(monkeypatch: pytest.MonkeyPatch, folder: Path, host: str, lines: tuple[str, ...]) -> dict[str, object]:
    """Return the lines that are too wide, and the words that are broken, by command and width."""
    found: dict[str, object] = {}
    for line in lines:
        whole = words(shown(monkeypatch, folder, host, line, None))
        for width in WIDTHS:
            rows = shown(monkeypatch, folder, host, line, width)
            assert rows
            long, broken = wider(rows, width), sorted(words(rows) - whole)
            if long or broken:
                found[f"{line} at {width}"] = (long, broken)
    return found


EVERY_DAY = ("devices", "show /c0/v1", "check", "runs", "undo --list", "sweep articles-a --seed 1 --dry-run")


BRIEFLY_PREPARED = {
    "lsi": (
        "bench md:md0 --runtime 5 --ramp 0",
        "set md:md0 read_ahead_kb=4096 --yes",
        "set /c0/v1 io_policy=cached --yes",
    )
}
"""What the commands of every day presuppose."""


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a state folder with a run and changes."""
    with prepared_in(tmp_path_factory.mktemp("used"), BRIEFLY_PREPARED) as folder:
        yield folder


@pytest.mark.long
def test_what_is_asked_most_fits_and_breaks_no_word(monkeypatch: pytest.MonkeyPatch, used: Path) -> None:
    assert defects(monkeypatch, used, "lsi", EVERY_DAY) == {}


@pytest.mark.long
@pytest.mark.parametrize("host", COMMANDS)
def test_every_command_fits_and_breaks_no_word(monkeypatch: pytest.MonkeyPatch, prepared: Path, host: str) -> None:
    assert defects(monkeypatch, prepared, host, COMMANDS[host]) == {}


@pytest.mark.long
@pytest.mark.parametrize("line", MEASURED)
def test_what_measures_or_changes_fits(monkeypatch: pytest.MonkeyPatch, prepared: Path, line: str) -> None:
    assert wider(shown(monkeypatch, prepared, "lsi", line, 80), 80) == []


@pytest.mark.long
def test_nothing_is_wrapped_in_a_pipe(monkeypatch: pytest.MonkeyPatch, used: Path) -> None:
    piped = shown(monkeypatch, used, "lsi", "check", None)
    assert max(map(len, piped)) > 100
    assert sum(row.startswith("fault ") for row in piped) * 4 <= len(piped)
