"""Selection of the next run: profile, job fields, job file, target, and steady state."""

from __future__ import annotations

import os
from functools import partial

from app.core.benchmark.run_plan import NamedTarget
from app.core.benchmark.runner import BenchmarkRequest
from app.core.benchmark.scratch import DEFAULT_SIZE
from app.core.fio.job import Job
from app.core.fio.jobfile import Imported, depends_on_fio, import_jobfile
from app.core.fio.option_table import SHIPPED, OptionTable
from app.core.fio.preflight import option_table
from app.core.fio.profiles import PROFILES, profile
from app.core.fio.sections import with_size
from app.core.session.event_types import SteadyPlan
from app.core.session.state import Session
from app.tui import target_choices
from app.tui.base import WorkbenchScreen
from app.tui.bench.job_form import JobForm
from app.tui.bench.live_view import steady_choices, steady_plan, steady_way
from backends.errors import RaidbenchError
from backends.input_file import MEBIBYTE, read_input
from backends.text import clean
from widgets.choice_list import ChoiceDialog, ChoiceItem, MarkDialog
from widgets.field_dialog import TextDialog


class JobSelectionScreen(WorkbenchScreen):
    """A screen with a job and a target, which the user can change."""

    def __init__(self) -> None:
        super().__init__()
        self.job: Job = profile("randread-4k").job
        """The job to run."""
        self.profile: str | None = "randread-4k"
        """Name of its profile; None once a field was changed."""
        self.runtime_named = False
        """Whether the user or a job file set the run time."""
        self.where = "."
        """Device node, or folder or file for a scratch file."""
        self.target_name: str | None = None
        """Address of a device; None for a scratch file."""
        self.beside: tuple[NamedTarget, ...] = ()
        """Other devices that are measured at the same time."""
        self.steady: SteadyPlan | None = None
        """Steady-state plan; None to measure at once."""
        self._origin: str | None = None
        self._chosen = False

    def show_job(self) -> None:
        """Update the display of job and target."""
        raise NotImplementedError

    def begin_with_options(self) -> None:
        """Use the job and the scratch folder of the start options."""
        options = self.workbench_app.options
        if options.profile in PROFILES:
            self.profile, self.job = options.profile, profile(options.profile).job
        self.where = options.scratch

    def take_device(self, name: str, device: str, beside: tuple[NamedTarget, ...] = ()) -> None:
        """Select a device, and other devices to measure at the same time."""
        self.target_name, self.where, self.beside, self._chosen = name, device, beside, True
        self.show_job()

    def take_first_array(self, session: Session) -> None:
        """On a simulated host, where measuring a file means nothing, select the first array that is not in use."""
        if self._chosen or not session.simulated:
            return
        free = [array for array in session.inventory.arrays if array.device is not None and not array.uses]
        cards = {controller.target for controller in session.inventory.controllers if controller.pci is not None}
        free.sort(key=lambda array: array.controller not in cards)  # arrays of a PCI controller first
        if free and free[0].device is not None:
            self.take_device(str(free[0].target), free[0].device)

    def request(self) -> BenchmarkRequest:
        """Return the request for the run that the key `r` would start."""
        job = self.job
        if self.target_name is None:  # A scratch file needs a size, which the job may not have.
            job = with_size(job, self.scratch_size)
        name = self.target_name or self.where
        return BenchmarkRequest(
            where=self.where,
            name=name,
            beside=self.beside,
            job=job,
            profile=self.profile,
            steady=self.steady,
            length_agreed=self.runtime_named,
        )

    @property
    def scratch_size(self) -> int:
        """Bytes of a scratch file."""
        return self.job.reach or self.workbench_app.options.scratch_size or DEFAULT_SIZE

    def action_profile(self) -> None:
        """Choose a profile."""

        items, fit_items = target_choices.workload_items(), target_choices.fit_items()

        def chosen(name: str | None) -> None:
            if name in {item.value for item in fit_items}:
                folder = self.where if self.target_name is None else self.workbench_app.options.scratch
                self.workbench_app.do("fit.show", name, folder)
            elif name is not None:
                self.profile, self.job, self.runtime_named = name, profile(name).job, False
                self.show_job()

        self.app.push_screen(ChoiceDialog("Workload", (*items, *fit_items), self.profile), chosen)

    def action_edit(self) -> None:
        """Change the fields of the job."""
        if self.job.sections:
            self.say(
                "The job has several sections. Edit the job file and open it again with <bench.open>,"
                " or open one section alone.",
                severity="warning",
            )
            return

        def edited(job: Job | None) -> None:
            self.runtime_named = self.runtime_named or (job is not None and "runtime" in form.changed_fields)
            if job is not None and job != self.job:
                self.job = job
                self.profile = self._origin if base is not None and job == base[1] else None
                self.show_job()

        self._origin = self.profile or self._origin
        base = None if self._origin is None else (self._origin, profile(self._origin).job)
        form = JobForm(self.job, base=base)
        self.app.push_screen(form, edited)

    def action_steady(self) -> None:
        """Choose the steady-state plan."""
        base = self.workbench_app.options.steady

        def chosen(value: str | None) -> None:
            if value is not None:
                self.steady = steady_plan(base, value)
                self.show_job()

        self.app.push_screen(ChoiceDialog("Steady state", steady_choices(base), steady_way(self.steady)), chosen)

    def action_open(self) -> None:
        """Open a fio job file."""
        help = "Only options of an allow-list are used. Other options are reported."
        self.app.push_screen(TextDialog("fio job file", help=help), self._read_jobfile)

    def _read_jobfile(self, name: str | None) -> None:
        if not name:
            return
        try:
            content = read_input(os.path.expanduser(name), MEBIBYTE)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            self.say(f"{clean(name)} cannot be read: {reason or error}.", severity="error")
            return
        if depends_on_fio(content):
            work = self._import_as_installed(content)
            self.workbench_app.hold_keys(self.run_worker(work, group="import", exclusive=True))
        else:
            self._import(content, SHIPPED)

    async def _import_as_installed(self, content: bytes) -> None:
        """Import a job file with the option table of the installed fio, because not every version has all options."""
        self._import(content, await option_table(self.workbench_app.workbench.host))

    def _import(self, content: bytes, table: OptionTable) -> None:
        try:
            imported = import_jobfile(content, table)
        except RaidbenchError as error:
            self.workbench_app.show_error(error, title="Unsupported job file")
            return
        if len(imported.jobs) == 1:
            self._take_job(imported, _ALL_SECTIONS)
        else:
            choices = section_choices(imported)
            self.app.push_screen(
                ChoiceDialog("Sections of the job", choices, _ALL_SECTIONS), partial(self._take_job, imported)
            )

    def _take_job(self, imported: Imported, chosen: str | None) -> None:
        """Use the section `chosen` of a job file, or all sections for `_ALL_SECTIONS`; do nothing for None."""
        if chosen is None:
            return
        try:
            taken = imported.combined_job if chosen == _ALL_SECTIONS else imported.section(chosen)
        except RaidbenchError as error:
            self.workbench_app.show_error(error, title="Unsupported job file")
            return
        self.job, self.profile, self._origin, self.runtime_named = taken.job, None, None, taken.names_runtime
        for note in taken.notes:
            self.say(note, severity="warning")
        self.show_job()

    def action_target(self) -> None:
        """Choose a scratch file, a device, or several devices."""
        session = self.workbench_app.session
        choices = (_SCRATCH, *target_choices.target_items(session.inventory))
        marked = {target.name for target in self.request().targets} if self.beside else set()
        dialog = MarkDialog("Choose the target", choices, self.target_name or "", marked=marked, alone=_SCRATCH.value)

        def chosen(address: str | None) -> None:
            if address is None:
                return
            wanted = dialog.marked or (address,)
            if wanted == (_SCRATCH.value,):
                self._ask_scratch()
                return
            devices = [(name, getattr(session.inventory.find(name), "device", None)) for name in wanted]
            first, *others = [NamedTarget(where=device, name=name) for name, device in devices if device is not None]
            self.take_device(first.name, first.where, tuple(others))

        self.app.push_screen(dialog, chosen)

    def _ask_scratch(self) -> None:
        def named(path: str | None) -> None:
            if path:
                self.target_name, self.where, self.beside, self._chosen = None, path, (), True
                self.show_job()

        start = self.where if self.target_name is None else self.workbench_app.options.scratch
        self.app.push_screen(
            TextDialog("Scratch file", start, help="A folder, or a file that does not exist yet."), named
        )


def section_choices(imported: Imported) -> tuple[ChoiceItem, ...]:
    """Return the choices for a job file with several sections: all of them, or one alone."""
    return (
        ChoiceItem(
            value=_ALL_SECTIONS,
            label="all sections",
            help="All sections run at the same time; a section with stonewall waits for those above it.",
            risk="writes" if any(job.job.writes for job in imported.jobs) else "",
        ),
        *(
            ChoiceItem(value=name, label=f"[{name}]", help=job.job.describe(), risk="writes" if job.job.writes else "")
            for name, job in zip(imported.names, imported.jobs, strict=True)
        ),
    )


_ALL_SECTIONS = ""
"""Value of the choice of all sections; no section of a job file has an empty name."""

_SCRATCH = ChoiceItem(
    value="", label="scratch file", help="A file that is created for the run and removed afterwards (safe)."
)
