"""`python -m tests.ci FOLDER SECONDS`: the end of `.ci/run`, whose steps left their records in FOLDER.

SECONDS is the time since the start of `.ci/run`.

Repeats failed tests, prints a summary and a table of times. Ends with 0 if the change passes, else with 1.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from tests.ci.decision import decide
from tests.ci.known import FILE, Entry, read_entries
from tests.ci.recorder import VARIABLE
from tests.ci.safety import ROOT
from tests.ci.sessions import Failure, read_outcomes
from tests.ci.steps import CONFIRM, REPEAT, Step, read_steps
from tests.ci.summary import summary_text

SECONDS = 15 * 60
"""The time for all repetitions together. A test that has not passed by then has failed."""


class Repeater:
    """Run failed tests again, one after the other."""

    def __init__(self, folder: Path, seconds: float = SECONDS) -> None:
        """`folder`: for the records of the sessions."""
        self._folder = folder
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._count = 0

    def repeat(self, step: Step, failure: Failure) -> str:
        """Run one test alone, as its step runs it. Return "" if it passed, else the reason why it did not."""
        command = REPEAT.get(step.name)
        if command is None:
            return "not repeated: this step has no way to run one test"
        self._count += 1
        records = self._folder / f"repeat-{self._count}"
        records.mkdir()
        print(f"\n== again: {failure.test} ({step.name})", flush=True)
        status = self._run((*command, failure.test), records)
        if status is None:
            return f"not passed: {self._seconds:.0f} s for all repetitions are over"
        outcomes = read_outcomes(records)
        if outcomes.failures:
            return f"failed again: {outcomes.failures[0].message}"
        if outcomes.broken:
            return f"failed again: {outcomes.broken[0]}"
        if status or outcomes.passed != 1:
            return f"not passed when repeated: exit status {status}, {outcomes.passed} passed"
        return ""

    def confirm(self, step: Step) -> str:
        """Check the step as a whole. Return "" or the reason why it fails."""
        command = CONFIRM.get(step.name)
        if command is None:
            return ""
        print(f"\n== {' '.join(command)}", flush=True)
        status = self._run(command, None)
        return f"{' '.join(command)} ended with status {status}" if status != 0 else ""

    def _run(self, command: Sequence[str], records: Path | None) -> int | None:
        """Run a command to its end. Return its exit status, None if it took too long."""
        environment = dict(os.environ)
        environment.pop(VARIABLE, None)
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as in the Makefile
        if records is not None:
            environment[VARIABLE] = str(records)
        left = self._end - time.monotonic()
        if left <= 0:
            return None
        with subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, start_new_session=True
        ) as process:
            try:
                return process.wait(left)
            except BaseException as error:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                if isinstance(error, subprocess.TimeoutExpired):
                    return None
                raise


def main(words: Sequence[str]) -> int:
    """Return the exit status."""
    folder, before = Path(words[0]), int(words[1])
    begun = time.monotonic()
    today = datetime.now(UTC).date()
    steps = read_steps(folder)
    entries, malformed = _read_list(today)
    repeater = Repeater(folder)
    ran = [(step, read_outcomes(step.folder)) for step in steps]
    verdict = decide(ran, entries, today, repeater.repeat, repeater.confirm)
    seconds = round(time.monotonic() - begun)
    expired = [entry for entry in entries if entry.is_expired(today)]
    print(summary_text(steps, verdict, expired, before=before, repeated=seconds), flush=True)
    if malformed:
        print(f"\nfailed: tests/flaky.toml: {malformed}", flush=True)
    return 0 if verdict.passes and not malformed else 1


def _read_list(today: date) -> tuple[tuple[Entry, ...], str]:
    """Return the known flaky tests and "", or none and what is malformed."""
    try:
        return read_entries(FILE.read_text(encoding="utf-8"), today), ""
    except (OSError, ValueError) as error:
        return (), str(error)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
