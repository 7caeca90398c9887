"""Rows side by side, each in a process of its own: what one leaves behind or breaks is not the next one's."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path

import pytest

from tests.seeing import begin
from tests.tally import Tally
from tests.trust.row import Result, Row
from tests.trust.suite import find_tests, run_tests

ROOT = Path(__file__).resolve().parents[2]
SIDE_BY_SIDE = 2
LIMIT = 60 * 60.0
"""Seconds after which a row is ended and has failed: alone none takes ten minutes, beside others many times that."""
SEED = 20_26


@dataclass(frozen=True, slots=True)
class _Running:
    row: Row
    process: ForkProcess
    answer: Connection
    began: float


def run_all(rows: Sequence[Row], *, quick: bool) -> Iterator[Result]:
    """Every row's result, in the order in which they end; the longest begin first."""
    waiting = sorted(rows, key=lambda row: -row.minutes)
    running: list[_Running] = []
    try:
        while waiting or running:
            while waiting and len(running) < SIDE_BY_SIDE:
                running.append(_started(waiting.pop(0), quick))
            wait([each.answer for each in running], timeout=1.0)
            for each in [each for each in running if _over(each)]:
                running.remove(each)
                yield _result(each, quick)
    finally:
        for each in running:
            _end(each)


def _started(row: Row, quick: bool) -> _Running:
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_work, args=(row, quick, there), daemon=False)
    process.start()
    there.close()
    return _Running(row, process, here, time.monotonic())


def _over(each: _Running) -> bool:
    return each.answer.poll() or not each.process.is_alive() or time.monotonic() - each.began > LIMIT


def _result(each: _Running, quick: bool) -> Result:
    tally = Tally()
    try:
        if each.answer.poll():
            tally = each.answer.recv()
        else:
            tally.expect(False, "it was not done in time")
    except EOFError:
        tally.expect(False, f"its process ended by itself, status {each.process.exitcode}")
    seconds = time.monotonic() - each.began
    _end(each)
    return Result(row=each.row, tally=tally, seconds=seconds, quick=quick)


def _end(each: _Running) -> None:
    """The row's process and what it left in its own process group."""
    each.process.join(5.0)  # it clears away what it made
    assert each.process.pid is not None
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(each.process.pid, signal.SIGKILL)
    each.process.join()
    each.answer.close()


def _work(row: Row, quick: bool, answer: Connection) -> None:
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.chdir(ROOT)
    begin(tempfile.gettempdir())
    with tempfile.TemporaryDirectory(prefix=f"raidbench-trust-{row.number}-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        os.environ["RAIDBENCH_STATE_DIR"] = str(folder / "state")
        try:
            tally = _tried(row, folder, quick)
        except BaseException:
            tally = Tally()
            tally.expect(False, traceback.format_exc()[-400:])
        answer.send(tally)
        answer.close()


def _tried(row: Row, folder: Path, quick: bool) -> Tally:
    tally = Tally()
    if not row.there:
        tally.leave("nothing tries it yet")
        return tally
    if row.check and (row.quick or not quick):
        tally.add(_checked(row, folder / "check", row.quick if quick else row.count))
    elif row.check:
        tally.leave("it takes minutes and has no short form")
    if row.tests and quick:
        tally.add(find_tests(row.tests))
        tally.leave("its tests are a part of `make test` and `make test-exhaustive`")
    elif row.tests:
        tally.add(run_tests(folder, row.tests))
    return tally


def _checked(row: Row, folder: Path, tries: int) -> Tally:
    module, _, name = row.check.partition(":")
    folder.mkdir()
    check: Callable[[Path, int, int], Tally] = getattr(importlib.import_module(module), name)
    try:
        return check(folder, tries, SEED)
    except pytest.skip.Exception as why:  # it needs what this machine or user does not have
        tally = Tally()
        tally.leave(str(why))
        return tally
