"""A/B of the one staged value: how many pairs, all that will be done, then the runs on the Bench screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.engine.ab.experiment import run_experiment
from app.engine.ab.plan import AbPlan, plan_ab
from app.engine.fio.profiles import PROFILES, profile
from app.engine.judge.stats import CAREFUL_PAIRS, QUICK_PAIRS, STANDARD_PAIRS
from app.engine.measure.measurer import Preparation, Request
from app.tui.screens.bench.ab_lines import ended_line, review
from app.tui.screens.bench.allowing import allowed
from backends.change import Change
from backends.errors import BlockedError, RaidbenchError
from backends.model import Controller
from widgets.choice_list import ChoiceDialog, ChoiceItem
from widgets.confirm import ConfirmDialog
from widgets.plain import units

if TYPE_CHECKING:
    from app.tui.app import WorkbenchApp

_PAIRS = (
    (STANDARD_PAIRS, "standard", "Finds 2 % where runs scatter by 1 %."),
    (QUICK_PAIRS, "quick", "Finds large differences only: some 5 % where runs scatter by 1 %."),
    (CAREFUL_PAIRS, "careful", "Finds 1.3 % where runs scatter by 1 %."),
)
"""Number, name and what it is good for."""


class Experimenting:
    """Asks, then measures. The runs go on whichever screen is in front."""

    def __init__(self, app: WorkbenchApp) -> None:
        self._app = app

    async def begin(self, address: str, key: str, value: str) -> None:
        """Plan, ask, measure, tell; whatever cannot be is told."""
        try:
            plan = await self._planned(address, key, value)
            if plan is None:
                return
            if not await self._app.push_screen_wait(ConfirmDialog(review(plan))):
                return
            if not await allowed(self._app, plan.ready):
                return
        except RaidbenchError as error:
            self._app.tell(error, title="No A/B")
            return
        device = plan.ready.request
        self._app.measure_device(device.name, device.where)
        self._app.run_worker(self._run(plan), group="bench", exit_on_error=True)

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
        ready = await bench.prepare(Request(where=thing.device, name=address, job=job, profile=name))
        first = self._plan(change, ready, STANDARD_PAIRS)
        pairs = await self._app.push_screen_wait(ChoiceDialog("How many pairs", _choices(first)))
        return None if pairs is None else self._plan(change, ready, int(pairs))

    def _plan(self, change: Change, ready: Preparation, pairs: int) -> AbPlan:
        if not self._app.workbench.host.capabilities.live:  # nothing there comes to rest
            return plan_ab(change, ready, pairs=pairs, rest_seconds=0.0)
        return plan_ab(change, ready, pairs=pairs)

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


def _known(name: str) -> str:
    return name if name in PROFILES else next(iter(PROFILES))


def _choices(plan: AbPlan) -> tuple[ChoiceItem, ...]:
    """Quick, standard and careful, each with its time."""
    of_a_pair = plan.seconds / plan.pairs
    return tuple(
        ChoiceItem(
            value=str(pairs),
            label=f"{name}: {pairs} pairs, about {units.duration(pairs * of_a_pair)}",
            help=f"{help} The order is ABBA, so that a drift falls on both alike.",
        )
        for pairs, name, help in _PAIRS
    )
