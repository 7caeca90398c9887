"""Read the files of `tests.ci.recorder`: the failed tests of a step, and failures that are no test."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

ENDS = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
"""Exit statuses of a session that ran all of its tests."""


@dataclass(frozen=True)
class Failure:
    """A failed test."""

    test: str
    """Its node id, `tests/test_x.py::test_y[z]`."""
    message: str
    """The first lines of its exception."""
    safety: bool = False
    """Whether it has the marker `safety`."""


@dataclass(frozen=True)
class Outcomes:
    """The result of all sessions of a step."""

    failures: tuple[Failure, ...] = ()
    """In the order in which they failed. Each test is here once, with its first failure."""
    broken: tuple[str, ...] = ()
    """One sentence for each failure that is no failed test. No repetition can explain these."""
    passed: int = 0
    """The number of tests that passed. A skipped test is none."""


def read_outcomes(folder: Path) -> Outcomes:
    """Return the outcomes of the sessions in this folder. A session without an end is broken, and so is no session."""
    files = sorted(folder.glob("*.jsonl"))
    failures: dict[str, Failure] = {}
    broken = [] if files else ["no test ran"]
    passed = 0
    for file in files:
        ended = None
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                values = json.loads(line)
                if "failed" in values:
                    failure = Failure(values["failed"], values["message"], values["safety"])
                    failures.setdefault(failure.test, failure)
                elif "broken" in values:
                    broken.append(values["broken"])
                else:
                    ended = int(values["ended"])
                    passed += int(values["passed"])
            except (ValueError, KeyError, TypeError):
                broken.append("the record of a session is damaged")
        if ended is None:
            broken.append("pytest did not reach its end")
        elif ended not in ENDS:
            broken.append(f"pytest ended with status {ended}")
    return Outcomes(tuple(failures.values()), tuple(dict.fromkeys(broken)), passed)
