"""`ab`: one setting as it is against another value, in pairs of runs, and put back at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click

from app.cli import confirm
from app.cli.bench import allowed, job_options, not_read_only, scratch_size, wear_lines
from app.cli.bench_job import job_of, section_option
from app.cli.bench_live import RunTeller
from app.cli.bench_target import resolve
from app.cli.change import pairs as pairs_of_words
from app.cli.confirm import steps
from app.cli.grouping import GroupedCommand
from app.cli.opening import begin_measuring, loaded_session, refuse_read_only, workbench
from app.cli.options import CONFIRM_HELP, PERCENT, FiniteRange, current
from app.cli.output import document, lines, paint, say
from app.cli.render import table_lines
from app.cli.running import Interruption, run
from app.cli.status import DONE, FAILED, INTERRUPTED
from app.cli.steady import steady_options
from app.engine.ab.experiment import run_experiment
from app.engine.ab.plan import (
    NULL_PAIRS,
    REST_SECONDS,
    AbPlan,
    continued,
    known_noise,
    looks_that_detect,
    plan_ab,
    plan_null,
)
from app.engine.fio.job import Job
from app.engine.judge.pairs import STANDARD, UNTIL, one_look
from app.engine.judge.recorded import shown_experiment
from app.engine.judge.stats import THRESHOLD_PERCENT
from app.engine.measure.measurer import Request
from app.engine.session.event_values import Look, SteadyPlan
from app.engine.session.events import AnyEvent, RunEnded, RunStarted
from app.engine.session.state import ExperimentRecord, Session
from app.engine.view import change as view
from app.engine.view import schema, schema_compare
from app.engine.view.ab_plan import order_words, plan_json, plan_noise_words, threshold_words
from app.engine.view.comparison import (
    NO_PAIR,
    ab_headings,
    comparison_table,
    experiment_ending,
    shown_lines,
)
from app.engine.view.comparison_words import so_far
from app.engine.view.run import result_line
from app.engine.workbench import Workbench
from backends.errors import InvalidValueError
from backends.nameplate import Nameplate
from backends.text import clean
from backends.values import dataclass

_USUAL = f"{', '.join(str(look.pairs) for look in STANDARD[:-1])} and {STANDARD[-1].pairs}"

HURRY = 30.0
"""How many times as fast the simulated rack's time runs: there is no disk to wait for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """What the options of `ab` ask for."""

    target: str
    key: str
    """"" to measure the same against itself."""
    value: str
    on: str | None
    job: Job
    profile: str | None
    sized: bool
    looks: tuple[Look, ...]
    detect: float | None
    until: float | None
    threshold: float
    more: str | None
    rest: float
    steady: SteadyPlan | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _AbOptions:
    """How it is asked about and told."""

    dry_run: bool
    yes: bool
    typed: str | None
    as_json: bool


@click.command("ab", cls=GroupedCommand)
@click.argument("target")
@click.argument("setting", metavar="[KEY=VALUE]", required=False)
@click.option(
    "--null",
    is_flag=True,
    help=f"Set nothing: the same against itself, {NULL_PAIRS} pairs unless named; tells how far runs lie apart.",
)
@click.option("--profile", metavar="NAME", help="A workload by name; `raidbench profiles` lists them.")
@click.option(
    "--jobfile", type=click.Path(path_type=Path), metavar="FILE", help="A fio job file; its target is ignored."
)
@section_option("The section of the job file that is measured: alone, without the others. Needed where it has several.")
@job_options
@steady_options(early=False)
@click.option("--on", metavar="TARGET", help="Measure this device, file or folder instead of TARGET's own device.")
@click.option(
    "--pairs",
    type=click.IntRange(1, 50),
    metavar="N",
    help="So many runs of each value, judged once, at the end: 3 find large differences only, and do not protect from "
    f"what comes back at intervals. Unless named, up to 20 pairs are measured and judged after {_USUAL}.",
)
@click.option(
    "--detect",
    type=PERCENT,
    metavar="PERCENT",
    help="As many pairs as find an effect of PERCENT, such as 5%, four times of five, by what runs of this job on this "
    "target are known to scatter by.",
)
@click.option(
    "--until",
    type=PERCENT,
    metavar="PERCENT",
    help="Measure until the difference is known to +-PERCENT, such as 1%, whatever it is; 50 pairs at most.",
)
@click.option(
    "--threshold",
    type=PERCENT,
    metavar="PERCENT",
    help=f"A difference within +-PERCENT is none, {THRESHOLD_PERCENT:g}% if not named.",
)
@click.option("--more", metavar="EXPERIMENT", help="Go on with a stopped experiment, such as e1, by its plan.")
@click.option(
    "--rest",
    type=FiniteRange(0, 600),
    metavar="SECONDS",
    help="Idle time before each run, at least; 5 if not named. Up to a third of a run more is drawn, so that what "
    "comes back at intervals keeps no step with the runs.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be done; needs no root.")
