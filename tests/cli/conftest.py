"""The command line on a state folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from app.cli.main import cli as group
from app.core.session.paths import Paths
from tests.cli.machine import machine as recorded
from tests.seeing import started

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder sessions, journal, locks and configuration lie in."""
    folder = tmp_path / "state"
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(folder))
    monkeypatch.delenv("NO_COLOR", raising=False)
    return folder


@pytest.fixture
def demo_state(state: Path) -> Path:
    """The state folder of the simulated machine of `--demo`."""
    return Paths.below(state, "lsi").state


@pytest.fixture
def cli() -> Cli:
    """The command line in this process; there is nobody to ask."""
    return run_here


@pytest.fixture
def machine(tmp_path: Path) -> str:
    """A recorded machine with the disk sda."""
    return str(recorded(tmp_path / "machine"))


def run_here(*words: str) -> Outcome:
    """The command line in this process, on the state folder of the moment."""
    result = CliRunner().invoke(group, list(words), prog_name="raidbench")
    return Outcome(result.exit_code, result.stdout, result.stderr)


def argv(*words: str) -> list[str]:
    """The command line as a program."""
    return [sys.executable, *started("app.__main__"), *words]


def program(*words: str, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Outcome:
    """The command line in a process of its own, without a terminal."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
    done = subprocess.run(
        argv(*words), cwd=cwd or ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=120
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
