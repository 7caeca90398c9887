"""Selections of runs to plot: marked runs, both sides of an A/B, a sweep, or all sessions of a target.

No I/O except in `all_sessions`, which reads sessions from disk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from app.core.analysis.comparison import Comparison, varying_keys
from app.core.analysis.past_runs.earlier_runs import PastRun
from app.core.analysis.past_runs.series import RunSeries, series_of
from app.core.analysis.sample_groups import condition, pairs_of
from app.core.analysis.stored_verdicts import stored_comparison
from app.core.presentation.comparison_text import comparison_sentence, letter_labels
from app.core.presentation.labels import key_value, setting_text, with_labels
from app.core.session.events import RunStarted
from app.core.session.results import RunStatus
from app.core.session.state import ExperimentRecord, RunRecord, Session
from app.core.session.store import LoadedSession, load
from app.core.session.sweep_steps import SweepCell
from app.core.session.unit_labels import within_sentence
from app.features.sweep.engine.load_curve import number_of, numeric_field, separate_workloads
from app.features.sweep.engine.results import LOAD, Results, results
from backends.errors import RaidbenchError
from backends.values import dataclass
from widgets.plot_render.plot_data import MOST_CURVES
from widgets.text_utils import units

MOST_SIGNS = 6
"""Number of available markers and colours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedRun:
    """A run, and the folder of its session."""

    run: RunRecord
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RunGroup:
    """Runs of one configuration, which are drawn together."""

    name: str
    """Text that distinguishes the group from the other groups."""
    runs: tuple[PlacedRun, ...]
    """At least one run, in order."""
    baseline: bool = False
    """Whether the group is included only as the baseline of the other groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotSelection:
    """The selected runs, with all data that pictures of them need."""

    heading: str
    """Heading, such as `A/B e1: read-ahead of /c0/v1`."""
    about: str
    """Job and target for titles, such as `4k random read, QD 64, /c0/v1`."""
    parts: tuple[RunGroup, ...]
    """At least one group."""
    counted: str = ""
    """Number of runs, pairs or steps as text, such as `6 pairs`."""
    verdict: str = ""
    """The result of the comparison in one sentence; "" for none."""
    every: tuple[RunGroup, ...] = ()
    """All runs on the target with the same job at any load, grouped by settings. If empty, `parts` are used."""
    results: Results | None = None
    """Results of the selected sweep; None for other selections."""
    other_workloads: tuple[str, ...] = ()
    """Workloads of the sweep that are not selected, because they need an axis of their own."""
    series: RunSeries | None = None
    """Time series of the runs over all sessions; None if they were not searched, or have no complete standalone run."""
    passed_over: int = 0
    """Number of runs of the same job, in all sessions, that the series omits, for example because they failed."""
    baseline: PastRun | None = None
    """The run that the series is compared with; None for none."""
    all_sessions: bool = False
    """Whether all sessions were searched."""

    @property
    def runs(self) -> tuple[PlacedRun, ...]:
        """Return the runs of all groups in `parts`."""
        return tuple(run for part in self.parts for run in part.runs)

    @property
    def simulated(self) -> bool:
        """Return whether any run was measured on a simulated host."""
        return any(placed.run.start.simulated for placed in self.runs)


def completed_runs(runs: Iterable[PlacedRun]) -> tuple[PlacedRun, ...]:
    """Return the runs that ended successfully."""
    return tuple(placed for placed in runs if placed.run.figures.status is RunStatus.OK)


def _group_by(runs: Sequence[PlacedRun], key_of: Callable[[RunRecord], object]) -> list[tuple[PlacedRun, ...]]:
    """Return the runs grouped by the result of `key_of`, in their order."""
    groups: dict[object, list[PlacedRun]] = {}
    for placed in runs:
        groups.setdefault(key_of(placed.run), []).append(placed)
    return [tuple(group) for group in groups.values()]


def group_by_condition(runs: Sequence[PlacedRun]) -> tuple[RunGroup, ...]:
    """Return the runs grouped by settings, job and target, in their order."""
    groups = _group_by(runs, condition)
    names = distinct_names([group[0].run.start for group in groups])
    if len(groups) == 1:
        names = [job_text(runs[0].run.start)]
    return tuple(RunGroup(name=name, runs=group) for name, group in zip(names, groups, strict=True))


def group_by_setting(runs: Sequence[PlacedRun]) -> tuple[RunGroup, ...]:
    """Return the runs grouped by settings, whatever their load. If all settings are equal, group the runs by load
    instead, unless there are more than `MOST_SIGNS` loads.
    """
    groups = _group_by(runs, lambda run: tuple(sorted(run.start.settings.items())))
    if len(groups) == 1:
        loads = group_by_condition(runs)
        return loads if len(loads) <= MOST_SIGNS else (RunGroup(name="", runs=tuple(runs)),)
    names = _difference_texts([group[0].run.start.settings for group in groups])
    return tuple(RunGroup(name=name or "as it was", runs=group) for name, group in zip(names, groups, strict=True))


def select_runs_to_plot(runs: Sequence[PlacedRun], baseline: PlacedRun | None = None) -> PlotSelection:
    """Return a selection of `runs` (at least one), with the baseline unless one of them has its condition."""
    kinds = {condition(placed.run) for placed in runs}
    beneath = baseline is not None and condition(baseline.run) not in kinds
    parts = group_by_condition((*runs, baseline) if beneath and baseline is not None else runs)
    if beneath:
        parts = (*parts[:-1], replace(parts[-1], name=f"baseline, {parts[-1].name}", baseline=True))
    starts = [placed.run.start for placed in runs]
    jobs = list(dict.fromkeys(job_text(start) for start in starts))
    targets = list(dict.fromkeys(short_target(start.target) for start in starts))
    about = job_and_target_text(starts[0]) if len(jobs) == 1 else f"different jobs: {' / '.join(jobs)}, {targets[0]}"
    named = ", ".join(placed.run.id for placed in runs[:MOST_CURVES]) + (" ..." if len(runs) > MOST_CURVES else "")
    return PlotSelection(
        heading=f"{named} of {', '.join(targets)}" if len(runs) <= MOST_CURVES else f"{len(runs)} runs of {targets[0]}",
        about=about if len(targets) == 1 else ", ".join((*jobs, *targets)),
        parts=parts,
        counted=units.plural(len(runs), "run"),
    )


def select_sides(comparison: Comparison, names: Sequence[str], folders: Sequence[Path]) -> PlotSelection:
    """Return a selection with the two sides of a comparison.

    The repeats of each side form one group. The name of each group says how it differs from the other.
    """
    sides = [
        tuple(PlacedRun(run=run, folder=folder) for run in side)
        for side, folder in zip((comparison.sides.a, comparison.sides.b), folders, strict=True)
    ]
    apart = distinct_names([side[0].run.start for side in sides])
    lines = [
        name if label == side[0].run.id else f"{name}, {label}"
        for name, label, side in zip(names, apart, sides, strict=True)
    ]
    return PlotSelection(
        heading=" and ".join(names),
        about=job_and_target_text(sides[0][0].run.start),
        parts=tuple(RunGroup(name=name, runs=runs) for name, runs in zip(lines, sides, strict=True)),
    )


def select_experiment(session: Session, folder: Path, record: ExperimentRecord) -> PlotSelection | None:
    """Return a selection with the two sides of an A/B, each with all its runs; None before the first complete pair."""
    sides, comparison = pairs_of(session, record.id), stored_comparison(session, record.id)
    if comparison is None:
        return None
    start = record.start
    placed = [tuple(PlacedRun(run=run, folder=folder) for run in side) for side in (sides.a, sides.b)]
    names = [f"{within_sentence(start.label)} {key_value(start.key, value)}" for value in (start.a, start.b)]
    if len(set(names)) < len(names):
        names = list(letter_labels(start))
    return PlotSelection(
        heading=f"A/B {record.id}: {start.label} of {short_target(str(start.target))}",
        about=job_and_target_text(sides.a[0].start),
        parts=tuple(RunGroup(name=name, runs=runs) for name, runs in zip(names, placed, strict=True)),
        counted=units.plural(len(sides.a), "pair"),
        verdict=comparison_sentence(comparison),
    )


def select_sweep(session: Session, folder: Path, workload: str | None = None) -> PlotSelection | None:
    """Return a selection with the cells of the session's sweep; None without a sweep, or if it has measured nothing.

    `workload`: the one of `separate_workloads` whose cells are selected; None for the first. If there are no such
    workloads, all cells are selected.
    """
    if session.sweep is None:
        return None
    record = with_labels(session.sweep)
    sweep_results = results(record, session.runs)
    workloads = separate_workloads(record)
    chosen = workload if workload in workloads else next(iter(workloads), "")
    if chosen:
        sweep_results = sweep_results.of_cells(workloads[chosen])
        record = replace(record, cells=tuple(cell for cell in record.cells if cell.id in workloads[chosen]))
    runs_by_id = {run.id: run for run in session.runs}
    parts = []
    field, cells = numeric_field(sweep_results.cells), record.cells
    if field is not None:  # a search tries its queue depths in another order
        cells = tuple(sorted(cells, key=lambda cell: number_of(cell.job.get(field, ""))))
    for cell in cells:
        runs = [runs_by_id[run] for _, run in record.runs_of(cell.id) if run in runs_by_id]
        if runs:
            name = _cell_text(sweep_results, cell)
            parts.append(RunGroup(name=name, runs=tuple(PlacedRun(run=run, folder=folder) for run in runs)))
    if not parts:
        return None
    return PlotSelection(
        heading=f"Sweep: {record.design.title}{f', {chosen}' if chosen else ''}",
        about=f"{chosen}, {_targets_text(parts)}" if chosen else _sweep_text(parts),
        parts=tuple(parts),
        counted=f"{record.done} of {units.plural(len(record.steps), 'step')}",
        results=sweep_results,
        other_workloads=tuple(name for name in workloads if name != chosen),
    )


def select_sweep_parts(session: Session, folder: Path) -> Iterator[PlotSelection]:
    """Yield a selection for each workload of the session's sweep that has a scale of its own, or one of all cells."""
    workloads = () if session.sweep is None else tuple(separate_workloads(with_labels(session.sweep)))
    for workload in workloads or (None,):
        if (subject := select_sweep(session, folder, workload)) is not None:
            yield replace(subject, other_workloads=())


