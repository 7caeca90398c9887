"""Of thousands of threads with one table of open files one is looked at, and each that has its own."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.system.local import LocalHost, kcmp
from backends.system.local.kcmp import distinct_file_tables
from backends.topology.open_files import openers
from tests.backends.loops import needs_sight, program

_THREADS = """
import ctypes, os, sys, threading, time
both = threading.Barrier(52)
def same():
    both.wait()
    time.sleep(600)
def own():
    assert ctypes.CDLL(None).unshare(0x400) == 0  # CLONE_FILES
    os.open(sys.argv[1], os.O_RDONLY)
    same()
for work in (*[same] * 50, own):
    threading.Thread(target=work, daemon=True).start()
both.wait()
print("ready", flush=True)
time.sleep(600)
"""


def threads_of(pid: int) -> list[str]:
    return sorted(map(str, Path(f"/proc/{pid}/task").iterdir()))


async def test_threads_that_share_their_files_are_looked_at_once(tmp_path: Path) -> None:
    (tmp_path / "held").touch()
    with program(sys.executable, "-c", _THREADS, str(tmp_path / "held")) as process:
        assert len(distinct_file_tables(threads_of(process.pid))) == 2


@needs_sight()
async def test_what_one_thread_alone_has_open_is_found(tmp_path: Path) -> None:
    (tmp_path / "held").touch()
    held = await LocalHost().stat(str(tmp_path / "held"))
    assert held is not None
    assert held.place is not None
    with program(sys.executable, "-c", _THREADS, str(tmp_path / "held")) as process:
        found, _ = await openers(LocalHost(), (held.place,))
    assert isinstance(found, dict)
    assert [opener.pid for opener in found[held.place]] == [str(process.pid)]


@pytest.mark.parametrize(
    "deaf",
    [lambda patch: patch.setattr(platform, "machine", lambda: "vax"), lambda patch: patch.setattr(kcmp, "_FILES", 99)],
    ids=["a machine without a known number", "a kernel that answers with an error"],
)
def test_where_the_kernel_does_not_tell_every_thread_is_looked_at(
    deaf: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf(monkeypatch)
    own = f"/proc/{os.getpid()}/task/{os.getpid()}"
    assert distinct_file_tables((own, own)) == (own, own)
