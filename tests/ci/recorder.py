"""Record the failures of a pytest session in a file, for `.ci/run`."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TextIO

import pytest

VARIABLE = "RAIDBENCH_OUTCOMES"
"""The environment variable that names the folder of a step's sessions."""

PARTS = ("setup", "call", "teardown")


class Recorder:
    """A pytest plugin that writes one line of JSON for each failure, at once.

    A session that is killed leaves a file without its last line, `ended`. That is how a reader knows.
    """

    def __init__(self, path: Path) -> None:
        """Create the file `path`, so that a session without an end is seen even if nothing failed."""
        self._file: TextIO = open(path, "w", encoding="utf-8", buffering=1)  # noqa: SIM115  # open until the session ends
        self._passed = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a failed part of a test. With pytest-xdist this is the report that came from the worker."""
        if report.failed and report.when in PARTS:
            marked = "safety" in report.keywords
            self._add(failed=report.nodeid, message=_message_text(report), safety=marked)
        elif report.failed:  # pytest-xdist reports a dead worker as a failure of a test, in no part of it
            self._add(broken=f"{report.nodeid}: {_message_text(report)}")
        elif report.passed and report.when == "call" and not hasattr(report, "wasxfail"):
            self._passed += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a file whose tests cannot be collected."""
        if report.failed:
            self._add(broken=f"{report.nodeid} cannot be collected: {_message_text(report)}")

    def pytest_internalerror(self, excrepr: object) -> None:
        """Record an error of pytest or of a plugin."""
        lines = str(excrepr).strip().splitlines() or ["no message"]
        self._add(broken=f"pytest has an internal error: {lines[-1]}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Record the end of the session."""
        self._add(ended=int(exitstatus), passed=self._passed)

    def pytest_unconfigure(self) -> None:
        """Close the file."""
        self._file.close()

    def _add(self, **values: object) -> None:
        self._file.write(json.dumps(values) + "\n")


def register(config: pytest.Config) -> None:
    """Record this session if `.ci/run` asks for it. Programs that the tests start do not see the variable."""
    folder = os.environ.pop(VARIABLE, "")
    if folder and not config.option.collectonly:
        config.pluginmanager.register(Recorder(new_file(Path(folder))))


def new_file(folder: Path) -> Path:
    """Return the path for one more session in this folder."""
    return folder / f"{os.getpid()}-{time.monotonic_ns()}.jsonl"


def _message_text(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the message of the exception, or the last line of the report."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else report.longreprtext
    lines = [line for line in text.strip().splitlines() if line.strip()] or ["no message"]
    return "\n".join(lines[:3]) if crash is not None else lines[-1]
