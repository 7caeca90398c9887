"""`bench`: one run, or several runs of the same job, with a live progress line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

import click

from app.cli.async_runner import Interruption
from app.cli.bench_job import JobOptions, job_of, job_options
from app.cli.bench_progress import RunProgressPrinter, print_summary, say_advice
from app.cli.bench_target import resolve_target
from app.cli.command import GroupedCommand, command
from app.cli.confirm import require_confirmation
from app.cli.exit_status import DONE, FAILED, INTERRUPTED
from app.cli.options import FiniteRange, current, gather_options, typed_argv
from app.cli.output import BrokenPipeOutputError, Verbatim, document, lines, print_json, say, say_lines
from app.cli.session_context import on_workbench, open_checked_session
from app.cli.shared_options import HOSTS_HELP, confirm_option, dry_run_option, json_option
from app.cli.steady_options import steady_options
from app.core.analysis.sample_groups import spreads
from app.core.benchmark.endurance import wear_texts
from app.core.benchmark.run_plan import NamedTarget, require_reading, require_reading_job
from app.core.benchmark.run_start import run_sections
from app.core.benchmark.runner import BenchmarkRequest, RunPlan
from app.core.config import Config
from app.core.fio.job import Job
from app.core.fio.render import section_names
from app.core.fio.sections import with_size
from app.core.presentation import json_schema, json_schema_compare
from app.core.session.event_types import SteadyPlan
from app.core.session.multihost_names import LEASE_S, LEASES
from app.core.session.results import RunStatus, Sample
from app.core.session.state import RunRecord
from app.core.workbench import Workbench
from app.doors import require_action
from backends.errors import InvalidValueError, StorageError
from backends.settings import Risk
from backends.sizes import size_words
from backends.text import clean
from backends.values import dataclass


class RemoteControl(Protocol):
    """Connection to the host that controls this run: that host starts it and gets its result (`app.features.fleet`)."""

    def require_harmless(self, ready: RunPlan) -> None:
        """Check that the run does not overwrite a device. Raises RefusedError if it would."""

    async def wait_for_start(self, ready: RunPlan) -> None:
        """Report to the controlling host that the run is ready, and wait until it says whether to start."""

    def send_result(self, run: dict[str, Any]) -> None:
        """Send the result of the run to the controlling host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOptions:
    """The options of `bench`."""

    targets: tuple[str, ...]
    job: JobOptions
    steady: SteadyPlan | None
    repeat: int
    keep: bool
    dry_run: bool
    typed: str | None
    as_json: bool
    stream: bool
    go_on_stdin: bool
    lease: int | None
    nodes: str | None
    stagger: float | None


