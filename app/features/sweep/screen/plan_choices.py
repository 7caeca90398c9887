"""The user's choices for a sweep, and the dialogs for target, job and plan file. Subclasses display the choices."""

from __future__ import annotations

import os
import random
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual.containers import Horizontal

from app.core.fio.job import Job
from app.core.fio.profiles import profile
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


# -- targets and plans to choose from in the dialogs ------------------------------------------------------------------


def target_items(inventory: Inventory, *, controllers: bool) -> tuple[ChoiceItem, ...]:
    """Return the targets to choose from: a scratch file (its value is ""), block devices, and controllers if wanted."""
    choices = [ChoiceItem(value="", label="scratch file", help="Created for the runs and deleted afterwards: safe.")]
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
    """Return the plans to choose from: first a plan file (its value is ""), then the built-in plans."""
    choices = [ChoiceItem(value="", label="a file ...", help="A plan in TOML: docs/sweep.md describes it.")]
    for name, file in plan_files().items():
        plan = load_plan(str(file))
        choices.append(ChoiceItem(value=name, label=f"{name}: {plan.title}", help=plan.about))
    return tuple(choices)


# -- widget that holds the present plan -------------------------------------------------------------------------------


class PlanChoices(Horizontal):
    """Widget with the present plan and the dialogs that change it. A subclass displays the plan."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.seed = random.SystemRandom().randrange(2**31)
        """Seed of the next sweep, unless its plan has one."""
        self.draft: Draft | None = None
        """The user's choices; None until a target was found."""
        self.file: SweepPlan | None = None
        """The opened plan; None if the plan is made from the user's choices."""
        self.named: dict[str, str] = {}
        """Addresses by role that the user has set for an opened plan."""
        self.axes: tuple[DraftAxis, ...] = ()
        """Axes that can be ticked."""

    def replan(self) -> None:
        """Update the display. A subclass implements it."""
        raise NotImplementedError

    @property
    def workbench_app(self) -> AppInterface:
        """The app, typed as `AppInterface`."""
        return cast("AppInterface", self.app)

    @property
    def ready(self) -> bool:
        """Whether there is a plan to run."""
        return self.file is not None or (self.draft is not None and self.draft.varies)

    def plan(self) -> SweepPlan:
        """Return the present plan. Raises PlanError when it is not valid."""
        if self.file is not None:
            return self.file
        assert self.draft is not None
        return parse_plan(plan_text(self.draft, self.axes).encode(), "the plan")

    @property
    def chosen_seed(self) -> int:
        """The seed that the plan sets, or else the random `seed`."""
        return self.file.seed if self.file is not None and self.file.seed is not None else self.seed

    def say(self, message: str, *, severity: str = "information", title: str = "") -> None:
        """Show a message."""
        self.workbench_app.notify(message, title=title, severity=severity)  # type: ignore[arg-type]

    def choose_profile(self) -> None:
        """Open the dialog for the workload that the axes vary."""
        if self.file is not None or self.draft is None:
            return

        def chosen(name: str | None) -> None:
            if name is not None:
                self._take_job(profile(name).job, name)

        self.workbench_app.push_screen(
            ChoiceDialog("Workload", target_choices.workload_items(), self.draft.profile), chosen
        )

    def edit(self) -> None:
        """Open the dialog for the fields of the job that the axes vary."""
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
        """Open the dialog for the benchmark target."""
        self.choose_target_of(self.file.measure if self.file is not None else "")

    def choose_target_of(self, role: str) -> None:
        """Open the target dialog for a role of the plan. "" selects the benchmark target."""
        now = self.named.get(role, "") if self.file is not None else (self.draft.address if self.draft else "")
        choices = target_items(self.workbench_app.session.inventory, controllers=bool(role))
        title = f"Target {role}" if role else "Target"

        def chosen(address: str | None) -> None:
            if address == "":
                start = self.workbench_app.options.scratch
                help = "A folder, or the name of a new file."
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
        """Open the dialog for a built-in plan or a plan file."""

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
        """Close the opened plan and return to the choices."""
        self.file, self.named = None, {}
        if self.draft is not None:
            self.replan()

    def save_plan(self) -> None:
        """Open the dialog that writes the plan to a file for `raidbench sweep`."""
        if not self.ready:
            self.say("Select values first; there is no plan to save yet.")
            return
        help = "Run it with `raidbench sweep FILE`. An existing file is not overwritten."
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
                f"Plan saved to {path}: raidbench sweep {path}", f"raidbench sweep {shlex.quote(str(path))}"
            )
