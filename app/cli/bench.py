"""`bench`: one run, or several of the same, with a live progress line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from app.cli.bench_job import job_of, section_option
from app.cli.bench_live import RunTeller
from app.cli.bench_target import resolve
from app.cli.bench_text import advice, summary
from app.cli.confirm import confirmed
from app.cli.grouping import GroupedCommand
from app.cli.opening import begin_measuring, workbench
from app.cli.options import CONFIRM_HELP, FiniteRange, current
from app.cli.output import ReaderGoneError, document, lines, say
from app.cli.running import Interruption, run
from app.cli.status import DONE, FAILED, INTERRUPTED
from app.cli.steady import steady_options
from app.doors import needed_action
from app.engine.config import Config
from app.engine.fio.fields import FIELDS
from app.engine.fio.job import Job
from app.engine.fio.render import section_names
from app.engine.fio.sections import with_size
from app.engine.judge.repeats import spreads
from app.engine.measure.beginning import run_sections
from app.engine.measure.measurer import Preparation, Request
from app.engine.measure.preparation import NamedTarget, require_reading, require_reading_job
from app.engine.measure.wear import wear_words
from app.engine.session.event_values import SteadyPlan
from app.engine.session.figures import RunStatus
from app.engine.session.joint_names import LEASE_S, LEASES
from app.engine.session.state import RunRecord
from app.engine.view import schema, schema_compare
from app.engine.workbench import Workbench
from backends.errors import InvalidValueError, RefusedError, StorageError
from backends.settings import Risk
from backends.sizes import size_words
from backends.text import clean

if TYPE_CHECKING:
    from app.cli.bench_leash import Leash


def job_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """One option for each field of a job."""
    for field in reversed(FIELDS):
        name = f"--{field.key.replace('_', '-')}"
        metavar = "|".join(field.choices) if field.choices else None
        command = click.option(name, f"job_{field.key}", metavar=metavar, help=field.help)(command)
    return command


@click.command("bench", cls=GroupedCommand)
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option("--profile", metavar="NAME", help="A workload by name; `raidbench profiles` lists them.")
@click.option(
    "--jobfile", type=click.Path(path_type=Path), metavar="FILE", help="A fio job file; its target is ignored."
)
@section_option("Run this section of the job file alone; without it all sections run, as fio runs them.")
@job_options
@steady_options()
@click.option("--repeat", type=click.IntRange(1, 1000), default=1, metavar="N", help="Run it N times.")
@click.option("--keep", is_flag=True, help="Leave the scratch file for the next run.")
@click.option("--dry-run", is_flag=True, help="Only show what would be run, written over and made.")
@click.option("--confirm", "typed", metavar="WORD", help=CONFIRM_HELP)
@click.option("--json", "as_json", is_flag=True, help="The figures as JSON.")
@click.option("--stream", is_flag=True, help="One JSON line a measured interval, as it comes.")
@click.option(
    "--go-on-stdin", is_flag=True, help="With --stream: wait for `go AT` on standard input, as `--hosts` says it."
)
@click.option(
    "--lease",
    type=click.IntRange(*LEASES),
    metavar="SECONDS",
    help="With --go-on-stdin or --hosts: so much silence stops the run on a host; 5 unless named.",
)
@click.option("--hosts", "nodes", metavar="NODES", help="Measure on all of these at once: `node[1-8],@group`.")
@click.option(
    "--stagger",
    type=FiniteRange(0, 60),
    metavar="SECONDS",
    help="With --hosts: between the start of one host and the next; 0 unless named.",
)
def bench_command(
    targets: tuple[str, ...],
    profile: str | None,
    jobfile: Path | None,
    section: str | None,
    repeat: int,
    keep: bool,
    dry_run: bool,
    typed: str | None,
    as_json: bool,
    stream: bool,
    go_on_stdin: bool,
    lease: int | None,
    nodes: str | None,
    stagger: float | None,
    steady: SteadyPlan | None,
    **fields: str | None,
) -> int:
    """Measure TARGET with fio: an address or device as `devices` lists it, a file, or a folder.

    A file that does not exist (./scratch) is made, filled, measured and removed. Reading a raw device is harmless;
    writing to one destroys its data and asks for the end of its serial number first.

    Several targets are measured at the same time, by one fio: the figures are those of all together, with a row for
    each. They must not share a disk.

    The sections of a job file run on TARGET at the same time, and after a stonewall one phase after another. Each has
    figures of its own.
    """
    config = current().load_config()
    if nodes is not None:
        _require_suits_hosts(stream=stream or go_on_stdin, repeat=repeat, typed=typed)
    elif stagger is not None:
        raise click.UsageError("--stagger is about --hosts.")
    elif go_on_stdin:
        _require_suits_leash(stream=stream, as_json=as_json, dry_run=dry_run, repeat=repeat)
    elif lease is not None:
        raise click.UsageError("--lease is about --go-on-stdin and --hosts.")
    texts = {key.removeprefix("job_"): text for key, text in fields.items() if text is not None}
    alone = "" if nodes is None else "Many hosts run one job"
    job, name, told = job_of(texts, profile=profile, jobfile=jobfile, config=config, section=section, alone=alone)
    if nodes is not None:
        if not job.runtime:
            raise InvalidValueError(
                "Hosts measure for the same time, and this job has no run time.", hint="Name one with --runtime."
            )
        words = _words_for_hosts(targets, texts if jobfile is None else job.texts(), profile or config.profile)
        how = {"stagger_s": stagger or 0.0, "lease_s": lease or LEASE_S, "as_json": as_json, "dry_run": dry_run}
        return cast("int", needed_action("fleet.measure")(nodes, ", ".join(targets), words, **how))

    async def work(interruption: Interruption) -> int:
        if not go_on_stdin:
            return await measure(interruption, None)
        on_leash = needed_action("fleet.on_leash")
        return cast("int", await on_leash(bench, lease or LEASE_S, partial(measure, interruption)))

    async def measure(interruption: Interruption, leash: Leash | None) -> int:
        found = [await resolve(bench, target) for target in targets]
        named = [NamedTarget(where=where, name=shown) for where, shown in found]
        sized = scratch_size(job, [one.where for one in named], config, given="size" in texts)
        request = Request(
            where=named[0].where,
            name=named[0].name,
            beside=tuple(named[1:]),
            job=sized,
            profile=name,
            keep=keep,
            steady=steady,
            told=told,
        )
        if dry_run:
            return await _show(bench, request, repeat, as_json=as_json)
        return await _bench(bench, interruption, request, repeat, typed, as_json, stream, leash)

    with workbench(dry=dry_run, rights=any(_may_be_device(target) for target in targets)) as bench:
        return run(work)


def _require_suits_leash(*, stream: bool, as_json: bool, dry_run: bool, repeat: int) -> None:
    """Raises UsageError for what makes no sense in a run that is started from elsewhere."""
    if not stream:
        raise click.UsageError("--go-on-stdin goes with --stream.")
    if as_json or dry_run or repeat > 1:
        raise click.UsageError(
            "With --go-on-stdin there is one run, told in JSON lines: without --json, --dry-run, --repeat."
        )


def _require_suits_hosts(*, stream: bool, repeat: int, typed: str | None) -> None:
    """Raises UsageError for what makes no sense on many hosts."""
    if stream or repeat > 1:
        raise click.UsageError("With --hosts there is one run: without --stream, --go-on-stdin, --repeat.")
    if typed is not None:
        raise click.UsageError("With --hosts no device is written over, so --confirm has nothing to confirm.")


_OWN_OPTIONS = (
    "nodes",
    "stagger",
    "lease",
    "jobfile",
    "section",
    "profile",
    "typed",
    "as_json",
    "dry_run",
    "stream",
    "repeat",
)
"""Options that are not passed on to other hosts, or in other words."""


def _words_for_hosts(targets: Sequence[str], texts: Mapping[str, str], profile: str) -> list[str]:
    """What stands behind `bench` on each host: the same job, named by all that may differ in a configuration there."""
    context = click.get_current_context()
    words = [f"--profile={profile}", *(f"--{key.replace('_', '-')}={text}" for key, text in texts.items())]
    for param in context.command.params:
        value = context.params.get(param.name or "")
        named = not (param.name or "").startswith("job_") and param.name not in _OWN_OPTIONS
        if isinstance(param, click.Option) and named and value:
            words.append(param.opts[0] if param.is_flag else f"{param.opts[0]}={value}")
    return [*words, "--", *targets]


def _may_be_device(target: str) -> bool:
    """Whether a target is a device or an address of one, by its name: a scratch file takes no root."""
    path = Path(target)
    return path.is_block_device() or not (path.exists() or "/" in target.partition(":")[0])


def scratch_size(job: Job, targets: Sequence[str], config: Config, *, given: bool) -> Job:
    """The job with the configured size, when only new scratch files are to be made and nobody named a size."""
    new = all(not Path(where).exists() or Path(where).is_dir() for where in targets)
    sized = all(part.size_named for part in job.parts)
    if given or sized or config.scratch_size is None or not new:
        return job
    return with_size(job, config.scratch_size)


async def _show(bench: Workbench, request: Request, repeat: int, *, as_json: bool) -> int:
    """What would be done, and what would be lost. Raises RefusedError where it would not be."""
    ready = await bench.jobs.prepare(request)
    if ready.refused:
        raise RefusedError(" ".join(ready.refused), hint=ready.hint)
    lost = [*lost_lines(ready), *(f"{row}." for row in await wear_lines(bench, ready, times=repeat))]
    _announce(ready)
    job = {key: text for key, text in ready.job.texts().items() if text}
    if as_json:
        how: dict[str, object] = {"target": ready.name, "job": job, "repeat": repeat}
        how |= {"destructive": ready.destructive, "lost": lost}
        if ready.job.sections:
            how |= {"sections": schema.sections(run_sections(ready.job)), "jobfile": ready.jobfile}
        document(schema.document(dry_run=True, **how))
    elif ready.job.sections:
        lines([*ready.jobfile.splitlines(), *lost])
    else:
        lines([*(f"{key}={text}" for key, text in job.items()), *lost])
    say("Dry run: nothing was measured.")
    return DONE


async def _bench(
    bench: Workbench,
    interruption: Interruption,
    request: Request,
    repeat: int,
    typed: str | None,
    as_json: bool,
    stream: bool,
    leash: Leash | None,
) -> int:
    with closing(RunTeller(bench, stream=stream, silent=leash is not None)) as follower:
        records, said = await measured(bench, interruption, request, repeat, typed, follower, leash=leash)
    if leash is not None:
        for record in records:
            leash.tell_result(schema.run(record, session=str(bench.folder)))
    _report(bench, records, follower, said, as_json=as_json, stream=stream)
    if interruption.asked():
        return INTERRUPTED
    return DONE if records and all(record.figures.status is RunStatus.OK for record in records) else FAILED


async def measured(
    bench: Workbench,
    interruption: Interruption,
    request: Request,
    repeat: int,
    typed: str | None,
    follower: RunTeller,
    *,
    fresh: bool = False,
    leash: Leash | None = None,
) -> tuple[list[RunRecord], frozenset[str]]:
    """The runs, up to the first that is not whole, in a session that is begun for them; and which advice was said.

    `fresh`: not in the last session. `leash`: who says when, None for at once.

    Raises RefusedError, ReaderGoneError where nobody reads the stream any more, and whatever measuring does.
    """
    not_read_only(request)
    first = await bench.jobs.prepare(request)  # what cannot be done at all leaves no session behind
    if first.refused:
        raise RefusedError(" ".join(first.refused), hint=first.hint)
    if leash is not None:
        leash.require_harmless(first)
    await begin_measuring(bench, fresh=fresh)
    records: list[RunRecord] = []
    said: frozenset[str] = frozenset()
    with interruption.gracefully(bench.jobs.stop):
        for number in range(1, repeat + 1):
            ready = await bench.jobs.prepare(replace(request, again=number < repeat))
            if number > 1:
                ready = ready.confirmed_with(first)
            else:
                first = ready
                for row in await wear_lines(bench, ready, times=repeat):
                    say(f"{row}.")
                typed = allowed(ready, typed)
                if leash is None:
                    _announce(ready)
                said = frozenset(each.key for each in ready.advice)
            if interruption.asked():
                break
            follower.begin(number, repeat)
            whole = False
            try:
                until = None if leash is None else partial(leash.until_go, ready)
                records.append(await bench.jobs.measure(ready, confirm=typed, until=until))
                whole = records[-1].figures.status is RunStatus.OK and not follower.nobody_reads
            finally:
                follower.end()
                if not whole and not request.keep:
                    await bench.jobs.forget_scratch(ready)
            if not whole or interruption.asked():
                break
    if follower.nobody_reads:
        raise ReaderGoneError
    return records, said


def not_read_only(request: Request) -> None:
    """Raises RefusedError for a job that writes where nothing may be written."""
    if current().read_only:
        require_reading_job(request)


def lost_lines(ready: Preparation) -> list[str]:
    """What a run writes over; nothing of one that destroys nothing."""
    told = []
    for site in ready.overwritten:
        assert site.judgement is not None  # only devices are overwritten
        verb = "WRITES to" if ready.job.writes_data or ready.request.fills else "TRIMS"
        told.append(f"This run {verb} {site.judgement.verdict.shown}. All data on it will be lost.")
        if loss := ready.loss_of(site):
            told.append(f"It trims {loss}")
        told += (
            f"  {clean(found, 300)}" for found in site.judgement.verdict.found or ("Nothing known was found on it.",)
        )
    return told


def allowed(ready: Preparation, typed: str | None) -> str | None:
    """What confirms the run, after showing what would be lost. Raises RefusedError."""
    if ready.refused:
        raise RefusedError(" ".join(ready.refused), hint=ready.hint)
    if current().read_only:
        require_reading(ready)
    if not ready.destructive:
        if typed is not None:
            say("Nothing is destroyed by this run, so --confirm has nothing to confirm.")
        return None
    for row in lost_lines(ready):
        say(row)
    verb = "Write to" if ready.job.writes_data or ready.request.fills else "Trim"
    what = f"{verb} it" if len(ready.overwritten) == 1 else f"{verb} these {len(ready.overwritten)} devices"
    return confirmed(Risk.DESTROYS_DATA, ready.plates, yes=False, typed=typed, what=what)


async def wear_lines(bench: Workbench, ready: Preparation, *, times: int = 1) -> tuple[str, ...]:
    """What a job that writes to a device costs it."""
    if not ready.destructive:
        return ()
    inventory = await bench.hardware.probe() if bench.session.probing else bench.session.inventory
    return wear_words(ready, bench.session.runs, inventory, times=times)


def _announce(ready: Preparation) -> None:
    at_once = "" if len(ready.sites) == 1 else f" on each of {len(ready.sites)} targets"
    say(f"{clean(ready.name, 1000)}: {ready.job.describe()}{at_once}, fio {ready.fio_version}")
    for entry, section in zip(section_names(len(ready.job.sections)), ready.job.sections, strict=False):
        waits = ", when all above have ended" if section.waits else ""
        say(f"  {section.name}: {section.job.describe()}{waits} ([{entry}])")
    if ready.request.steady is not None and (words := ready.request.steady.describe()):
        say(f"Measured: {words}.")
    kept = "kept" if ready.request.keep else "removed afterwards"
    for scratch in (site.scratch for site in ready.sites):
        if scratch is not None and scratch.fill:
            say(f"Scratch file {clean(str(scratch.path), 300)}, {size_words(scratch.size)}, {kept}.")
    for note in ready.notes:
        say(f"Note: {clean(note, 600)}")
    for each in ready.advice:
        advice(each)


def _report(
    bench: Workbench,
    records: list[RunRecord],
    follower: RunTeller,
    said: frozenset[str],
    *,
    as_json: bool,
    stream: bool,
) -> None:
    if not records:
        return
    if as_json:
        if bench.folder is None:
            raise StorageError("The session is gone.")
        runs = [schema.run(record, session=str(bench.folder)) for record in records]
        body = schema.document(run=runs[-1])
        if len(runs) > 1:
            whole = [record for record in records if record.figures.status is RunStatus.OK]
            means = [schema_compare.spread(direction, figure.key, seen) for direction, figure, seen in spreads(whole)]
            body |= {"runs": runs, "repeats": means}
        document(body, compact=stream)
    elif not stream:
        summary(records, follower.samples, session=bench.folder, said=said)
    for record in records:
        if record.figures.status is not RunStatus.OK:
            say(f"{record.id} {record.figures.status.value}: {clean(record.figures.reason or 'no reason given', 1000)}")
            if record.figures.hint:
                say(clean(record.figures.hint, 1000))
