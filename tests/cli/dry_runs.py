"""Plans of random values with --dry-run, every system call recorded: nothing is opened for writing, nothing set."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

from tests.backends.loops import loop
from tests.tally import Tally

ROOT = Path(__file__).parents[2]
SETTINGS = {
    "read_ahead_kb": ("64", "256", "1024", "4096"),
    "nr_requests": ("16", "64", "128"),
    "nomerges": ("0", "1", "2"),
    "rq_affinity": ("0", "1", "2"),
    "scheduler": ("none", "mq-deadline"),
    "add_random": ("0", "1"),
    "iostats": ("0", "1"),
    "io_timeout": ("30000", "60000"),
}

DRIVER = """
import sys
from click.testing import CliRunner
from app.cli.main import cli
for line in sys.stdin.read().splitlines():
    done = CliRunner().invoke(cli, line.split(), prog_name="raidbench")
    print(done.exit_code, flush=True)
"""

STRACE = ("strace", "-f", "--seccomp-bpf", "-qq", "-e", "trace=open,openat,openat2,execve")
OPENED = re.compile(r'open(?:at2?)?\([^"]*"(/(?:dev|sys|proc/sys)/[^"]*)", [^)\n]*O_(?:WRONLY|RDWR|CREAT|TRUNC)')
HARMLESS = ("/dev/null", "/dev/tty", "/dev/ptmx", "/dev/shm/")
READERS = ("lsblk", "blkid", "lspci", "nvme", "mdadm", "hdparm", "sdparm", "smartctl", "wipefs", "lsscsi", "udevadm")
ASKED = ('"--version"', '"--enghelp"', '"--filename=probe"')
"""What fio is asked: what it is, its engines, and whether one works, on a file in an empty folder."""


def _ways(device: str, folder: Path, values: list[str]) -> tuple[tuple[str, ...], ...]:
    """Command lines that plan these values."""
    job = ("--profile", "randwrite-4k", "--runtime", "1")
    on_a_file = ("ab", device, values[0], "--on", str(folder), "--size", "8M", *job)
    return (
        ("set", device, *values),
        ("set", device, *values, "--trial", "30"),
        on_a_file,
        ("ab", device, values[0], *job),
    )


def run(folder: Path, tries: int, seed: int) -> Tally:
    """So many plans, all in one program that is followed."""
    chance = random.Random(seed)
    tally = Tally()
    with loop(folder / "disk", size=1 << 20) as disk:
        lines = []
        for _ in range(tries):
            keys = chance.sample(sorted(SETTINGS), chance.randint(1, 3))
            values = [f"{key}={chance.choice(SETTINGS[key])}" for key in keys]
            lines.append(" ".join((*chance.choice(_ways(disk.device, folder, values)), "--dry-run")))
        trace = folder / "trace"
        done = subprocess.run(
            [*STRACE, "-o", str(trace), sys.executable, "-c", DRIVER],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**os.environ, "RAIDBENCH_STATE_DIR": str(folder / "state"), "PYTHONPATH": str(ROOT)},
        )
    statuses = done.stdout.split()
    for line, status in zip(lines, statuses, strict=False):
        tally.expect(status in ("0", "2"), f"{line}: exit {status}")
    tally.expect(len(statuses) == tries, f"{len(statuses)} of {tries} were planned: {done.stderr[-300:]}")
    calls = trace.read_text(errors="replace")
    for path in OPENED.findall(calls):
        if not path.startswith(HARMLESS):
            tally.fail(f"{path} was opened for writing")
    for program, words in re.findall(r'execve\("([^"]+)", \[(.*)', calls):
        name = Path(program).name
        asks = name in READERS or name.startswith("python") or (name == "fio" and any(ask in words for ask in ASKED))
        if not asks:
            tally.fail(f"{program} was run: {words[:200]}")
    return tally
