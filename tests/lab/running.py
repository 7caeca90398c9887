"""Programs run by the tests, to set up what is tested; never the product's own way to run anything."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from app.cli.main import cli
from backends import registry

ROOT = Path(__file__).resolve().parents[2]


class ProgramError(Exception):
    """A program that had to succeed did not."""


def run(*argv: str, stdin: str = "", status: int | None = 0, seconds: float = 120) -> str:
    """Standard output of a program. Raises ProgramError unless it ends with `status`; None takes any."""
    done = subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=seconds)
    if status is not None and done.returncode != status:
        raise ProgramError(f"{' '.join(argv)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


@dataclass(frozen=True)
class Outcome:
    """What the command line did."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed with --json."""
        return json.loads(self.out)


def ask_only(patch: pytest.MonkeyPatch, *names: str) -> None:
    """Have no other vendors in this process: to ask all of 14 disks takes the emulated processor half a minute."""
    found = registry.find_vendors()
    kept = replace(found, vendors=tuple(vendor for vendor in found.vendors if vendor.name in names))
    assert len(kept.vendors) == len(names)
    patch.setattr(registry, "find_vendors", lambda: kept)


def raidbench(*words: str) -> Outcome:
    """The command line in this process: another one would import all of it anew, a dozen seconds of emulation."""
    done = CliRunner().invoke(cli, list(words), prog_name="raidbench")
    return Outcome(done.exit_code, done.stdout, done.stderr)
