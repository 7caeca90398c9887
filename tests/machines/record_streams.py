"""Runs the real fio on a scratch file and keeps what it says as streams of a recorded machine.

`python -m tests.machines.record_streams MACHINE SCRATCH DEVICE [PROFILE ...]`: names and paths of this machine are
replaced by those of DEVICE (`/dev/sdb`) of the recorded one.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
import time
from pathlib import Path

from app.core.fio.job import Job, JobTarget, TargetKind
from app.core.fio.preflight import find_fio
from app.core.fio.profiles import profile
from app.core.fio.render import render
from backends.host import Command
from backends.system.local import LocalHost
from backends.system.streams import FOLDER, Recording


async def record(job: Job, scratch: Path, device: str) -> Recording:
    """One run of `job` on `scratch`, told as if it were `device`."""
    host = LocalHost(child_nice=0)
    size = scratch.stat().st_size
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "job.fio"
        here = JobTarget(path=str(scratch), name=str(scratch), kind=TargetKind.FILE, size=size)
        rendering = render(job, [here], fio=find_fio(host), jobfile=str(file))
        file.write_text(rendering.text, encoding="utf-8")
        pieces: list[tuple[float, str]] = []
        start = time.monotonic()
        async with host.stream(Command(argv=rendering.argv, env={"TMPDIR": "."})) as process:
            waiting = ""
            async for chunk in process.chunks():
                *whole, waiting = re.split(r"(?<=\n\}\n)", waiting + chunk.decode())
                pieces += [(round(time.monotonic() - start, 3), text) for text in whole if text]
            code = await process.wait()
            seconds = round(time.monotonic() - start, 3)
    there = render(
        job, [JobTarget(path=device, name=device, kind=TargetKind.BLOCK, size=size)], fio="fio", jobfile="job.fio"
    )
    telling = ("filename=", "rw=", "bs=", "bssplit=", "iodepth=", "numjobs=", "runtime=", "ramp_time=")
    return Recording(
        argv=("*fio", "--output-format=json+", "**"),
        lines=tuple(line for line in there.text.splitlines() if line.startswith(telling)),
        chunks=tuple((at, _renamed(text, scratch, device)) for at, text in pieces),
        seconds=seconds,
        returncode=code,
    )


def _renamed(text: str, scratch: Path, device: str) -> str:
    """The document with the device in place of the scratch file and of the disk beneath."""
    text = text.replace(str(scratch), device)
    return re.sub(r'("disk_util" : \[\s*\{\s*"name" : )"[^"]*"', rf'\1"{device.removeprefix("/dev/")}"', text)


def main() -> None:
    """Record each profile in turn; a second one of a name becomes the second answer."""
    machine, scratch, device, *names = sys.argv[1:]
    folder = Path(machine) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        base = f"{device.removeprefix('/dev/')}-{name}"
        number = 1 + len(list(folder.glob(f"{base}-[0-9]*.json.gz")))
        recording = asyncio.run(record(profile(name).job, Path(scratch), device))
        recording.save(folder / f"{base}-{number}.json.gz")
        print(f"{base}-{number}: {len(recording.chunks)} pieces in {recording.seconds:.0f} s")


if __name__ == "__main__":
    main()
