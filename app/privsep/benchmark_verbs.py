"""The verbs that measure what no descriptor is handed over of: the helper's own fio reads it, for figures alone."""

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
from backends.system.local.programs import resolve_root_owned
from backends.system.local.unprivileged import UnprivilegedProcess, find_unused_id, start_unprivileged
from backends.text import clean

MOST_RUNS = 4
"""Programs that read at a time: one run, and those that are ending."""

SIGNALS = {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM, "kill": signal.SIGKILL}
"""How a run may be ended."""

_INPUT = "-"
"""What fio calls its standard input: the job has no place in the file system."""


class GuardedRuns:
    """Runs of one conversation. Each is a job of the fields that raidbench knows, on devices that it holds."""

    def __init__(self, host: LocalHost, holding: DeviceClaims) -> None:
        self._host = host
        self._holding = holding
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
        """Start a job that reads what is held; its output and error output are handed over.

        `job`: its fields as text, of several sections those of the first; `more`: the other sections. `cap`: seconds
        that it may wait for the steady state, none for no wait. `interval`: milliseconds between two documents.
        `fio`: the program by which the caller knows what it can do.
        """
        if len(self._runs) >= MOST_RUNS:
            raise RequestDeniedError("measure: too many programs are reading.")
        wanted = _joined(job, more or [])
        if wanted.writes:
            raise RequestDeniedError("measure: only what reads is measured by the helper.")
        held = [self._holding.for_reading(number) for number in dict.fromkeys(holds)]
        program = self._same_fio(fio)
        number = find_unused_id()
        with ExitStack() as stack:
            targets = [_target(claim, number, stack) for claim in held]
            rendering = render(
                wanted,
                targets,
                fio=program,
                jobfile=_INPUT,
                interval_ms=interval,
                steady=None if cap is None else SteadyPlan(until=True, cap_s=cap),
            )
            handed = [int(target.path.rpartition("/")[2]) for target in targets]
            run, ends = await start_unprivileged(rendering.argv, rendering.text.encode(), handed, number)
        self._count += 1
        self._runs[self._count] = run
        return {"run": self._count, "pid": run.pid}, ends

    def _same_fio(self, fio: str) -> str:
        """Root's own fio, which has to be the one that was asked for: the record of a run names one version."""
        own = find_fio(self._host)
        if os.path.realpath(own) != resolve_root_owned(fio):  # what others can exchange is not root's
            raise RefusedError(
                f"The root helper reads this device with {own}, and your fio is {clean(fio, 200)}.",
                hint=f"Put {os.path.dirname(own)} first in PATH.",
            )
        return own

    def signal(self, run: int, how: str) -> Mapping[str, Any]:
        """Ask a run to end, or end it."""
        self._run(run).signal(SIGNALS[how])
        return {}

    async def ended(self, run: int) -> Mapping[str, Any]:
        """Wait until a run has ended; nothing is left of it then."""
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
        """End all that reads."""
        while self._runs:
            await self._runs.popitem()[1].close()


def _joined(first: Mapping[str, str], more: Sequence[Mapping[str, Any]]) -> Job:
    """The job of all sections."""
    names = section_names(1 + len(more))
    further = [
        JobSection(name=name, job=Job.from_fields(record["job"]), waits=record["waits"])
        for name, record in zip(names[1:], more, strict=True)
    ]
    return join_sections([JobSection(name=names[0], job=Job.from_fields(first)), *further])


def _target(hold: DeviceClaim, number: int, stack: ExitStack) -> JobTarget:
    """A device as the program inherits it: opened for its group, for reading."""
    descriptor = hold.pass_descriptor(number)
    stack.callback(os.close, descriptor)
    return JobTarget(
        path=f"/proc/self/fd/{descriptor}",
        name=hold.device,
        kind=TargetKind.BLOCK,
        size=os.lseek(descriptor, 0, os.SEEK_END),
    )