def _cell_text(outcome: Results, cell: SweepCell) -> str:
    """Return a name for a cell: its configuration and its workload, each only if it differs between cells."""
    parts = [cell.row] if len(outcome.rows) > 1 else []
    return ", ".join([*parts, *([cell.column] if len(outcome.columns) > 1 or not parts else [])])


def _targets_text(parts: Sequence[RunGroup]) -> str:
    return " and ".join(dict.fromkeys(short_target(part.runs[0].run.start.target) for part in parts))


def _sweep_text(parts: Sequence[RunGroup]) -> str:
    starts = [part.runs[0].run.start for part in parts]
    jobs = {job_text(start) for start in starts}
    targets = dict.fromkeys(short_target(start.target) for start in starts)
    if len(jobs) == 1:
        return job_and_target_text(starts[0]) if len(targets) == 1 else f"{jobs.pop()}, {' and '.join(targets)}"
    whats = {start.title.split(" · ")[0] for start in starts}
    return ", ".join(([whats.pop()] if len(whats) == 1 else []) + [" and ".join(targets)])


def select_target(
    last: PastRun,
    past: Sequence[PastRun],
    sessions: Mapping[str, tuple[Path, Session]],
    series: RunSeries | None,
    baseline: PastRun | None = None,
) -> PlotSelection | None:
    """Return a selection of the runs with the job and target of `last` in all sessions.

    `past`: all runs on the same target; `sessions`: the sessions that were read, by name. Return None if these contain
    no successful run with the condition of `last`.
    """
    last_run = sessions[last.session][1].run(last.id) if last.session in sessions else None
    work = None if last_run is None else _work(last_run.start.job_texts)
    alike: list[PlacedRun] = []
    same: list[PlacedRun] = []
    for past_run in past:
        folder, session = sessions.get(past_run.session, (Path(), Session()))
        run = session.run(past_run.id)
        if run is not None and run.figures.status is RunStatus.OK and _work(run.start.job_texts) == work:
            placed = PlacedRun(run=run, folder=folder)
            alike.append(placed)
            if past_run.condition == last.condition:
                same.append(placed)
    if not same:
        return None
    counted = 0 if series is None else len(series.runs)
    every = sum(run.condition == last.condition for run in past)
    many = len({run.session for run in past if run.condition == last.condition})
    return PlotSelection(
        heading=f"{last.workload} on {short_target(last.target)}",
        about=job_and_target_text(same[-1].run.start),
        parts=group_by_condition(same),
        counted=f"{units.plural(every, 'run')} of {units.plural(many, 'session')}",
        every=group_by_setting(alike),
        series=series,
        passed_over=every - counted,
        baseline=baseline,
        all_sessions=True,
    )


