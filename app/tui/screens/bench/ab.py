"""A/B of the one staged value: how many pairs, all that will be done, then the runs on the Bench screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from app.engine.ab.experiment import run_experiment
from app.engine.ab.plan import REST_SECONDS, AbPlan, continued, plan_ab
from app.engine.fio.job import Job
from app.engine.fio.profiles import PROFILES, profile
from app.engine.judge.looks import QUICK, STANDARD, UNTIL
from app.engine.measure.measurer import Preparation, Request
from app.engine.session.looks import Look
from app.tui.screens.bench.ab_dialog import ExperimentDialog
from app.tui.screens.bench.ab_lines import ended_line, review
from app.tui.screens.bench.allowing import allowed
from backends.change import Change
from backends.errors import BlockedError, RaidbenchError, RefusedError
from backends.model import Controller
from widgets.choice_list import ChoiceItem
from widgets.confirm import ConfirmDialog
from widgets.plain import units

if TYPE_CHECKING:
    from app.tui.app import WorkbenchApp

UNTIL_PERCENT = 1.0
"""As narrow as the third choice makes the interval."""

_PLANS: dict[str, tuple[tuple[Look, ...], float | None, str]] = {
    "standard": (STANDARD, None, "Ends as soon as it is decided. Finds 2 % where runs scatter by 2 %."),
    "quick": (QUICK, None, "Finds large differences only: some 5 % where runs scatter by 1 %."),
    "exact": (UNTIL, UNTIL_PERCENT, f"Until the difference is known to +-{UNTIL_PERCENT:g} %, whatever it is."),
}
"""Name, looks, width and what it is good for."""


class Experimenting:
    """Asks, then measures. The runs go on whichever screen is in front."""

    def __init__(self, app: WorkbenchApp) -> None:
        self._app = app

    async def begin(self, address: str, key: str, value: str) -> None:
        """Plan, ask, measure, tell; whatever cannot be is told."""
        try:
            plan = await self._planned(address, key, value)
            if plan is not None:
                await self._ask(plan)
        except RaidbenchError as error:
            self._app.tell(error, title="No A/B")

    async def go_on(self, experiment: str) -> bool:
        """The same with the pairs that an experiment's plan has left; whether they are measured."""
        try:
            return await self._ask(await self._left(experiment))
        except RaidbenchError as error:
            self._app.tell(error, title="No more pairs")
            return False

    async def _ask(self, plan: AbPlan) -> bool:
        """Show all that will be done, and begin if that is wanted. Raises RaidbenchError."""
        plate = await self._app.workbench.nameplate(plan.change.target)
        if not await self._app.push_screen_wait(ConfirmDialog(review(plan, plate))):
            return False
        if not await allowed(self._app, plan.ready):
            return False
        device = plan.ready.request
        self._app.measure_device(device.name, device.where)
        self._app.run_worker(self._run(plan), group="bench", exit_on_error=True)
        return True

    async def _left(self, experiment: str) -> AbPlan:
        """What is left of the plan of an experiment of this session, by the job of its runs. Raises RaidbenchError."""
        bench = self._app.workbench
        runs = [run.start for run in bench.session.runs if run.start.mark and run.start.mark.experiment == experiment]
        record = bench.session.experiment(experiment)
        if record is None or not runs:
            raise RefusedError(f"{experiment} is not of this session.", hint="`raidbench ab --more` goes on with it.")
        begun, change = runs[0], await bench.plan(record.start.target, record.start.key, record.start.b)
        where = begun.device if begun.device is not None and not begun.target.startswith("/") else begun.target
        job = Job.from_fields(begun.job)
        request = Request(
            where=where, name=begun.target, job=job, profile=begun.profile, steady=begun.steady, told=True
        )
        ready = await bench.prepare(request)
        record, done = continued(bench.session, experiment, change, ready)
        return plan_ab(change, ready, rest_seconds=self._rest, goes_on=record, done=done)

    async def _planned(self, address: str, key: str, value: str) -> AbPlan | None:
        """The plan with the chosen number of pairs; None if no number was chosen."""
        bench = self._app.workbench
        thing = await bench.find(address)
        if isinstance(thing, Controller) or thing.device is None:
            raise BlockedError(
                f"{address} has no block device to measure.", hint="`raidbench ab --on` measures another."
            )
        change = await bench.plan(thing.target, key, value)
        job, name = self._app.job_choice or (profile(_known(self._app.options.profile)).job, self._app.options.profile)
        ready = await bench.prepare(Request(where=thing.device, name=address, job=job, profile=name, told=True))
        plans = {name: self._plan(change, ready, name) for name in _PLANS}
        dialog = ExperimentDialog("How many pairs", _choices(plans))
        chosen = await self._app.push_screen_wait(dialog)
        return None if chosen is None else replace(plans[chosen], threshold_percent=dialog.threshold)

    def _plan(self, change: Change, ready: Preparation, name: str) -> AbPlan:
        looks, until, _ = _PLANS[name]
        return plan_ab(change, ready, looks=looks, until_percent=until, rest_seconds=self._rest)

    @property
    def _rest(self) -> float:
        """Seconds before each run: nothing simulated comes to rest."""
        return REST_SECONDS if self._app.workbench.host.capabilities.live else 0.0

    async def _run(self, plan: AbPlan) -> None:
        try:
            record = await run_experiment(self._app.workbench, plan, confirm=plan.ready.confirm_text)
        except RaidbenchError as error:
            self._app.tell(error, title="The A/B ended")
            return
        good = record.end is not None and record.end.restored
        self._app.notify(
            ended_line(self._app.session, record),
            title=f"{record.id} is over",
            severity="information" if good else "error",
            timeout=15,
        )
        self._app.refresh_screen()


def begin_staged(app: WorkbenchApp, say: Callable[[str], None]) -> None:
    """Measure the only staged value against the one in force; where there is none, or several, say so."""
    staged = [(target, *each) for target, values in app.staged.items() for each in values.items()]
    if app.workbench.measuring:
        say("A job is running already: x on the Bench screen stops it.")
    elif len(staged) != 1:
        say("Stage exactly one value for an A/B: it is measured against the one in force.")
    else:
        app.run_worker(Experimenting(app).begin(*staged[0]), group="ab", exclusive=True)


def _known(name: str) -> str:
    return name if name in PROFILES else next(iter(PROFILES))


def _choices(plans: Mapping[str, AbPlan]) -> tuple[ChoiceItem, ...]:
    """Each way with the pairs and the time it takes."""
    return tuple(
        ChoiceItem(value=name, label=f"{name}: {_extent(plan)}", help=_PLANS[name][2]) for name, plan in plans.items()
    )


def _extent(plan: AbPlan) -> str:
    """`3 pairs, about 4 min`, `6 to 20 pairs, about 8 to 27 min`."""
    first, last = plan.looks[0].pairs, plan.pairs
    longest = units.duration(plan.seconds)
    if first == last:
        return f"{last} pairs, about {longest}"
    return f"{first} to {last} pairs, about {units.duration(plan.seconds_of(first))} to {longest}"
