"""What `fit` writes, as the kernel is asked to: as the program that it stands for, and only into files of its own.

strace shows it. Where it is missing, or may not trace, the tests are skipped.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from app.core.session.paths import ROOTS_LOCKS
from tests.apart import ALONE
from tests.cli.conftest import ROOT
from tests.packages import needs
from tests.seeing import started

SIZE = 16 << 20
"""Bytes of the scratch file of a brief fit."""

_CALLS = "openat,fallocate,pwrite64,pwritev,pwritev2,write,writev,fdatasync,fsync,sync_file_range,unlinkat"
_CALL = re.compile(r"(\d+) +(\w+)\((?:\d+<([^>]*)>)?(.*)")


@dataclass(frozen=True)
class Call:
    """A system call that writes, flushes, or changes a file."""

    pid: int
    name: str
    path: str
    rest: str

    @property
    def numbers(self) -> list[int]:
        return [int(number) for number in re.findall(r", (\d+)", self.rest)]


def _why_not() -> str:
    try:
        traced = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True)
    except FileNotFoundError:
        return "strace cannot be found"
    return "" if traced.returncode == 0 else f"strace may not trace: {traced.stderr.decode()[:100]}"


def traced(folder: Path, *words: str) -> list[Call]:
    """The calls of a brief fit in the folder `data`, and of all that it starts."""
    for name in ("data", "tmp"):
        (folder / name).mkdir()
    own = {"RAIDBENCH_STATE_DIR": str(folder / "state"), "TMPDIR": str(folder / "tmp"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        (
            *("strace", "-f", "-y", "-s", "0", "-o", str(folder / "trace"), "-e", f"trace={_CALLS}"),
            *(*ALONE, sys.executable, *started("tests.features.fit.brief"), "fit", *words[:1]),
            *(str(folder / "data"), *words[1:]),
        ),
        env={**os.environ, **own},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,
    )
    assert done.returncode in (0, 4, 5), done.stderr.decode()
    found = map(_CALL.match, (folder / "trace").read_text().splitlines())
    return [Call(int(call[1]), call[2], call[3] or "", call[4]) for call in found if call is not None]


def flushed_runs(calls: Sequence[Call], size: int) -> list[list[int]]:
    """The offsets of each process that writes and flushes in turn, with every write of this size."""
    runs: dict[int, list[Call]] = {}
    for call in calls:
        if call.name in ("pwrite64", "fdatasync", "fsync") and call.path.endswith("/raidbench-scratch.dat"):
            runs.setdefault(call.pid, []).append(call)
    found = []
    for of_process in runs.values():
        if any(call.name == "fdatasync" for call in of_process):
            for write, flush in zip(of_process[::2], of_process[1::2], strict=False):
                assert (write.name, write.numbers[0], flush.name) == ("pwrite64", size, "fdatasync")
            found.append([call.numbers[1] for call in of_process[::2]])
    return found


pytestmark = [
    *(pytest.mark.fio, pytest.mark.long, needs("fio")),
    pytest.mark.skipif(bool(reason := _why_not()), reason=reason or "strace traces"),
]


@pytest.fixture(scope="module")
def of_etcd(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Call]]:
    folder = tmp_path_factory.mktemp("etcd")
    return folder, traced(folder, "etcd")


def test_etcd_writes_into_a_new_preallocated_file_and_flushes_after_each_write(
    of_etcd: tuple[Path, list[Call]],
) -> None:
    folder, calls = of_etcd
    runs = flushed_runs(calls, 2300)
    assert len(runs) == 3
    for offsets in runs:
        before_end = offsets[: SIZE // 2300]
        assert before_end == [2300 * number for number in range(len(before_end))]
    scratch = str(folder / "data" / "raidbench-scratch.dat")
    assert [call.numbers for call in calls if call.name == "fallocate" and call.path == scratch] == [[0, 0, SIZE]] * 3
    # Nothing but the runs writes to the file, so that each write of a run goes to blocks that were never written.
    writes = [call for call in calls if "write" in call.name and call.path == scratch]
    assert len(writes) == sum(map(len, runs))
    assert sum(call.name == "unlinkat" and "raidbench-scratch.dat" in call.rest for call in calls) == 3
    assert not list((folder / "data").iterdir())


def test_postgres_overwrites_one_file_that_was_written_in_full(tmp_path: Path) -> None:
    calls = traced(tmp_path, "postgres", "--commits", "1")
    scratch = str(tmp_path / "data" / "raidbench-scratch.dat")
    runs = flushed_runs(calls, 8192)
    assert len(runs) == 3
    for offsets in runs:
        assert all(later == (earlier + 8192) % SIZE for earlier, later in pairwise(offsets))
    first = next(number for number, call in enumerate(calls) if call.name == "fdatasync" and call.path == scratch)
    laid_out = [call.numbers for call in calls[: first - 1] if call.name == "pwrite64" and call.path == scratch]
    laid_out += [[call.numbers[0], 0] for call in calls[: first - 1] if call.name == "write" and call.path == scratch]
    assert sum(size for size, _ in laid_out) >= SIZE
    assert sum(call.name == "unlinkat" and "raidbench-scratch.dat" in call.rest for call in calls) == 1
    assert not list((tmp_path / "data").iterdir())


def test_every_write_is_in_the_scratch_file_or_in_the_files_of_raidbench(of_etcd: tuple[Path, list[Call]]) -> None:
    folder, calls = of_etcd
    scratch = str(folder / "data" / "raidbench-scratch.dat")
    own = (f"{folder}/state/", f"{folder}/tmp/", f"{ROOTS_LOCKS}/")
    written = {call.path for call in calls if "write" in call.name or call.name == "fallocate"}
    assert scratch in written
    assert {path for path in written - {scratch, "/dev/null"} if path[:1] == "/" and not path.startswith(own)} == set()
    for call in calls:
        if call.name == "openat" and re.search(r"O_WRONLY|O_RDWR", call.rest) and '"/dev/' in call.rest:
            assert '"/dev/null"' in call.rest, call
