"""What a sweep is to measure, as it is chosen in dialogs: target, job, a plan of a file. Holds it, draws nothing."""

from __future__ import annotations

import os
import random
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual.containers import Horizontal

from app.core.fio.job import Job
from app.core.fio.profiles import PROFILES, profile
from app.features.sweep.engine.builtin_plans import plan_files
from app.features.sweep.engine.plan import PlanError, SweepPlan
from app.features.sweep.engine.plan_file import load_plan, parse_plan
from app.features.sweep.screen.draft import Draft, DraftAxis, plan_text
from app.tui import target_choices
from app.tui.bench.job_form import JobForm
from backends.errors import RaidbenchError
from backends.model import Inventory
from backends.text import clean
from widgets.choice_list import ChoiceDialog, ChoiceItem
from widgets.field_dialog import TextDialog

if TYPE_CHECKING:
    from app.tui.app_interface import AppInterface


# -- what may be chosen, as rows of a dialog ---------------------------------------------------------------------------


def target_items(inventory: Inventory, *, controllers: bool) -> tuple[ChoiceItem, ...]:
    """A scratch file, whose value is "", then everything with a block device; controllers where a plan names them."""
    choices = [ChoiceItem(value="", label="scratch file", help="Made for the runs and removed afterwards: safe.")]
    choices += target_choices.target_items(inventory)
    if controllers:
        choices += [
            ChoiceItem(
                value=str(controller.target),
                label=f"{controller.target} {controller.model or ''}".rstrip(),
                help="A controller.",
            )
            for controller in inventory.controllers
        ]
    return tuple(choices)


def plan_items() -> tuple[ChoiceItem, ...]:
    """A file, whose value is "", then the plans that come with raidbench."""
    choices = [ChoiceItem(value="", label="a file ...", help="A plan in TOML: docs/sweep.md describes it.")]
    for name, file in plan_files().items():
        plan = load_plan(str(file))
        choices.append(ChoiceItem(value=name, label=f"{name}: {plan.title}", help=plan.about))
    return tuple(choices)


def workload_items() -> tuple[ChoiceItem, ...]:
    """The built-in workloads."""
    return tuple(
        ChoiceItem(
            value=profile.name, label=profile.title, help=profile.help, risk="writes" if profile.job.writes else ""
        )
        for profile in PROFILES.values()
    )


# -- what was chosen ---------------------------------------------------------------------------------------------------