@command(
    "bench",
    "raidbench bench md:md0",
    "raidbench bench ./scratch --rw randrw --bs 8k --runtime 30",
    "raidbench bench sdb sdc --profile seqread-4m --repeat 3",
    cls=GroupedCommand,
)
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@job_options("Run only this section of the job file (default: all sections, as fio runs them).")
@steady_options()
@click.option(
    "--repeat", type=click.IntRange(1, 1000), default=1, show_default=True, metavar="N", help="Number of runs."
)
@click.option("--keep", is_flag=True, help="Keep the scratch file for the next run.")
@dry_run_option
@confirm_option
@json_option
@click.option("--stream", is_flag=True, help="Print each measured interval as one JSON line.")
@click.option(
    "--go-on-stdin", is_flag=True, help="With --stream: wait for `go TIME` on standard input, as --hosts sends it."
)
@click.option(
    "--lease",
    type=click.IntRange(*LEASES),
    metavar="SECONDS",
    help="With --go-on-stdin or --hosts: stop the run after SECONDS without a message (default: 5).",
)
@click.option("--hosts", "nodes", metavar="NODESET", help=HOSTS_HELP)
@click.option(
    "--stagger",
    type=FiniteRange(0, 60),
    metavar="SECONDS",
    help="With --hosts: delay between the start of two hosts (default: 0).",
)
@gather_options(BenchOptions)
def bench_command(options: BenchOptions) -> int:
    """Measure a device, an array or a file with fio.

    TARGET is an address or device as `raidbench devices` lists it, a file or a folder. A file that does not exist is
    created, filled, measured and removed. Reads of a raw device are harmless. Writes destroy its data and need a
    confirmation.

    One fio process measures several targets at the same time. The result is for all of them together, with a row for
    each. The targets must not share a drive.
    """
    config = current().load_config()
    _require_suitable(options)
    alone = "" if options.nodes is None else "A run on several hosts takes one section"
    requested = job_of(options.job, config, alone=alone)
    if options.nodes is not None:
        if not requested.job.runtime:
            raise InvalidValueError(
                "A run on several hosts needs a run time, and this job has none.",
                hint="Set a run time with --runtime SECONDS.",
            )
        texts = options.job.texts if options.job.jobfile is None else requested.job.texts()
        args = _remote_argv(texts, options.job.profile or config.profile)
        return cast("int", require_action("fleet.measure")(options, args))

    async def work(bench: Workbench, interruption: Interruption) -> int:
        if not options.go_on_stdin:
            return await measure(bench, interruption, None)
        run_remotely = require_action("fleet.on_leash")
        return cast("int", await run_remotely(bench, options.lease or LEASE_S, partial(measure, bench, interruption)))

    async def measure(bench: Workbench, interruption: Interruption, remote: RemoteControl | None) -> int:
        pairs = [await resolve_target(bench, target) for target in options.targets]
        first, *others = (NamedTarget(where=where, name=shown) for where, shown in pairs)
        request = BenchmarkRequest(
            where=first.where,
            name=first.name,
            beside=tuple(others),
            job=scratch_size(requested.job, [where for where, _ in pairs], config, given="size" in options.job.texts),
            profile=requested.profile,
            keep=options.keep,
            steady=options.steady,
            length_agreed=requested.runtime_named,
        )
        if options.dry_run:
            return await _show_plan(bench, request, options)
        return await _bench(bench, interruption, request, options, remote)

    return on_workbench(work, dry=options.dry_run, rights=any(map(_may_be_device, options.targets)))


def _require_suitable(options: BenchOptions) -> None:
    """Check the options. Raises UsageError if they contradict each other.

    Runs with --hosts, runs with --go-on-stdin, and local runs accept different options.
    """
    if options.nodes is not None:
        if options.stream or options.go_on_stdin or options.repeat > 1:
            raise click.UsageError("--hosts cannot be combined with --stream, --go-on-stdin or --repeat.")
        if options.typed is not None:
            raise click.UsageError(
                "--confirm cannot be combined with --hosts: runs on several hosts never overwrite devices."
            )
    elif options.stagger is not None:
        raise click.UsageError("--stagger needs --hosts.")
    elif options.go_on_stdin:
        if not options.stream:
            raise click.UsageError("--go-on-stdin needs --stream.")
        if options.as_json or options.dry_run or options.repeat > 1:
            raise click.UsageError("--go-on-stdin cannot be combined with --json, --dry-run or --repeat.")
    elif options.lease is not None:
        raise click.UsageError("--lease needs --go-on-stdin or --hosts.")


_OWN_OPTIONS = frozenset(
    ["nodes", "stagger", "lease", "jobfile", "section", "profile", "typed", "as_json", "dry_run", "stream", "repeat"]
)
"""Names of the options that `_remote_argv` does not copy from this command line to that of other hosts."""


def _remote_argv(texts: Mapping[str, str], profile: str) -> list[str]:
    """Return the arguments of `bench` for other hosts.

    They name the profile and the job fields that were set (`texts`), so that no host uses its own defaults instead.
    """
    context = click.get_current_context()
    left_out = {*_OWN_OPTIONS, *(name for name in context.params if name.startswith("job_"))}
    options, arguments = typed_argv(context, left_out)
    job = (f"--profile={profile}", *(f"--{key.replace('_', '-')}={text}" for key, text in texts.items()))
    return [*job, *options, "--", *arguments]


def _may_be_device(target: str) -> bool:
    """Return whether a target looks like a device or an address, so that root may be needed; files need no root."""
    path = Path(target)
    return path.is_block_device() or not (path.exists() or "/" in target.partition(":")[0])


def scratch_size(job: Job, targets: Sequence[str], config: Config, *, given: bool) -> Job:
    """Return the job with the size that the configuration sets for scratch files.

    The job is unchanged if an option (`given`) or a job file sets a size, or if a target is not a new scratch file.
    """
    to_be_made = all(not Path(where).exists() or Path(where).is_dir() for where in targets)
    sized = all(part.size_named for part in job.parts)
    if given or sized or config.scratch_size is None or not to_be_made:
        return job
    return with_size(job, config.scratch_size)