@click.option("--yes", is_flag=True, help="Do not ask about what is harmless.")
@click.option("--confirm", "typed", metavar="WORD", help=CONFIRM_HELP)
@click.option("--json", "as_json", is_flag=True, help="The outcome as JSON.")
def ab_command(
    target: str,
    setting: str | None,
    null: bool,
    profile: str | None,
    jobfile: Path | None,
    section: str | None,
    on: str | None,
    pairs: int | None,
    detect: float | None,
    until: float | None,
    threshold: float | None,
    more: str | None,
    rest: float | None,
    dry_run: bool,
    yes: bool,
    typed: str | None,
    as_json: bool,
    steady: SteadyPlan | None,
    **fields: str | None,
) -> int:
    """Measure a setting of TARGET as it is against VALUE, and say which is faster.

    Runs are made in pairs; which value comes first in each is drawn, so that neither drift nor order passes for a
    difference. The setting is put back at the end, also after Ctrl-C or a failure.

    With --null nothing is set: what the same against itself differs by is the noise, and says what pairs can show.
    """
    if null is (setting is not None):
        raise click.UsageError("Name KEY=VALUE, or --null to measure the same against itself.")
    if not dry_run:
        refuse_read_only()
    texts = {key.removeprefix("job_"): text for key, text in fields.items() if text is not None}
    job, name, _ = job_of(
        texts,
        profile=profile,
        jobfile=jobfile,
        config=current().load_config(),
        section=section,
        alone="An A/B judges one job",
    )
    ((key, wanted),) = (("", ""),) if setting is None else pairs_of_words((setting,))
    wish = _Wish(
        target=target,
        key=key,
        value=wanted,
        on=on,
        job=job,
        profile=name,
        sized="size" in texts,
        looks=_looks(pairs, detect, until, more, null=null),
        detect=detect,
        until=until,
        threshold=_threshold(threshold, more),
        more=more,
        rest=REST_SECONDS if rest is None else rest,
        steady=steady,
    )
    how = _AbOptions(dry_run=dry_run, yes=yes, typed=typed, as_json=as_json)
    with workbench(dry=dry_run, hurry=HURRY, rights=True) as bench:
        return run(lambda interruption: _ab(bench, interruption, wish, how))


async def _ab(bench: Workbench, interruption: Interruption, wish: _Wish, how: _AbOptions) -> int:
    plan = await _planned(bench, wish)
    if how.dry_run:
        _show(plan, how.as_json)
        return DONE
    for row in _review(plan):
        say(row)
    for row in await wear_lines(bench, plan.ready, times=2 * plan.pairs):
        say(f"{row}.")
    say()
    typed = _ask(plan, await bench.hardware.nameplate(plan.change.target), how)
    await begin_measuring(bench)
    if interruption.asked():
        return INTERRUPTED

    with closing(_Teller(bench)) as teller, interruption.gracefully(bench.jobs.stop):
        try:
            record = await run_experiment(bench, plan, confirm=typed)
        finally:
            teller.end()
    _tell(bench, record, as_json=how.as_json)
    if interruption.asked():
        return INTERRUPTED
    whole = record.end is not None and record.end.status.value == "ok" and record.end.restored
    return DONE if whole else FAILED


def _looks(
    pairs: int | None, detect: float | None, until: float | None, more: str | None, *, null: bool
) -> tuple[Look, ...]:
    """When it is judged; of an effect to detect, when its plan is made. Raises InvalidValueError."""
    if sum(option is not None for option in (pairs, detect, until, more)) > 1:
        raise InvalidValueError(
            "--pairs, --detect, --until and --more exclude each other.",
            hint="Name the one that is to end the experiment.",
        )
    if null:
        if detect is not None or until is not None or more is not None:
            raise InvalidValueError(
                "--null has no effect to look for.", hint="--pairs says how many pairs it measures."
            )
        return one_look(pairs or NULL_PAIRS)
    if until is not None:
        return UNTIL
    return STANDARD if pairs is None else one_look(pairs)


def _threshold(named: float | None, more: str | None) -> float:
    """Raises InvalidValueError where an experiment goes on that has its own."""
    if named is not None and more is not None:
        raise InvalidValueError(
            "--threshold and --more exclude each other: an experiment keeps the threshold it began with.",
            hint="Leave --threshold out.",
        )
    return THRESHOLD_PERCENT if named is None else named


async def _planned(bench: Workbench, wish: _Wish) -> AbPlan:
    thing = await bench.hardware.find(wish.target)
    change = await bench.hardware.plan(thing.target, wish.key, wish.value) if wish.key else None
    where, shown = await resolve(bench, wish.on or str(thing.target))
    job = scratch_size(wish.job, [where], current().load_config(), given=wish.sized)
    request = Request(where=where, name=shown, job=job, profile=wish.profile, steady=wish.steady, told=True)
    not_read_only(request)
    ready = await bench.jobs.prepare(request)
    rest = wish.rest if bench.host.capabilities.live else None
    noise = known_noise(bench, ready)
    if change is None:
        pairs = wish.looks[-1].pairs
        return plan_null(
            thing.target, ready, pairs=pairs, threshold_percent=wish.threshold, rest_seconds=rest, noise=noise
        )
    if wish.more is None:
        looks = wish.looks if wish.detect is None else looks_that_detect(noise, wish.detect, str(thing.target))
        return plan_ab(
            change,
            ready,
            looks=looks,
            noise=noise,
            until_percent=wish.until,
            threshold_percent=wish.threshold,
            rest_seconds=rest,
        )
    record, done = continued(loaded_session().session, wish.more, change, ready)
    return plan_ab(change, ready, rest_seconds=rest, goes_on=record, done=done, noise=noise)


