"""The members of an array, or the drives of a card, read one after the other: which is slower than its siblings."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace

from app.engine.fio.job import Job
from app.engine.judge.siblings import FEWEST, FEWEST_ROUNDS, SiblingFigures, against_siblings
from app.engine.measure.measurer import Request
from app.engine.session.figures import RunStatus
from app.engine.workbench import Workbench
from backends.errors import BlockedError, NotFoundError, RefusedError, ToolFailedError
from backends.model import Array, Controller, Drive, Target
from backends.text import clean
from backends.values import dataclass

ROUNDS = 5
"""Times each member is read unless somebody says more."""

SECONDS, GENTLE_SECONDS = 2, 10
"""Of a reading, on an array that rests and on one that is in use."""

GENTLE_IOPS = {"hdd": 5}
"""Reads a second of a member in use, by its media: 5 % of its time at 10 ms each."""

GENTLE_IOPS_FLASH = 100
"""The same of flash: 5 % at half a millisecond each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberPlan:
    """What is read, and how."""

    target: Target
    """The array or the card."""
    drives: tuple[Drive, ...]
    """Its members, each with a node of its own."""
    rounds: int = ROUNDS
    """Times each is read."""
    gently: bool = False
    """Whether the array is in use."""

    @property
    def seconds(self) -> int:
        """Of reading in all."""
        return len(self.drives) * self.rounds * (GENTLE_SECONDS if self.gently else SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRead:
    """One reading of one member."""

    round: int
    """From 1 on."""
    device: str
    """Its node."""
    latency_ns: float
    """Mean latency of a read."""


def plan_reading(bench: Workbench, thing: Array | Controller | Drive, rounds: int = ROUNDS) -> MemberPlan:
    """How the members of an array or a card are read. Raises BlockedError of too few, NotFoundError for a drive."""
    members = members_of(bench, thing)
    if len(members) < FEWEST:
        raise BlockedError(
            f"{thing.target} has {len(members)} drives that can be read by themselves, and it takes {FEWEST} to say"
            " which is unusual.",
            hint="Drives behind a RAID card have no device of their own: its tool tells their error counts.",
        )
    busy = not isinstance(thing, Controller) and bool(thing.uses or thing.above)
    return MemberPlan(target=thing.target, drives=tuple(members), rounds=rounds, gently=busy)


def members_of(bench: Workbench, thing: Array | Controller | Drive) -> list[Drive]:
    """Drives with nodes of their own below an array or a card, each once. Raises NotFoundError for a drive."""
    inventory = bench.session.inventory
    wanted: list[Drive] = []
    match thing:
        case Array():
            wanted = [one for target in thing.members if isinstance(one := inventory.find(str(target)), Drive)]
        case Controller():
            wanted = [one for one in inventory.drives if one.controller == thing.target]
        case Drive():
            raise NotFoundError(f"{thing.target} is a drive and has no members.", hint="Name an array or a controller.")
    seen: dict[str, Drive] = {}
    for drive in wanted:
        if drive.device is not None and not drive.shown_elsewhere:
            seen.setdefault(drive.device, drive)
    return list(seen.values())


def _request(drive: Drive, *, gently: bool) -> Request:
    """A short reading of one drive."""
    fields = {"rw": "randread", "bs": "4k", "iodepth": "1", "ramp": "0", "runtime": str(SECONDS)}
    if gently:
        rate = GENTLE_IOPS.get(drive.media.value, GENTLE_IOPS_FLASH)
        fields |= {"runtime": str(GENTLE_SECONDS), "rate_iops": str(rate)}
    device = drive.device or ""
    return Request(where=device, name=device, job=Job.from_fields(fields))


async def member_reads(
    bench: Workbench, plan: MemberPlan, stopped: Callable[[], bool], seed: int | None = None
) -> AsyncGenerator[MemberRead, None]:
    """Every reading as it ends, each round in an order that is drawn; no further one once it is `stopped`.

    Raises RefusedError and ToolFailedError where a member may not or cannot be read, and what a run raises.
    """
    chance = random.Random(seed)
    jobs = [_request(drive, gently=plan.gently) for drive in plan.drives]
    for number in range(1, plan.rounds + 1):
        for job in chance.sample(jobs, len(jobs)):
            if stopped():
                return
            ready = await bench.jobs.prepare(replace(job, again=True))
            if ready.refused:
                raise RefusedError(" ".join(ready.refused), hint=ready.hint)
            figures = (await bench.jobs.measure(ready)).figures
            if stopped() or figures.status is RunStatus.STOPPED:
                return
            if figures.read is None or not figures.read.latency_ns.mean:
                raise ToolFailedError(
                    f"{job.name} could not be read: {clean(figures.reason or 'no answer', 300)}.", hint=figures.hint
                )
            yield MemberRead(round=number, device=job.where, latency_ns=figures.read.latency_ns.mean)


def figures_of(plan: MemberPlan, reads: Sequence[MemberRead]) -> tuple[SiblingFigures, ...]:
    """Each member against the others, the slowest first, by the rounds that are whole; () of too few."""
    rounds: dict[int, dict[str, float]] = {}
    for one in reads:
        rounds.setdefault(one.round, {})[one.device] = one.latency_ns
    nodes = [drive.device or "" for drive in plan.drives]
    whole = [{node: told[node] for node in nodes} for told in rounds.values() if len(told) == len(nodes)]
    return against_siblings(whole) if len(whole) >= FEWEST_ROUNDS else ()