def _work(job: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the fields of a job without those for load and duration, so that jobs can be compared."""
    return tuple(sorted((key, text) for key, text in job.items() if key not in (*LOAD, "runtime", "ramp")))


MOST_SESSIONS = 50
"""Maximum number of sessions whose runs are shown individually. These are the newest ones."""


def all_sessions(
    last: PastRun,
    past: Sequence[PastRun],
    root: Path,
    also: Sequence[LoadedSession] = (),
    baseline: PastRun | None = None,
) -> PlotSelection | None:
    """Return a selection of the runs with the job and target of `last`, in all sessions below `root` and in the
    sessions of `also`.

    `also`: sessions that are open or in another folder. `past`: all indexed runs. Sessions that cannot be read are
    skipped. Blocks while reading.
    """
    runs = [run for run in past if (run.thing, run.simulated) == (last.thing, last.simulated)]
    by_name: dict[str, tuple[Path, Session]] = {loaded.folder.name: (loaded.folder, loaded.session) for loaded in also}
    for name in list(dict.fromkeys(run.session for run in reversed(runs)))[:MOST_SESSIONS]:
        if name not in by_name:
            with suppress(RaidbenchError):
                by_name[name] = root / name, load(root / name).session
    alike = [run for run in runs if run.condition == last.condition]
    return select_target(last, runs, by_name, series_of(alike).get(last.condition), baseline)


# -- names of groups of runs: a run's id only if settings and jobs are equal ------------------------------------------

_BACKEND = re.compile(r"^[a-z0-9_-]+:(?=.)")
_MOST_NAMED = 3
"""Maximum number of differences that the name of a group lists. If there are more, it ends with `and N more`."""


def job_text(start: RunStarted) -> str:
    """Return a description of a job without its usual values, such as `4k random read, QD 64`."""
    parts = start.title.split(" · ")
    return ", ".join([*parts[:2], *(part for part in parts[2:3] if part != "1 job")])


def job_and_target_text(start: RunStarted) -> str:
    """Return a description of a job and its target, such as `4k random read, QD 64, /c0/v1`."""
    return f"{job_text(start)}, {short_target(start.target)}"


def short_target(target: str) -> str:
    """Return the address of a target without its backend: `/c0/v1` for `megaraid:/c0/v1`."""
    return ", ".join(_BACKEND.sub("", name) for name in target.split(", "))


def distinct_names(starts: Sequence[RunStarted]) -> list[str]:
    """Return a distinct name for each run.

    It is made from the settings or, if these do not suffice, from job, target, provenance and finally the time.
    """
    settings, jobs = (
        _difference_texts([start.settings for start in starts]),
        _difference_texts([start.job_texts for start in starts]),
    )
    targets = [start.target if len({started.target for started in starts}) > 1 else "" for start in starts]
    beneath = _difference_texts([start.provenance for start in starts])
    times = [units.moment(start.at)[:19] for start in starts]
    for parts in (
        (settings,),
        (jobs,),
        (settings, jobs, targets),
        (settings, jobs, targets, beneath),
        (settings, times),
    ):
        names = [", ".join(filter(None, parts_of_name)) for parts_of_name in zip(*parts, strict=True)]
        if all(names) and len(set(names)) == len(names):
            return names
    return [start.id for start in starts]


def _difference_texts(mappings: list[Mapping[str, str]]) -> list[str]:
    """Return, for each mapping, a list of its settings that differ between the mappings, as a string."""
    keys = varying_keys(mappings)
    return [_list_text([setting_text(key, texts[key]) for key in keys if texts.get(key)]) for texts in mappings]


def _list_text(lines: list[str]) -> str:
    if len(lines) > _MOST_NAMED:
        return f"{', '.join(lines[: _MOST_NAMED - 1])} and {len(lines) - _MOST_NAMED + 1} more"
    return ", ".join(lines)