class PlanChoices(Horizontal):
    """The plan as it stands, and the questions that change it. A subclass shows it."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.seed = random.SystemRandom().randrange(2**31)
        """Decides the random orders of the next sweep, unless its plan does."""
        self.draft: Draft | None = None
        """What is ticked; None until something that could be measured was found."""
        self.file: SweepPlan | None = None
        """The plan that was opened; None while one is ticked."""
        self.named: dict[str, str] = {}
        """Targets of an opened plan by role, as far as they were named here."""
        self.axes: tuple[DraftAxis, ...] = ()
        """What may be ticked."""

    def replan(self) -> None:
        """Bring what is shown up to date: what a subclass does."""
        raise NotImplementedError

    @property
    def workbench_app(self) -> AppInterface:
        """The app, as what it is."""
        return cast("AppInterface", self.app)

    @property
    def ready(self) -> bool:
        """Whether there is anything to compare."""
        return self.file is not None or (self.draft is not None and self.draft.varies)

    def plan(self) -> SweepPlan:
        """The plan as it stands. Raises PlanError."""
        if self.file is not None:
            return self.file
        assert self.draft is not None
        return parse_plan(plan_text(self.draft, self.axes).encode(), "the plan")

    @property
    def chosen_seed(self) -> int:
        """That of the plan, else one that was drawn."""
        return self.file.seed if self.file is not None and self.file.seed is not None else self.seed

    def say(self, message: str, *, severity: str = "information", title: str = "") -> None:
        """A word to the person."""
        self.workbench_app.notify(message, title=title, severity=severity)  # type: ignore[arg-type]

    def choose_profile(self) -> None:
        """Choose the workload that the axes vary."""
        if self.file is not None or self.draft is None:
            return

        def chosen(name: str | None) -> None:
            if name is not None:
                self._take_job(profile(name).job, name)

        self.workbench_app.push_screen(ChoiceDialog("Workload", workload_items(), self.draft.profile), chosen)

    def edit(self) -> None:
        """Change the fields of the job that the axes vary."""
        if self.file is not None or self.draft is None:
            return
        before = self.draft.job

        def edited(job: Job | None) -> None:
            if job is not None and job != before:
                self._take_job(job, None)

        self.workbench_app.push_screen(JobForm(before), edited)

    def _take_job(self, job: Job, name: str | None) -> None:
        draft = self.draft
        assert draft is not None
        self.draft = replace(draft, job=job, profile=name)
        self.replan()

    def choose_target(self) -> None:
        """Choose what is measured."""
        self.choose_target_of(self.file.measure if self.file is not None else "")

    def choose_target_of(self, role: str) -> None:
        """Choose what a role of the plan is; "" for what is measured."""
        now = self.named.get(role, "") if self.file is not None else (self.draft.address if self.draft else "")
        choices = target_items(self.workbench_app.session.inventory, controllers=bool(role))
        title = f"Target {role}" if role else "What to measure"

        def chosen(address: str | None) -> None:
            if address == "":
                start = self.workbench_app.options.scratch
                help = "A folder, or a file that does not exist yet."
                self.workbench_app.push_screen(
                    TextDialog("Scratch file", start, help=help), lambda path: self._take(role, path)
                )
            else:
                self._take(role, address)

        self.workbench_app.push_screen(ChoiceDialog(title, choices, now), chosen)

    def _take(self, role: str, address: str | None) -> None:
        if not address or self.draft is None:
            return
        if ":" not in address:
            address = os.path.abspath(os.path.expanduser(address))
        if self.file is not None:
            self.named[role] = address
        else:
            kept = {key: values for key, values in self.draft.ticked.items() if key.startswith(("job:", "measure:"))}
            self.draft = Draft(address=address, job=self.draft.job, profile=self.draft.profile, ticked=kept)
        self.replan()

    def open_plan(self) -> None:
        """Take a plan that comes with raidbench, or one of a file."""

        def chosen(name: str | None) -> None:
            if name == "":
                self.workbench_app.push_screen(TextDialog("Plan file", help="A TOML file."), self._open)
            else:
                self._open(name)

        self.workbench_app.push_screen(ChoiceDialog("Open a plan", plan_items()), chosen)

    def _open(self, name: str | None) -> None:
        if not name:
            return
        try:
            self.file = load_plan(os.path.expanduser(name))
        except RaidbenchError as error:
            self.workbench_app.show_error(error, title="Not a plan")
            return
        self.named = {}
        self.replan()

    def new_plan(self) -> None:
        """Back to ticking."""
        self.file, self.named = None, {}
        if self.draft is not None:
            self.replan()

    def save_plan(self) -> None:
        """Write the plan to a file that `raidbench sweep` takes."""
        if not self.ready:
            self.say("Nothing is ticked yet, so there is no plan to save.")
            return
        help = "`raidbench sweep FILE` runs it; an existing file is not overwritten."
        self.workbench_app.push_screen(TextDialog("Save the plan as", "sweep.toml", help=help), self._save)

    def _save(self, name: str | None) -> None:
        if not name:
            return
        path = Path(os.path.expanduser(name)).absolute()
        try:
            source = self.plan().source
            with path.open("x", encoding="utf-8") as file:
                file.write(source)
        except PlanError as error:
            self.workbench_app.show_error(error, title="Not saved")
        except OSError as error:
            self.say(f"{clean(str(path), 200)}: {error.strerror}.", severity="error", title="Not saved")
        else:
            self.workbench_app.notify_copyable(
                f"The plan is in {path}: raidbench sweep {path}", f"raidbench sweep {shlex.quote(str(path))}"
            )
