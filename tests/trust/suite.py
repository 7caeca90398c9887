"""Tests of the suite as tries of a row: one that is skipped was not tried."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.tally import Tally

ROOT = Path(__file__).resolve().parents[2]


class Counter:
    """A plug-in that counts what pytest reports."""

    def __init__(self) -> None:
        self.tally = Tally()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.tally.leave(f"{report.nodeid}: {why.removeprefix('Skipped: ')}")
            return
        self.tally.tried += report.when == "call" or (report.when == "setup" and report.failed)
        if report.failed:
            self.tally.fail(f"{report.nodeid}: {report.longreprtext.strip().splitlines()[-1:]}")


def run_tests(folder: Path, names: Sequence[str]) -> Tally:
    """Run them here and now; their temporary files lie below the folder."""
    counter = Counter()
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--basetemp={folder / 'pytest'}", *names]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = pytest.main(words, plugins=[counter])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        counter.tally.expect(False, f"pytest ended with {status!r}: {said.getvalue()[-300:]}")
    return counter.tally


def find_tests(names: Sequence[str]) -> Tally:
    """Whether they are there: the short cut leaves running them to the suite they are part of. That is no try."""
    tally = Tally()
    for name in names:
        file, *inside = name.split("::")
        wanted = f"def {inside[-1].partition('[')[0]}(" if inside else "def test_"
        if wanted not in (ROOT / file).read_text(encoding="utf-8"):
            tally.fail(f"{name} is not there")
    return tally
