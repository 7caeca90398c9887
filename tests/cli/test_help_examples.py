"""Every example of `--help`, and every command in the README and the docs, works on a simulated host."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.cli.test_help import ALL

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).resolve().parents[2]

OTHER_HOSTS = {"array": "arrays", "precondition": "arrays"}
"""Simulated hosts of commands whose examples need another one than `linux`."""

ADDED = {"bench": ("--runtime=1", "--ramp=0"), "curve": ("--dry-run",), "sweep": ("--dry-run",)}
"""Options that make an example shorter."""

PREPARED = (
    "bench md:md0 --runtime 1 --ramp 0",
    "bench md:md0 --runtime 1 --ramp 0",
    "bench md:md0 --runtime 1 --ramp 0",
    "ab md:md0 read_ahead_kb=512 --pairs 3 --runtime 1 --ramp 0 --rest 0 --yes",
    "baseline save before-update",
    "set sda read_ahead_kb=256 --yes",
    "set sda read_ahead_kb=512 --yes",
    "set sda nr_requests=16 --yes --trial 600",
)
"""What the examples presuppose."""

WORKED = (0, 4, 5, 6)
"""Done; undecided or already known; findings; some of the simulated hosts are missing."""

GROUP = "@"
"""Begins a group of hosts, which needs a configuration of ClusterShell that a simulated host does not have."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with runs, an experiment, a baseline, changes and a trial."""
    folder = tmp_path_factory.mktemp("examples")
    for line in PREPARED:
        done = raidbench(folder, *shlex.split(line))
        assert done.returncode == 0, (line, done.stderr)
    create = ("array", "create", "raid1", "sde", "sdf", "--name", "fast")
    refused = raidbench(folder, *create, host="arrays")
    token = refused.stderr.rpartition("--confirm ")[2].split()[0]
    created = raidbench(folder, *create, "--confirm", token, host="arrays")
    assert created.returncode == 0, created.stderr
    return folder


def raidbench(folder: Path, *argv: str, host: str = "linux") -> subprocess.CompletedProcess[str]:
    several = argv[0] == "hosts" or "--hosts" in argv
    speed = () if several else ("--demo-speed=1000",)
    demo = () if "--machine" in argv else (f"--demo={host}", *speed)
    return subprocess.run(
        [sys.executable, "-m", "app", *demo, *argv],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "RAIDBENCH_STATE_DIR": str(folder / "state"), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )


def help_examples() -> list[str]:
    return [example for command in ALL.values() for example in getattr(command, "examples", ())]


CONSOLE_BLOCK = re.compile(r"^(?:<!-- simulated host: (\w+) -->\n)?```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
"""A console block, with the comment above it that names a simulated host for its commands."""


def page_commands(page: Path) -> list[tuple[str, str]]:
    """Return the `$ raidbench` lines of the console blocks of a page, each with the named host or an empty string."""
    return [
        (line.removeprefix("$ "), host)
        for host, block in CONSOLE_BLOCK.findall(page.read_text(encoding="utf-8"))
        for line in block.splitlines()
        if line.startswith("$ raidbench")
    ]


def failures(folder: Path, commands: Iterable[tuple[str, str]]) -> dict[str, tuple[int, str]]:
    """Return the command lines that neither work nor ask for a confirmation on their simulated host."""
    failed = {}
    for line, named in commands:
        argv = shlex.split(line, comments=True)[1:]
        if any(word.startswith(GROUP) for word in argv):
            continue
        host = named or OTHER_HOSTS.get(argv[0], "linux")
        done = raidbench(folder, *argv, *ADDED.get(argv[0], ()), host=host)
        asks = done.returncode == 3 and ("--yes" in done.stderr or "--confirm" in done.stderr)
        if done.returncode not in WORKED and not asks:
            failed[line] = (done.returncode, done.stderr[-300:])
    return failed


def test_every_example_of_the_help_works_or_asks_for_a_confirmation(session: Path) -> None:
    assert failures(session, [(example, "") for example in help_examples()]) == {}


PAGES = tuple(page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if page_commands(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_works_or_asks_for_a_confirmation(session: Path, page: Path) -> None:
    assert failures(session, page_commands(page)) == {}


def test_the_readme_has_commands() -> None:
    assert len(page_commands(ROOT / "README.md")) >= 5
