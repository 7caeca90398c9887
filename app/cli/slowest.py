"""`slowest`: the members of an array one after the other, each against its siblings."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from app.cli.opening import begin, workbench
from app.cli.output import document, lines, say
from app.cli.render import listing
from app.cli.running import Interruption, run
from app.cli.status import DONE, FAILED, FOUND, INTERRUPTED
from app.engine.view import schema
from backends.errors import BlockedError, NotFoundError, RefusedError
from backends.model import Array, Controller, Drive
from backends.text import clean
from backends.values import dataclass
from widgets.plain import units

if TYPE_CHECKING:
    from app.engine.judge.siblings import SiblingFigures
    from app.engine.measure.preparation import Request
    from app.engine.workbench import Workbench

SECONDS, GENTLE_SECONDS = 2, 10
"""Of a reading, on an array that rests and on one that is in use."""

GENTLE_IOPS = {"hdd": 5}
"""Reads a second of a member in use, by its media: 5 % of its time at 10 ms each."""

GENTLE_IOPS_FLASH = 100
"""The same of flash: 5 % at half a millisecond each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _SlowestOptions:
    """The options of `slowest`."""

    rounds: int
    seed: int | None
    dry_run: bool
    as_json: bool


@click.command("slowest")
@click.argument("array")
@click.option("--rounds", type=click.IntRange(3, 50), default=5, show_default=True, help="Times each member is read.")
@click.option("--seed", type=click.IntRange(0, 2**31), metavar="N", help="Decides the random order.")
@click.option("--dry-run", is_flag=True, help="Only say what would be read.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def slowest_command(array: str, rounds: int, seed: int | None, dry_run: bool, as_json: bool) -> int:
    """Read the members of ARRAY, or the drives of a controller, in turn, and say which is slower than its siblings.

    Nothing is written. Each is read at random by 4 KiB at queue depth 1, in an order that is drawn anew each round;
    where the array is in use, for longer and at 5 % of a member's time at most. Exit status 5 where one is slow.
    """
    how = _SlowestOptions(rounds=rounds, seed=seed, dry_run=dry_run, as_json=as_json)
    with workbench(dry=dry_run, rights=not dry_run) as bench:
        return run(lambda interruption: _slowest(bench, interruption, array, how))


async def _slowest(bench: Workbench, interruption: Interruption, address: str, how: _SlowestOptions) -> int:
    from app.engine.judge.siblings import FEWEST, against_siblings

    thing = await bench.hardware.find(address)
    members = members_of(bench, thing)
    if len(members) < FEWEST:
        raise BlockedError(
            f"{thing.target} has {len(members)} drives that can be read by themselves, and it takes {FEWEST} to say"
            " which is unusual.",
            hint="Drives behind a RAID card have no device of their own: its tool tells their error counts.",
        )
    busy = not isinstance(thing, Controller) and bool(thing.uses or thing.above)
    jobs = [_request(drive, busy=busy) for drive in members]
    seconds = len(jobs) * how.rounds * (GENTLE_SECONDS if busy else SECONDS)
    say(f"{len(jobs)} drives in {how.rounds} rounds: {units.duration(seconds)} of reading{', gently' if busy else ''}.")
    if how.dry_run:
        if how.as_json:
            document(schema.document(dry_run=True, drives=[job.where for job in jobs], seconds=seconds))
        else:
            lines(job.where for job in jobs)
        say("Dry run: nothing was read.")
        return DONE
    await begin(bench)
    rounds = await _measured(bench, interruption, jobs, how)
    if interruption.asked():
        return INTERRUPTED
    if rounds is None:
        return FAILED
    found = against_siblings(rounds)
    _tell(found, {job.where: drive for job, drive in zip(jobs, members, strict=True)}, as_json=how.as_json)
    return FOUND if any(one.is_slow for one in found) else DONE


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


def _request(drive: Drive, *, busy: bool) -> Request:
    """A short reading of one drive."""
    from app.engine.fio.job import Job
    from app.engine.measure.measurer import Request

    fields = {"rw": "randread", "bs": "4k", "iodepth": "1", "ramp": "0", "runtime": str(SECONDS)}
    if busy:
        rate = GENTLE_IOPS.get(drive.media.value, GENTLE_IOPS_FLASH)
        fields |= {"runtime": str(GENTLE_SECONDS), "rate_iops": str(rate)}
    device = drive.device or ""
    return Request(where=device, name=device, job=Job.from_fields(fields))


async def _measured(
    bench: Workbench, interruption: Interruption, jobs: list[Request], how: _SlowestOptions
) -> list[dict[str, float]] | None:
    """Mean latency of every drive in each round, in an order that is drawn; None where one could not be read."""
    chance = random.Random(how.seed)
    rounds: list[dict[str, float]] = []
    with interruption.gracefully(bench.jobs.stop):
        for number in range(how.rounds):
            order = chance.sample(jobs, len(jobs))
            told: dict[str, float] = {}
            for job in order:
                ready = await bench.jobs.prepare(replace(job, again=True))
                if ready.refused:
                    raise RefusedError(" ".join(ready.refused), hint=ready.hint)
                record = await bench.jobs.measure(ready)
                read = record.figures.read
                if interruption.asked():
                    return None
                if read is None or not read.latency_ns.mean:
                    say(f"{job.name} could not be read: {clean(record.figures.reason or 'no answer', 300)}.")
                    return None
                told[job.where] = read.latency_ns.mean
            rounds.append({job.where: told[job.where] for job in jobs})
            say(f"Round {number + 1} of {how.rounds} is over.")
    return rounds


def _tell(found: tuple[SiblingFigures, ...], drives: dict[str, Drive], *, as_json: bool) -> None:
    slow = [one for one in found if one.is_slow]
    if as_json:
        rows = [
            {
                "device": one.name,
                "target": str(drives[one.name].target),
                "latency_ns": one.value,
                "slower_percent": 100 * one.slower,
                "interval_percent": [100 * one.low, 100 * one.high],
                "slow": one.is_slow,
            }
            for one in found
        ]
        document(schema.document(dry_run=False, drives=rows))
    else:
        lines(
            listing(
                ("drive", "model", "latency", "against the others", "interval", ""),
                [
                    (
                        one.name,
                        clean(drives[one.name].model or "", 40),
                        units.latency(one.value),
                        f"{100 * one.slower:+.1f} %",
                        f"[{100 * one.low:+.1f}, {100 * one.high:+.1f}]",
                        "slow" if one.is_slow else "",
                    )
                    for one in found
                ],
            )
        )
    names = ", ".join(one.name for one in slow)
    say(f"Slower than its siblings: {names}." if slow else "None is slower than its siblings by more than chance.")
