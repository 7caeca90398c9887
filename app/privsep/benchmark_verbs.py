"""Requests to the root helper that measure a device whose descriptor the user must not get.

The helper starts its own fio to read the device, and passes only fio's output to the user.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from app.core.fio.job import Job, JobTarget, TargetKind
from app.core.fio.preflight import find_fio
from app.core.fio.render import render, section_names
from app.core.fio.sections import JobSection, join_sections
from app.core.session.event_types import SteadyPlan
from app.privsep.device_claims import DeviceClaims
from app.privsep.request_schema import RequestDeniedError
from backends.errors import RefusedError
from backends.exclusive_open import DeviceClaim
from backends.system.local import LocalHost
from backends.system.local.unprivileged import UnprivilegedProcess, find_unused_id, start_unprivileged
from backends.system.root_owned import resolve_root_owned
from backends.text import clean

MAX_RUNS = 4
"""Maximum number of fio processes at a time: one that is measuring, and others that have not ended yet."""

SIGNALS = {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM, "kill": signal.SIGKILL}
"""Signals that the user's process may send to a run, by the name in the request."""

_INPUT = "-"
"""Name of the job file that makes fio read the job from standard input, so that no job file is written."""


class GuardedRuns:
    """The fio runs that the user of one connection to the helper has started.

    Each run is a job with known fields, on devices that the helper has opened.
    """

    def __init__(self, host: LocalHost, claims: DeviceClaims) -> None:
        self._host = host
        self._claims = claims
        self._runs: dict[int, UnprivilegedProcess] = {}
        self._count = 0

    async def measure(
        self,
        holds: list[int],
        job: dict[str, str],
        more: list[dict[str, Any]] | None,
        cap: int | None,
        interval: int,
        fio: str,
    ) -> tuple[Mapping[str, Any], tuple[int, ...]]:
        """Start a job that reads opened devices. Return the numbers of run and process, and fio's two output streams.

        `holds`: numbers of the devices. `job`: fields of the first section, as strings. `more`: the other sections;
        None if there are none. `cap`: maximum seconds to wait for the steady state; None: do not wait. `interval`:
        milliseconds between two reports of fio. `fio`: path of the user's fio, for which the caller planned the run.
        Raises RequestDeniedError for a job that writes, RefusedError if root's fio is another one.
        """
        if len(self._runs) >= MAX_RUNS:
            raise RequestDeniedError("measure: too many programs are reading.")
        wanted = _join_job(job, more or [])
        if wanted.writes:
            raise RequestDeniedError("measure: the helper runs only jobs that read.")
        claims = [self._claims.for_reading(number) for number in dict.fromkeys(holds)]
        program = self._require_same_fio(fio)
        number = find_unused_id()
        with ExitStack() as stack:
            targets = [_target(claim, number, stack) for claim in claims]
            rendering = render(
                wanted,
                targets,
                fio=program,
                jobfile=_INPUT,
                interval_ms=interval,
                steady=None if cap is None else SteadyPlan(until=True, cap_s=cap),
            )
            descriptors = [int(target.path.rpartition("/")[2]) for target in targets]
            run, ends = await start_unprivileged(rendering.argv, rendering.text.encode(), descriptors, number)
        self._count += 1
        self._runs[self._count] = run
        return {"run": self._count, "pid": run.pid}, ends

    def _require_same_fio(self, fio: str) -> str:
        """Return the path of root's fio. It must be the user's fio (`fio`), because a run records only one fio version.

        Raises RefusedError if they differ, or if not only root can replace the user's fio.
        """
        root_fio = find_fio(self._host)
        if os.path.realpath(root_fio) != resolve_root_owned(fio):  # None if another user can replace the file
            raise RefusedError(
                f"The root helper reads this device with {root_fio}, but your fio is {clean(fio, 200)}.",
                hint=f"Put {os.path.dirname(root_fio)} first in PATH.",
            )
        return root_fio

    def signal(self, run: int, how: str) -> Mapping[str, Any]:
        """Send a signal to a run."""
        self._run(run).signal(SIGNALS[how])
        return {}

    async def ended(self, run: int) -> Mapping[str, Any]:
        """Wait until a run has ended, and return its exit status. Its number is then no longer valid."""
        program = self._run(run)
        status = await program.wait()
        self._runs.pop(run, None)
        await program.close()
        return {"returncode": status}

    def _run(self, number: int) -> UnprivilegedProcess:
        if number not in self._runs:
            raise RequestDeniedError("There is no such run.")
        return self._runs[number]

    async def close(self) -> None:
        """End all runs."""
        while self._runs:
            await self._runs.popitem()[1].close()


def _join_job(first: Mapping[str, str], more: Sequence[Mapping[str, Any]]) -> Job:
    """Return the job whose sections are `first` and those in `more`. `first`: fields of a section."""
    names = section_names(1 + len(more))
    further = [
        JobSection(name=name, job=Job.from_fields(record["job"]), waits=record["waits"])
        for name, record in zip(names[1:], more, strict=True)
    ]
    return join_sections([JobSection(name=names[0], job=Job.from_fields(first)), *further])


def _target(claim: DeviceClaim, number: int, stack: ExitStack) -> JobTarget:
    """Return a device as a target for fio, which inherits a read-only descriptor of it. `stack` closes our copy."""
    descriptor = claim.pass_descriptor(number)
    stack.callback(os.close, descriptor)
    return JobTarget(
        path=f"/proc/self/fd/{descriptor}",
        name=claim.device,
        kind=TargetKind.BLOCK,
        size=os.lseek(descriptor, 0, os.SEEK_END),
    )
