"""The `ab` command: measure a setting against another value in pairs of runs, then restore it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import click

from app.cli import confirm
from app.cli.async_runner import Interruption
from app.cli.bench import confirm_run, require_permitted_job, scratch_size, wear_lines
from app.cli.bench_job import JobOptions, RequestedJob, job_of, job_options
from app.cli.bench_progress import RunProgressPrinter
from app.cli.bench_target import resolve_target
from app.cli.command import GroupedCommand, command
from app.cli.confirm import step_lines
from app.cli.exit_status import DONE, FAILED, INTERRUPTED
from app.cli.options import PERCENT, AskingOptions, FiniteRange, current, gather_options
from app.cli.output import lines, paint, print_json, say, say_lines
from app.cli.render import table_lines
from app.cli.session_context import loaded_session, on_workbench, open_checked_session, refuse_read_only
from app.cli.set_command import parse_assignments
from app.cli.shared_options import confirm_option, dry_run_option, json_option, threshold_option, yes_option
from app.cli.steady_options import steady_options
from app.core.analysis.pair_design import STANDARD, UNTIL, one_look
from app.core.analysis.stats import THRESHOLD_PERCENT
from app.core.analysis.stored_verdicts import stored_comparison
from app.core.benchmark.runner import BenchmarkRequest
from app.core.presentation import change as view
from app.core.presentation import json_schema, json_schema_compare
from app.core.presentation.comparison import NO_PAIR, ab_headings, comparison_table, experiment_ending, shown_lines
from app.core.presentation.comparison_text import interim_text
from app.core.presentation.run import result_line
from app.core.session.event_types import InterimAnalysis, SteadyPlan
from app.core.session.events import AnyEvent, RunEnded, RunStarted
from app.core.session.state import ExperimentRecord, Session
from app.core.workbench import Workbench
from app.features.ab.experiment import run_experiment
from app.features.ab.plan import (
    NULL_PAIRS,
    REST_SECONDS,
    AbPlan,
    known_noise,
    looks_that_detect,
    plan_ab,
    plan_null,
    resumable_experiment,
    with_speed,
)
from app.features.ab.presentation import order_text, plan_json, plan_noise_text, threshold_text
from backends.device_label import DeviceLabel
from backends.errors import InvalidValueError
from backends.text import clean
from backends.values import dataclass

_USUAL = f"{', '.join(str(look.pairs) for look in STANDARD[:-1])} and {STANDARD[-1].pairs}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _AbOptions(AskingOptions):
    """Options of `ab`."""

    target: str
    setting: str | None
    null: bool
    job: JobOptions
    steady: SteadyPlan | None
    on: str | None
    pairs: int | None
    detect: float | None
    until: float | None
    threshold: float | None
    more: str | None
    rest: float | None


@command(
    "ab",
    "raidbench ab md:md0 read_ahead_kb=4096",
    "raidbench ab sda scheduler=mq-deadline --profile randread-4k --pairs 6",
    "raidbench ab --null md:md0",
    cls=GroupedCommand,
)
@click.argument("target")
@click.argument("setting", metavar="[KEY=VALUE]", required=False)
@click.option(
    "--null",
    is_flag=True,
    help=f"Change nothing and measure the noise of the target (default: {NULL_PAIRS} pairs).",
)
@job_options("Section of the job file to run. Required if the file has several.")
@steady_options(early=False)
@click.option("--on", metavar="TARGET", help="Measure this device, file or folder instead of the device of TARGET.")
@click.option(
    "--pairs",
    type=click.IntRange(1, 50),
    metavar="N",
    help="Runs of each value, judged once at the end. Three pairs find only large differences and do not protect "
    f"against periodic load (default: up to 20 pairs, judged after {_USUAL}).",
)
@click.option(
    "--detect",
    type=PERCENT,
    metavar="PERCENT",
    help="Plan enough pairs to find a difference of PERCENT, such as 5%, in four of five experiments. The plan uses "
    "the known scatter of earlier runs of this job on this target.",
)
@click.option(
    "--until",
    type=PERCENT,
    metavar="PERCENT",
    help="Measure until the difference is known to +-PERCENT, such as 1%, with at most 50 pairs.",
)
@threshold_option()
@click.option("--more", metavar="EXPERIMENT", help="Continue a stopped experiment, such as e1.")
@click.option(
    "--rest",
    type=FiniteRange(0, 600),
    metavar="SECONDS",
    help="Minimum idle time before each run (default: 5). A random part of up to a third of a run is added, so that "
    "periodic load does not match the runs.",
)
@dry_run_option
@yes_option
@confirm_option
@json_option
@gather_options(_AbOptions)
def ab_command(options: _AbOptions) -> int:
    """Compare two values of a setting by paired runs.

    The present value of KEY is A and VALUE is B. The order within each pair is random, so drift and order do not look
    like a difference. The old value is restored at the end, also after Ctrl-C or a failure.

    With --null, nothing is set. The differences between equal runs are the noise.
    """
    if options.null is (options.setting is not None):
        raise click.UsageError("Specify KEY=VALUE, or --null to compare the current setting with itself.")
    if not options.dry_run:
        refuse_read_only()
    asked = job_of(options.job, current().load_config(), alone="An A/B experiment uses one job")
    setting = None if options.setting is None else parse_assignments((options.setting,)).popitem()
    looks = _looks(options)

    async def work(bench: Workbench, interruption: Interruption) -> int:
        plan = with_speed(await _plan(bench, options, asked, setting, looks), bench.host)
        return _print_plan(plan, options.as_json) if options.dry_run else await _run(bench, interruption, plan, options)

    return on_workbench(work, dry=options.dry_run, rights=True)


async def _run(bench: Workbench, interruption: Interruption, plan: AbPlan, options: _AbOptions) -> int:
    say_lines(_review(plan))
    for row in await wear_lines(bench, plan.ready, times=2 * plan.pairs):
        say(f"{row}.")
    say()
    typed = _ask_for_confirmation(plan, await bench.hardware.device_label(plan.change.target), options)
    await open_checked_session(bench)
    if interruption.is_requested():
        return INTERRUPTED

    with closing(_PairReporter(bench)), interruption.stop_on_signal(bench.jobs.stop):
        record = await run_experiment(bench, plan, confirm=typed)
    _print_result(bench, record, as_json=options.as_json)
    if interruption.is_requested():
        return INTERRUPTED
    is_complete = record.end is not None and record.end.status.value == "ok" and record.end.restored
    return DONE if is_complete else FAILED


def _looks(options: _AbOptions) -> tuple[InterimAnalysis, ...]:
    """Return the interim analyses that the options choose. The ones for --detect are computed later.

    Raises InvalidValueError when options exclude each other.
    """
    effects = (options.detect, options.until, options.more)
    if sum(option is not None for option in (options.pairs, *effects)) > 1:
        raise InvalidValueError(
            "--pairs, --detect, --until and --more cannot be combined.",
            hint="Choose one of them.",
        )
    if options.null and effects != (None, None, None):
        raise InvalidValueError(
            "--detect cannot be combined with --null.", hint="Set the number of pairs with --pairs."
        )
    if options.threshold is not None and options.more is not None:
        raise InvalidValueError(
            "--threshold cannot be combined with --more: an experiment keeps its threshold.",
            hint="Omit --threshold.",
        )
    if options.null:
        return one_look(options.pairs or NULL_PAIRS)
    if options.until is not None:
        return UNTIL
    return STANDARD if options.pairs is None else one_look(options.pairs)


async def _plan(
    bench: Workbench,
    options: _AbOptions,
    asked: RequestedJob,
    setting: tuple[str, str] | None,
    looks: tuple[InterimAnalysis, ...],
) -> AbPlan:
    target = (await bench.hardware.find(options.target)).target
    change = None if setting is None else await bench.hardware.plan(target, *setting)
    where, shown = await resolve_target(bench, options.on or str(target))
    job = scratch_size(asked.job, [where], current().load_config(), given="size" in options.job.texts)
    request = BenchmarkRequest(
        where=where, name=shown, job=job, profile=asked.profile, steady=options.steady, length_agreed=True
    )
    require_permitted_job(request)
    ready = await bench.jobs.prepare(request)
    least = REST_SECONDS if options.rest is None else options.rest
    rest, noise = least if bench.host.capabilities.live else None, known_noise(bench, ready)
    if change is not None and options.more is not None:
        record, done = resumable_experiment(loaded_session().session, options.more, change, ready)
        return plan_ab(change, ready, rest_seconds=rest, goes_on=record, done=done, noise=noise)
    threshold = THRESHOLD_PERCENT if options.threshold is None else options.threshold
    if change is None:
        pairs = looks[-1].pairs
        return plan_null(target, ready, pairs=pairs, threshold_percent=threshold, rest_seconds=rest, noise=noise)
    return plan_ab(
        change,
        ready,
        looks=looks if options.detect is None else looks_that_detect(noise, options.detect, str(target)),
        noise=noise,
        until_percent=options.until,
        threshold_percent=threshold,
        rest_seconds=rest,
    )


def _review(plan: AbPlan) -> Iterator[str]:
    """Yield the lines of the review before confirmation: job, runs and their duration, commands, and the value that is
    restored.
    """
    change = plan.change
    if plan.null:
        yield (
            f"Null experiment on {change.target}: the current setting is compared with itself, and nothing is changed."
        )
        yield from _measurement_lines(plan)
        return
    yield (
        f"A/B of {change.label} of {change.target}: A is {view.old_text(change)} (current value), B is"
        f" {view.new_text(change)}."
    )
    yield from _measurement_lines(plan)
    yield f"The setting is changed {plan.switches} times and restored to {view.old_text(change)} at the end:"
    yield from step_lines(change.writes)
    yield "To restore it, also after Ctrl-C or a failure:"
    yield from step_lines(change.undo)
    if change.risk_text:
        yield f"While B is set: {clean(change.risk_text, 400)}"


def _measurement_lines(plan: AbPlan) -> Iterator[str]:
    """Yield the job, the number of runs, their duration, and the difference that the pairs can detect."""
    yield (
        f"Target of the runs: {clean(plan.ready.request.name, 300)}: {plan.ready.job.describe()}, fio"
        f" {plan.ready.fio_version}"
    )
    yield f"{order_text(plan)}. {threshold_text(plan)}"
    yield clean(plan_noise_text(plan), 600)
    for note in plan.ready.notes:
        yield f"Note: {clean(note, 600)}"


def _print_plan(plan: AbPlan, as_json: bool) -> int:
    if as_json:
        print_json(dry_run=True, plan=plan_json(plan))
    else:
        lines(_review(plan))
        say("Dry run: nothing was changed or measured.")
    return DONE


def _ask_for_confirmation(plan: AbPlan, plate: DeviceLabel, options: _AbOptions) -> str | None:
    """Ask the user to confirm the change, and the overwriting of a device if the job writes to one. Return the token
    that confirms the job; None if it needs none.
    """
    ready = plan.ready
    # The token that confirms overwriting the device also confirms the change of its setting.
    confirms_job = options.typed is not None and options.typed == ready.confirm_text
    typed = plate.token if confirms_job else options.typed
    confirm.require_confirmation(plan.change.risk, (plate,), yes=options.yes, typed=typed, action="Start")
    return confirm_run(ready, options.typed if ready.destructive else None)


class _PairReporter:
    """Reports the run in progress and the result of the pairs so far on stderr."""

    def __init__(self, bench: Workbench) -> None:
        self._so_far = ""
        self._last = False
        self._follower = RunProgressPrinter(bench, stream=False)
        self._forget = bench.subscribe(self._print_event)

    def _print_event(self, session: Session, event: AnyEvent) -> None:
        match event:
            case RunStarted(mark=mark) if mark is not None:
                record = session.experiment(mark.experiment)
                of = 0 if record is None else record.start.pairs
                self._follower.begin(f"pair {mark.pair} of {of}, {mark.letter}: ")
                self._last = mark.pair == of
            case RunEnded():
                self._follower.end()
                ended = session.run(event.id)
                mark = None if ended is None else ended.start.mark
                if mark is None:
                    return
                say(f"pair {mark.pair} {mark.letter}  {event.id}  {result_line(event.figures)}")
                shown = interim_text(session, mark.experiment)
                if shown and shown != self._so_far and not self._last:
                    say(f"  so far {shown}")
                self._so_far = shown
            case _:
                pass

    def close(self) -> None:
        """Stop receiving events, and end a partial progress line."""
        self._forget()
        self._follower.close()


def _print_result(bench: Workbench, record: ExperimentRecord, *, as_json: bool) -> None:
    comparison = stored_comparison(bench.session, record.id)
    folder = str(bench.folder)
    if as_json:
        runs = [run for run in bench.session.runs if run.start.mark and run.start.mark.experiment == record.id]
        print_json(
            experiment=json_schema_compare.experiment(record, bench.session, comparison, session=folder),
            runs=[json_schema.run(run, session=folder) for run in runs],
        )
    elif comparison is not None:
        lines([*(paint(clean(shown_line, 1000), "bold") for shown_line in shown_lines(record, comparison)), ""])
        lines(table_lines(comparison_table(comparison, *ab_headings(record))))
        if bench.simulated:
            lines(["SIMULATED"])
    if comparison is None:
        say(NO_PAIR)
    for text in experiment_ending(record):
        say(clean(text, 1000))
    say(f"Saved as {record.id} in {clean(str(bench.folder), 300)}")