async def _show_plan(bench: Workbench, request: BenchmarkRequest, options: BenchOptions) -> int:
    """Print the plan and the data that would be lost. Raises RefusedError if the run is refused."""
    ready = await prepare_run(bench, request)
    lost = [*loss_lines(ready), *(f"{row}." for row in await wear_lines(bench, ready, times=options.repeat))]
    _announce_run(ready)
    job = {key: text for key, text in ready.job.texts().items() if text}
    if options.as_json:
        fields: dict[str, object] = {"target": ready.name, "job": job, "repeat": options.repeat}
        fields |= {"destructive": ready.destructive, "lost": lost}
        if ready.job.sections:
            fields |= {"sections": json_schema.sections(run_sections(ready.job)), "jobfile": ready.jobfile}
        print_json(dry_run=True, **fields)
    elif ready.job.sections:
        lines([*map(Verbatim, ready.jobfile.splitlines()), *lost])
    else:
        lines([*(Verbatim(f"{key}={text}") for key, text in job.items()), *lost])
    say("Dry run: nothing was measured.")
    return DONE


async def _bench(
    bench: Workbench,
    interruption: Interruption,
    request: BenchmarkRequest,
    options: BenchOptions,
    remote: RemoteControl | None,
) -> int:
    with closing(RunProgressPrinter(bench, stream=options.stream, silent=remote is not None)) as printer:
        records, advice_keys = await measure_runs(
            bench, interruption, request, options.repeat, options.typed, printer, remote=remote
        )
    if remote is not None:
        for record in records:
            remote.send_result(json_schema.run(record, session=str(bench.folder)))
    if records:
        _report(bench, records, printer.samples, advice_keys, options)
    if interruption.is_requested():
        return INTERRUPTED
    return DONE if records and all(record.figures.status is RunStatus.OK for record in records) else FAILED


async def measure_runs(
    bench: Workbench,
    interruption: Interruption,
    request: BenchmarkRequest,
    repeat: int,
    typed: str | None,
    printer: RunProgressPrinter,
    *,
    fresh: bool = False,
    remote: RemoteControl | None = None,
) -> tuple[list[RunRecord], frozenset[str]]:
    """Open a session and run the job `repeat` times in it. Stop after the first run that does not complete.

    Return the runs, and the keys of the advice that was shown before them. `fresh`: always open a new session.
    `remote`: the host that decides when the run starts; None: start at once.

    Raises BrokenPipeOutputError if the reader of standard output is gone, RefusedError, and the errors of measuring.
    """
    require_permitted_job(request)
    first = await prepare_run(bench, request)  # before the session is opened, so that a refused run leaves no session
    if remote is not None:
        remote.require_harmless(first)
    await open_checked_session(bench, fresh=fresh)
    records: list[RunRecord] = []
    advice_keys: frozenset[str] = frozenset()
    with interruption.stop_on_signal(bench.jobs.stop):
        for number in range(1, repeat + 1):
            ready = await bench.jobs.prepare(replace(request, again=number < repeat))
            if number > 1:
                ready = ready.confirmed_with(first)
            else:
                first = ready
                for row in await wear_lines(bench, ready, times=repeat):
                    say(f"{row}.")
                typed = confirm_run(ready, typed)
                if remote is None:
                    _announce_run(ready)
                advice_keys = frozenset(item.key for item in ready.advice)
            if interruption.is_requested():
                break
            printer.begin(f"{number}/{repeat} " if repeat > 1 else "")
            is_complete = False
            try:
                until = None if remote is None else partial(remote.wait_for_start, ready)
                records.append(await bench.jobs.measure(ready, confirm=typed, until=until))
                is_complete = records[-1].figures.status is RunStatus.OK and not printer.is_stdout_closed
            finally:
                printer.end()
                if not is_complete and not request.keep:
                    await bench.jobs.forget_scratch(ready)
            if not is_complete or interruption.is_requested():
                break
    if printer.is_stdout_closed:
        raise BrokenPipeOutputError
    return records, advice_keys


async def prepare_run(bench: Workbench, request: BenchmarkRequest) -> RunPlan:
    """Return the plan of a run. Raises RefusedError if the run is refused, and the errors of preparing."""
    ready = await bench.jobs.prepare(request)
    ready.require_allowed()
    return ready