def _review(plan: AbPlan) -> Iterator[str]:
    """What is done, how often and for how long; the commands; what is restored."""
    change = plan.change
    if plan.null:
        yield f"The same against itself on {change.target}: nothing is set."
        yield from _measured(plan)
        return
    yield f"A/B of {change.label} of {change.target}: A is {view.before(change)} as now, B is {view.after(change)}."
    yield from _measured(plan)
    yield f"The setting is changed {plan.switches} times; at the end it is {view.before(change)} again:"
    yield from steps(change.writes)
    yield "and back, also after Ctrl-C or a failure:"
    yield from steps(change.undo)
    if change.risk_text:
        yield f"While it is B: {clean(change.risk_text, 400)}"


def _measured(plan: AbPlan) -> Iterator[str]:
    """The job, how often and for how long, and what so many pairs can show."""
    yield f"Measured: {clean(plan.ready.request.name, 300)}: {plan.ready.job.describe()}, fio {plan.ready.fio_version}"
    yield f"{order_words(plan)}{_of_the_rack()}. {threshold_words(plan)}"
    yield clean(plan_noise_words(plan), 600)
    for note in plan.ready.notes:
        yield f"Note: {clean(note, 600)}"


def _of_the_rack() -> str:
    options = current()
    speed = options.demo_speed or HURRY
    return f" of the rack's time, which runs {speed:g} times as fast" if options.demo and speed != 1 else ""


def _show(plan: AbPlan, as_json: bool) -> None:
    if as_json:
        document(schema.document(dry_run=True, plan=plan_json(plan)))
        return
    lines(_review(plan))
    say("Dry run: nothing was changed and nothing measured.")


def _ask(plan: AbPlan, plate: Nameplate, how: _AbOptions) -> str | None:
    """What confirms the job, after both questions: of the setting, and of a device that is overwritten."""
    ready = plan.ready
    both = how.typed is not None and how.typed == ready.confirm_text  # who means the device means its settings
    confirm.confirmed(plan.change.risk, (plate,), yes=how.yes, typed=plate.word if both else how.typed, what="Begin")
    return allowed(ready, how.typed if ready.destructive else None)


class _Teller:
    """Says on standard error which run of which pair goes on, and what the pairs show so far."""

    def __init__(self, bench: Workbench) -> None:
        self._so_far = ""
        self._last = False
        self._follower = RunTeller(bench, stream=False)
        self._forget = bench.listen(self._heard)

    def _heard(self, session: Session, event: AnyEvent) -> None:
        match event:
            case RunStarted(mark=mark) if mark is not None:
                record = session.experiment(mark.experiment)
                of = 0 if record is None else record.start.pairs
                self._follower.begin_as(f"pair {mark.pair} of {of}, {mark.letter}: ")
                self._last = mark.pair == of
            case RunEnded():
                self._follower.end()
                ended = session.run(event.id)
                mark = None if ended is None else ended.start.mark
                if mark is None:
                    return
                say(f"pair {mark.pair} {mark.letter}  {event.id}  {result_line(event.figures)}")
                shown = so_far(session, mark.experiment)
                if shown and shown != self._so_far and not self._last:
                    say(f"  so far {shown}")
                self._so_far = shown
            case _:
                pass

    def end(self) -> None:
        """Leave no half line behind."""
        self._follower.end()

    def close(self) -> None:
        """Stop listening."""
        self._forget()
        self._follower.close()


def _tell(bench: Workbench, record: ExperimentRecord, *, as_json: bool) -> None:
    comparison = shown_experiment(bench.session, record.id)
    folder = str(bench.folder)
    if as_json:
        runs = [each for each in bench.session.runs if each.start.mark and each.start.mark.experiment == record.id]
        document(
            schema.document(
                experiment=schema_compare.experiment(record, bench.session, comparison, session=folder),
                runs=[schema.run(each, session=folder) for each in runs],
            )
        )
    elif comparison is not None:
        lines([*(paint(clean(told, 1000), "bold") for told in shown_lines(record, comparison)), ""])
        lines(table_lines(comparison_table(comparison, *ab_headings(record))))
        if bench.simulated:
            lines(["SIMULATED"])
    if comparison is None:
        say(NO_PAIR)
    for told in experiment_ending(record):
        say(clean(told, 1000))
    say(f"Kept as {record.id} in {clean(str(bench.folder), 300)}")
