"""A/B experiment on a single staged value in the TUI: the dialogs before it, and the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from app.core.analysis.pair_design import QUICK, STANDARD, UNTIL
from app.core.analysis.sample_groups import pairs_of
from app.core.analysis.stats import THRESHOLD_PERCENT
from app.core.benchmark.runner import BenchmarkRequest
from app.core.fio.job import Job
from app.core.fio.profiles import PROFILES, profile
from app.core.presentation import change as view
from app.core.presentation.percent import parse_threshold
from app.core.presentation.risk_text import effect_text
from app.core.session.event_types import InterimAnalysis
from app.core.session.state import ExperimentRecord
from app.features.ab.experiment import run_experiment
from app.features.ab.plan import REST_SECONDS, AbPlan, known_noise, plan_ab, resumable_experiment, with_speed
from app.features.ab.presentation import order_text, plan_noise_text, threshold_text
from app.tui.bench.summary import ended_line
from app.tui.bench.write_confirmation import confirm_run
from app.tui.devices.staged_changes import confirmation
from backends.device_label import DeviceLabel
from backends.errors import BlockedError, RaidbenchError, RefusedError
from backends.model import Controller
from widgets.choice_list import ChoiceDialog, ChoiceItem
from widgets.confirm import Confirmation, ConfirmDialog, PlannedChange
from widgets.keyed_table import KeyedTable
from widgets.text_field import TextField
from widgets.text_panel import TextParagraphs
from widgets.text_utils import units

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface


def plan_lines(plan: AbPlan) -> tuple[str, str]:
    """Return two strings: one about the job and its target, and one about the number and duration of the runs."""
    count = f"{order_text(plan)}. {threshold_text(plan)} {plan_noise_text(plan)}"
    return f"{plan.ready.job.describe()} on {plan.ready.request.name}", count


def review(plan: AbPlan, plate: DeviceLabel) -> Confirmation:
    """Return the confirmation dialog, with the commands that set B and restore A, and the runs with their duration."""
    change = plan.change
    dialog = confirmation((change,), {change.target: plate}, title=f"A/B: {change.label} of {change.target}")
    job, count = plan_lines(plan)
    times = (
        f"The setting is changed {plan.switches} times and restored to {view.old_text(change)} at the end, also"
        " after x or a failure."
    )
    undo_commands = tuple(tuple(step.argv) if step.path is None else step.shown() for step in change.undo)
    return Confirmation(
        title=dialog.title,
        tier=dialog.tier,
        devices=dialog.devices,
        summary=f"{job}\n{count} {times}",
        changes=(
            PlannedChange(
                setting=change.label,
                before=f"A {view.old_text(change)}",
                after=f"B {view.new_text(change)}",
                effect=effect_text(change.effect, change.target.scope),
                undo="automatic at the end",
            ),
        ),
        commands=(*dialog.commands, *undo_commands),
        risks=(*dialog.risks, *plan.ready.notes),
        apply_label="Start",
    )


# -- dialog before an A/B: number of pairs, and threshold -------------------------------------------------------------


class ExperimentDialog(ChoiceDialog):
    """Dialog in which the user chooses a plan by name, and enters the threshold, which is then in `threshold`."""

    DEFAULT_CSS = """
    ExperimentDialog {
        & .threshold { height: 1; width: 72; max-width: 100%; margin-top: 1; }
        & .threshold Static { width: auto; }
        & .threshold Input { width: 8; }
        & .complaint { height: 1; width: 72; max-width: 100%; }
    }
    """

    threshold = THRESHOLD_PERCENT
    """The entered threshold in percent; it is only valid once a plan is chosen."""

    async def on_mount(self) -> None:  # type: ignore[override]  # Textual also accepts a coroutine
        """Add the threshold field after the rest of the dialog; no key is handled before that."""
        super().on_mount()
        field = Horizontal(
            Static("No difference within +- "),
            TextField(f"{THRESHOLD_PERCENT:g}", id="threshold", compact=True),
            Static(" %"),
            classes="threshold",
        )
        dialog = self.query_one(".dialog", Vertical)
        await dialog.mount(field, TextParagraphs("", "bad", classes="complaint"), before=".dialog-keys")
        self.query_one(".dialog-keys", Static).update(
            Content("enter chooses   tab goes to the threshold   esc cancels")
        )

    @on(Input.Changed, "#threshold")
    def _changed(self) -> None:
        self._take_field()

    @on(Input.Submitted, "#threshold")
    def _submitted(self) -> None:
        table = self.query_one(KeyedTable)
        if table.cursor is not None:
            self.take(table.cursor)

    def take(self, value: str) -> None:
        """Accept the choice `value` only if the entered threshold is valid."""
        if self._take_field():
            self.query_one("#threshold", Input).focus()
        else:
            super().take(value)

    def _take_field(self) -> str:
        """Read the threshold field into `threshold`. If its content is not valid, show and return the reason, else
        return "".
        """
        reason = ""
        try:
            self.threshold = parse_threshold(self.query_one("#threshold", Input).value)
        except ValueError as error:
            reason = str(error)
        self.query_one(".complaint", TextParagraphs).say(f"Invalid value: {reason}" if reason else "", "bad")
        return reason


# -- A/B of the only staged value: choose the pairs, confirm, and run on the Bench screen -----------------------------

UNTIL_PERCENT = 1.0
"""With the plan `exact`, the experiment ends when its interval extends at most so many percent to either side."""

_PLANS: dict[str, tuple[tuple[InterimAnalysis, ...], float | None, str]] = {
    "standard": (STANDARD, None, "Ends as soon as there is a verdict. Finds 2 % at a run-to-run noise of 2 %."),
    "quick": (QUICK, None, "Finds only large differences: about 5 % at a run-to-run noise of 1 %."),
    "exact": (UNTIL, UNTIL_PERCENT, f"Runs until the difference is known to +-{UNTIL_PERCENT:g} %."),
}
"""Choices of a plan by name: interim analyses, `until_percent` (half the width of the interval), and help text."""


async def _begin(app: AppInterface, address: str, key: str, value: str) -> None:
    """Plan an experiment, ask for confirmation, and start it; show any error."""
    try:
        plan = await _choose_plan(app, address, key, value)
        if plan is not None:
            await _ask(app, plan)
    except RaidbenchError as error:
        app.show_error(error, title="Cannot start the A/B experiment")


async def go_on(app: AppInterface, experiment: str) -> bool:
    """Continue an experiment with its remaining pairs; return whether the measurement was started."""
    try:
        return await _ask(app, await _remaining_plan(app, experiment))
    except RaidbenchError as error:
        app.show_error(error, title="Cannot continue the experiment")
        return False


async def _ask(app: AppInterface, plan: AbPlan) -> bool:
    """Show the plan, and start the experiment if the user confirms; return whether it was started. Raises
    RaidbenchError when it cannot be started.
    """
    plate = await app.workbench.hardware.device_label(plan.change.target)
    if not await app.push_screen_wait(ConfirmDialog(review(plan, plate))):
        return False
    if not await confirm_run(app, plan.ready):
        return False
    device = plan.ready.request
    app.measure_device(device.name, device.where)
    app.run_worker(_run(app, plan), group="bench", exit_on_error=True)
    return True


async def _remaining_plan(app: AppInterface, experiment: str) -> AbPlan:
    """Return the plan for the remaining pairs of an experiment, with the same job as its earlier runs.

    Raises RaidbenchError if nothing remains.
    """
    bench = app.workbench
    runs = [run.start for run in bench.session.runs if run.start.mark and run.start.mark.experiment == experiment]
    record = bench.session.experiment(experiment)
    if record is None or not runs:
        raise RefusedError(f"{experiment} is not in this session.", hint="Continue it with `raidbench ab --more`.")
    first, change = runs[0], await bench.hardware.plan(record.start.target, record.start.key, record.start.b)
    where = first.device if first.device is not None and not first.target.startswith("/") else first.target
    job = Job.from_fields(first.job)
    request = BenchmarkRequest(
        where=where,
        name=first.target,
        job=job,
        profile=first.profile,
        steady=first.steady,
        length_agreed=True,
    )
    ready = await bench.jobs.prepare(request)
    record, done = resumable_experiment(bench.session, experiment, change, ready)
    noise = known_noise(bench, ready)
    plan = plan_ab(change, ready, rest_seconds=_rest_of(app), goes_on=record, done=done, noise=noise)
    return with_speed(plan, bench.host)


async def _choose_plan(app: AppInterface, address: str, key: str, value: str) -> AbPlan | None:
    """Return the plan with the chosen number of pairs; None if the dialog was closed."""
    bench = app.workbench
    device = await bench.hardware.find(address)
    if isinstance(device, Controller) or device.device is None:
        raise BlockedError(
            f"{address} has no block device to measure.", hint="Measure another device with `raidbench ab --on`."
        )
    change = await bench.hardware.plan(device.target, key, value)
    name = app.options.profile
    known_name = name if name in PROFILES else next(iter(PROFILES))
    job, profile_name = app.job_choice or (profile(known_name).job, name)
    if job.sections:
        raise BlockedError(
            f"An A/B experiment uses one section, but the job on the Bench screen has {len(job.sections)}.",
            hint="Press <bench.open>, open the job file again, and choose one section.",
        )
    ready = await bench.jobs.prepare(
        BenchmarkRequest(where=device.device, name=address, job=job, profile=profile_name, length_agreed=True)
    )
    noise = known_noise(bench, ready)
    rest = _rest_of(app)
    plans = {
        name: with_speed(
            plan_ab(change, ready, looks=looks, until_percent=until, rest_seconds=rest, noise=noise), bench.host
        )
        for name, (looks, until, _) in _PLANS.items()
    }
    choices = (
        ChoiceItem(value=name, label=f"{name}: {_extent(plan)}", help=_help(name, plan)) for name, plan in plans.items()
    )
    dialog = ExperimentDialog("Number of pairs", tuple(choices))
    chosen = await app.push_screen_wait(dialog)
    return None if chosen is None else replace(plans[chosen], threshold_percent=dialog.threshold)


def _rest_of(app: AppInterface) -> float | None:
    """Return the minimum idle time in seconds before each run; None for simulated hosts, which need no rest."""
    return REST_SECONDS if app.workbench.host.capabilities.live else None


async def _run(app: AppInterface, plan: AbPlan) -> None:
    try:
        record = await run_experiment(app.workbench, plan, confirm=plan.ready.confirm_text)
    except RaidbenchError as error:
        app.show_error(error, title="The A/B experiment ended")
        return
    is_restored = record.end is not None and record.end.restored
    app.notify(
        ended_line(app.session, record, brief=True),
        title=f"{record.id} has ended",
        severity="information" if is_restored else "error",
        timeout=15,
    )
    app.refresh_screen()
    _show_picture(app, record)


def _show_picture(app: AppInterface, record: ExperimentRecord) -> None:
    """Show graphs that compare A and B if the Bench screen is open and at least one pair is complete."""
    folder, session = app.workbench.folder, app.session
    if folder is None or getattr(app.front, "NAME", "") != "bench" or not pairs_of(session, record.id).a:
        return
    app.do("plots.explore", session=session, folder=folder, first=record.id)


def begin_staged(app: AppInterface, say: Callable[[str], None]) -> None:
    """Start an A/B experiment of the staged value against the effective one.

    Show a message unless exactly one value is staged.
    """
    staged = [(target, *assignment) for target, values in app.staged.items() for assignment in values.items()]
    if app.workbench.jobs.running:
        say("A job is already running. To stop it, press <bench.jobs.stop> on the Bench screen.")
    elif len(staged) != 1:
        say("Stage exactly one value for an A/B experiment. It is compared with the current value.")
    else:
        app.hold_keys(app.run_worker(_begin(app, *staged[0]), group="ab", exclusive=True))


def _help(name: str, plan: AbPlan) -> str:
    """Return the help text of a plan: its purpose and, if the noise of its target is known, the difference that the
    plan detects.
    """
    if plan.noise is None or plan.until_percent is not None:
        return _PLANS[name][2]
    look, percent = plan.sights[-1]
    return f"{_PLANS[name][2].partition('.')[0]}. Here, {look.pairs} pairs detect {percent:.1f} % and more."


def _extent(plan: AbPlan) -> str:
    """Return a string such as `3 pairs, about 4 min` or `6 to 20 pairs, about 8 to 27 min`, in real time."""
    first, last = plan.looks[0].pairs, plan.pairs
    shortest, longest = (
        units.duration(max(1, round(plan.seconds_of(pairs) / (plan.speed or 1.0)))) for pairs in (first, last)
    )
    if first == last:
        return f"{last} pairs, about {longest}"
    return f"{first} to {last} pairs, about {shortest} to {longest}"
