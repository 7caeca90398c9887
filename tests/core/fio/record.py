"""Records what this machine's fio prints, into `streams/`: `python -m tests.core.fio.record`, as root, in a minute.

Each case is fio's standard output, standard error and exit status, byte for byte. Everything lies in a folder that is
made for it and removed; no device is touched.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

STREAMS = Path(__file__).parent / "streams"
NOBODY = 65534
_JSON = ("--output-format=json+", "--status-interval=250ms")
_FILE = ("--name=j", "--filename=data", "--size=4M", "--ioengine=psync", "--rate_iops=150", "--time_based")


@dataclass(frozen=True, slots=True)
class Case:
    """One run."""

    words: tuple[str, ...]
    meddle: Callable[[subprocess.Popen[bytes]], None] = lambda process: None
    """What is done to it meanwhile."""
    user: int | None = None


def _interrupt(after: float, number: int = signal.SIGINT) -> Callable[[subprocess.Popen[bytes]], None]:
    def meddle(process: subprocess.Popen[bytes]) -> None:
        time.sleep(after)
        process.send_signal(number)

    return meddle


def _hold_the_worker(process: subprocess.Popen[bytes]) -> None:
    time.sleep(1.1)
    (worker,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(worker), signal.SIGSTOP)
    time.sleep(1.5)
    os.kill(int(worker), signal.SIGCONT)


CASES = {
    "reads": Case((*_JSON, *_FILE, "--rw=randread", "--runtime=1")),
    "mixed": Case((*_JSON, *_FILE, "--rw=randrw", "--runtime=1")),
    "jobs_in_a_group": Case((*_JSON, *_FILE, "--rw=randread", "--runtime=1", "--numjobs=2", "--group_reporting")),
    "jobs_apart": Case((*_JSON, *_FILE, "--rw=randread", "--runtime=1", "--numjobs=2")),
    "ramp": Case((*_JSON, *_FILE, "--rw=randread", "--runtime=1", "--ramp_time=1")),
    "by_amount": Case((*_JSON, "--name=j", "--filename=data", "--size=1M", "--ioengine=psync", "--rw=read")),
    "without_latencies": Case((*_JSON, *_FILE, "--rw=randread", "--runtime=1", "--gtod_reduce=1")),
    "interrupted": Case((*_JSON, *_FILE, "--rw=randread", "--runtime=9"), _interrupt(1.1)),
    "interrupted_in_ramp": Case((*_JSON, *_FILE, "--rw=randread", "--runtime=9", "--ramp_time=9"), _interrupt(1.1)),
    "interrupted_at_once": Case((*_JSON, *_FILE, "--rw=randread", "--runtime=9"), _interrupt(0.0)),
    "killed": Case((*_JSON, *_FILE, "--rw=randread", "--runtime=9"), _interrupt(1.1, signal.SIGKILL)),
    "worker_held": Case((*_JSON, *_FILE, "--rw=randread", "--runtime=4"), _hold_the_worker),
    "permission_denied": Case((*_JSON, "--name=j", "--filename=secret", "--size=1M", "--rw=read"), user=NOBODY),
    "no_space": Case((*_JSON, "--name=j", "--filename=/dev/full", "--size=1M", "--rw=write", "--ioengine=psync")),
    "unaligned": Case((*_JSON, *_FILE, "--rw=randread", "--runtime=1", "--direct=1", "--bs=1000")),
    "no_engine": Case((*_JSON, *_FILE, "--rw=randread", "--ioengine=nothing")),
    "no_jobs": Case(_JSON),
    "no_size": Case((*_JSON, "--name=j", "--filename=new", "--rw=read")),
    "no_such_option": Case((*_JSON, "wrong.fio")),
    "terse": Case(("--minimal", *_FILE, "--rw=randread", "--runtime=1")),
}


def record(name: str, case: Case, folder: Path) -> int:
    """Run it and keep what it said; its exit status."""
    with (STREAMS / f"{name}.stdout").open("wb") as out, (STREAMS / f"{name}.stderr").open("wb") as err:
        process = subprocess.Popen(
            ("fio", *case.words), cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, user=case.user
        )
        case.meddle(process)
        status = process.wait(timeout=60)
    (STREAMS / f"{name}.rc").write_text(f"{status}\n")
    return status


def main() -> None:
    """All cases anew."""
    STREAMS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="record-fio.") as made:
        folder = Path(made)
        folder.chmod(0o755)
        (folder / "data").write_bytes(bytes(4 << 20))
        (folder / "secret").write_bytes(bytes(1 << 20))
        (folder / "secret").chmod(0o600)
        (folder / "wrong.fio").write_text("[j]\nno_such_option=1\n")
        for name, case in CASES.items():
            print(f"{name}: exit status {record(name, case, folder)}")


if __name__ == "__main__":
    main()