def require_permitted_job(request: BenchmarkRequest) -> None:
    """Check that the job is permitted. Raises RefusedError if it writes in read-only mode."""
    if current().read_only:
        require_reading_job(request)


def loss_lines(ready: RunPlan) -> list[str]:
    """Return lines about the data that a run destroys; an empty list for a harmless run."""
    losses = []
    for site in ready.overwritten:
        assert site.judgement is not None  # only devices are overwritten
        verb = "WRITES to" if ready.job.writes_data or ready.request.fills else "TRIMS"
        losses.append(f"This run {verb} {site.judgement.verdict.shown}. All data on it will be lost.")
        if loss := ready.loss_of(site):
            losses.append(f"This run trims {loss}")
        losses += (
            f"  {clean(value, 300)}"
            for value in site.judgement.verdict.content or ("No known content was found on it.",)
        )
    return losses


def confirm_run(ready: RunPlan, typed: str | None) -> str | None:
    """Show the data that would be lost, ask, and return the confirmation token.

    Return None for a run that destroys no data. Raises RefusedError if the user declines.
    """
    ready.require_allowed()
    if current().read_only:
        require_reading(ready)
    if not ready.destructive:
        if typed is not None:
            say("--confirm is not needed: this run destroys no data.")
        return None
    say_lines(loss_lines(ready))
    verb = "Write to" if ready.job.writes_data or ready.request.fills else "Trim"
    question = f"{verb} it" if len(ready.overwritten) == 1 else f"{verb} these {len(ready.overwritten)} devices"
    return require_confirmation(Risk.DESTROYS_DATA, ready.labels, yes=False, typed=typed, action=question)


async def wear_lines(bench: Workbench, ready: RunPlan, *, times: int = 1) -> tuple[str, ...]:
    """Return sentences about the rated endurance of the devices that `times` runs use up."""
    if not ready.destructive:
        return ()
    inventory = await bench.hardware.probe() if bench.session.probing else bench.session.inventory
    return wear_texts(ready, bench.session.runs, inventory, times=times)


def _announce_run(ready: RunPlan) -> None:
    at_once = "" if len(ready.sites) == 1 else f" on each of {len(ready.sites)} targets"
    say(f"{clean(ready.name, 1000)}: {ready.job.describe()}{at_once}, fio {ready.fio_version}")
    for entry, section in zip(section_names(len(ready.job.sections)), ready.job.sections, strict=False):
        waits = ", after all sections above" if section.waits else ""
        say(f"  {section.name}: {section.job.describe()}{waits} ([{entry}])")
    if ready.request.steady is not None and (text := ready.request.steady.describe()):
        say(f"Measured: {text}.")
    kept = "kept" if ready.request.keep else "removed afterwards"
    for scratch in (site.scratch for site in ready.sites):
        if scratch is not None and (scratch.fill or scratch.preallocated):
            say(f"Scratch file {clean(str(scratch.path), 300)}, {size_words(scratch.size)}, {kept}.")
    for note in ready.notes:
        say(f"Note: {clean(note, 600)}")
    for item in ready.advice:
        say_advice(item)


def _report(
    bench: Workbench,
    records: Sequence[RunRecord],
    samples: Sequence[Sample],
    advice_keys: frozenset[str],
    options: BenchOptions,
) -> None:
    if options.as_json:
        if bench.folder is None:
            raise StorageError("The session folder is missing.")
        runs = [json_schema.run(record, session=str(bench.folder)) for record in records]
        body = json_schema.document(run=runs[-1])
        if len(runs) > 1:
            complete = [record for record in records if record.figures.status is RunStatus.OK]
            means = [
                json_schema_compare.spread(direction, figure.key, values)
                for direction, figure, values in spreads(complete)
            ]
            body |= {"runs": runs, "repeats": means}
        document(body, compact=options.stream)
    elif not options.stream:
        print_summary(records, samples, session=bench.folder, advice_keys=advice_keys)
    for record in records:
        if record.figures.status is not RunStatus.OK:
            say(f"{record.id} {record.figures.status.value}: {clean(record.figures.reason or 'no reason given', 1000)}")
            if record.figures.hint:
                say(clean(record.figures.hint, 1000))
