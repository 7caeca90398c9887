"""`precondition`: write a whole device twice, then run a profile on it until the results are steady."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import click

from app.cli.async_runner import Interruption
from app.cli.bench import confirm_run, loss_lines, prepare_run, require_permitted_job, scratch_size, wear_lines
from app.cli.bench_job import JobOptions, job_of
from app.cli.bench_progress import RunProgressPrinter
from app.cli.bench_target import resolve_target
from app.cli.command import GroupedCommand, command
from app.cli.confirm import confirm_harmless
from app.cli.exit_status import DONE, FAILED, INTERRUPTED
from app.cli.options import AskingOptions, current, gather_options
from app.cli.output import lines, print_json, say, say_lines
from app.cli.session_context import on_workbench, open_session
from app.cli.shared_options import confirm_option, dry_run_option, json_option, yes_option
from app.cli.steady_options import steady_cap_option, steady_plan, steady_round_option
from app.core.benchmark.preconditioning import WORKLOAD, precondition_request
from app.core.benchmark.runner import BenchmarkRequest, RunPlan
from app.core.presentation import json_schema
from app.core.presentation.events import describe_event
from app.core.presentation.run import outcome_text
from app.core.session.events import PreconditionEnded
from app.core.session.results import RunStatus
from app.core.session.state import RunRecord
from app.core.workbench import Workbench
from backends.errors import StorageError
from backends.sizes import size_words
from backends.text import clean
from backends.values import dataclass
from widgets.text_utils import units


@dataclass(frozen=True, slots=True, kw_only=True)
class _PreconditionOptions(AskingOptions):
    """The options of `precondition`."""

    target: str
    profile: str
    size: str | None
    steady_cap: int | None
    steady_round: int | None


@command(
    "precondition",
    "raidbench precondition /dev/sdg --dry-run",
    "raidbench precondition /dev/sdg --profile randwrite-4k",
    cls=GroupedCommand,
)
@click.argument("target")
@click.option(
    "--profile", default=WORKLOAD, show_default=True, metavar="NAME", help="Profile that runs after the fill."
)
@click.option("--size", metavar="SIZE", help="Size of a new scratch file.")
@steady_cap_option
@steady_round_option
@dry_run_option
@yes_option
@confirm_option
@json_option
@gather_options(_PreconditionOptions)
def precondition_command(options: _PreconditionOptions) -> int:
    """Overwrite a device twice to measure it as in regular use.

    ALL DATA ON TARGET IS LOST. The fill is sequential in blocks of 128 KiB. Then a workload runs until it is steady. A
    drive that was never written reads unmapped blocks too fast, and writes faster than it ever will again. raidbench
    remembers that the device is preconditioned.
    """
    config = current().load_config()
    texts = {} if options.size is None else {"size": options.size}
    job, name, _ = job_of(JobOptions(profile=options.profile, texts=texts), config)
    plan = steady_plan(config, cap=options.steady_cap, round_s=options.steady_round)

    async def work(bench: Workbench, interruption: Interruption) -> int:
        where, shown = await resolve_target(bench, options.target)
        sized = scratch_size(job, [where], config, given=options.size is not None)
        request = precondition_request(where, shown, sized, plan, profile=name)
        if options.dry_run:
            return await _show_plan(bench, request, as_json=options.as_json)
        return await _precondition(bench, interruption, request, options)

    return on_workbench(work, dry=options.dry_run, rights=True)


async def _show_plan(bench: Workbench, request: BenchmarkRequest, *, as_json: bool) -> int:
    """Print the plan and the data that would be lost. Raises RefusedError if the run is refused."""
    ready = await prepare_run(bench, request)
    rows = [*plan_lines(ready, await wear_lines(bench, ready)), *loss_lines(ready)]
    if as_json:
        print_json(dry_run=True, target=request.name, destructive=ready.destructive, plan=rows)
    else:
        lines(rows)
    say("Dry run: nothing was written.")
    return DONE


async def _precondition(
    bench: Workbench, interruption: Interruption, request: BenchmarkRequest, options: _PreconditionOptions
) -> int:
    require_permitted_job(request)
    ready = await prepare_run(bench, request)
    say_lines(plan_lines(ready, await wear_lines(bench, ready)))
    word = None
    if ready.destructive:
        word = confirm_run(ready, options.typed)
    else:
        confirm_harmless("Write the file", yes=options.yes)
    await open_session(bench)
    printer = RunProgressPrinter(bench, stream=False)
    with closing(printer), interruption.stop_on_signal(bench.jobs.stop):
        printer.begin()
        record = await bench.jobs.measure(ready, confirm=word)
        printer.end()
    _report(bench, record, as_json=options.as_json)
    if interruption.is_requested():
        return INTERRUPTED
    return DONE if record.figures.status is RunStatus.OK else FAILED


def plan_lines(ready: RunPlan, wear: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the steps of preconditioning, to be shown before the user confirms them."""
    fills, size = ready.request.fills, ready.size
    runtime = units.duration(ready.job.runtime)
    yield f"{clean(ready.request.name, 300)}: precondition, fio {ready.fio_version}"
    yield f"  1. overwrites all {size_words(size)} {fills} times sequentially, {size_words(fills * size)} in total"
    workload = ready.job.describe().partition(f" · {ready.job.runtime} s")[0]
    yield f"  2. runs {workload} until steady, for at most {runtime}"
    for row in wear:
        yield f"  {row}"
    for note in ready.notes:
        yield f"Note: {clean(note, 600)}"


def _report(bench: Workbench, record: RunRecord, *, as_json: bool) -> None:
    figures = record.figures
    if as_json:
        if bench.folder is None:
            raise StorageError("The session folder is missing.")
        print_json(run=json_schema.run(record, session=str(bench.folder)))
    else:
        write = figures.write
        rows = [f"Filled: {size_words(figures.filled_bytes)}"]
        if write is not None:
            rows.append(f"Workload: {units.iops(write.iops)} IOPS write, {size_words(write.total_bytes)} written")
        if figures.steady is not None:
            rows.append(f"Steady state: {outcome_text(figures.steady)}")
        lines(rows)
        ended = (event for event in bench.session.events if isinstance(event, PreconditionEnded))
        say_lines(row for event in ended if event.id == record.id for row in describe_event(event).body)
        say(f"Saved as {record.id} in {clean(str(bench.folder), 300)}")
    if figures.status is not RunStatus.OK:
        say(f"{record.id} {figures.status.value}: {clean(figures.reason or 'no reason given', 1000)}")
