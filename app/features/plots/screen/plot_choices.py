"""The selections that the user can plot on the Explore screen: marked runs, the selected run, its A/B, a sweep, or all
sessions of a target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.presentation.labels import with_labels
from app.core.session.state import ExperimentRecord, Session
from app.core.session.unit_labels import value_text
from app.features.plots.selection import (
    PlacedRun,
    PlotSelection,
    select_experiment,
    select_runs_to_plot,
    select_sweep,
    short_target,
)
from app.features.sweep.engine.load_curve import separate_workloads
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.workbench import Workbench


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOffer:
    """One entry in the list of selections to plot."""

    key: str
    """Unique key of the choice."""
    label: str
    """Text of the choice in the list."""
    make: Callable[[bool], PlotSelection | None]
    """Function that returns the selection to plot. If called with True, the selection includes the baseline.

    The function may read from disk. It returns None if there is no data.
    """
    run: PlacedRun | None = None
    """The run, if the choice has only one run; otherwise None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOrigin:
    """Context in which Explore is opened."""

    session: Session
    """The session of the runs."""
    folder: Path
    """The folder of the session."""
    marked: Sequence[PlacedRun] = ()
    """The runs that the user has marked, of any session."""
    cursor: PlacedRun | None = None
    """The run under the cursor; None if there is none."""
    first: str = ""
    """Key of the choice to show first; "" for the default."""


def all_sessions_key(run: PlacedRun) -> str:
    """Return the key of the choice that shows the job and target of a run in all sessions."""
    return f"all {run.folder.name}/{run.run.id}"


def offers(origin: ExploreOrigin, bench: Workbench) -> tuple[ExploreOffer, ...]:
    """Return all choices that are possible in this context.

    The first one is to be shown first: that with the key `origin.first`, else the marked runs, else the A/B or sweep of
    the run under the cursor, else that run.
    """
    found_offers: list[ExploreOffer] = []
    session, cursor = origin.session, origin.cursor
    baseline = _baseline(session, origin.folder)
    if origin.marked:
        found_offers.append(_runs_offer(tuple(origin.marked), baseline, "marked: "))
    if cursor is not None:
        mark = cursor.run.start.mark
        record = None if mark is None else session.experiment(mark.experiment)
        found_offers += [_experiment_offer(record, session, origin.folder)] if record is not None else []
    of_sweep = _sweep_offers(session, origin.folder)
    found_offers += of_sweep
    if cursor is not None:
        alone = _runs_offer((cursor,), baseline, "")
        in_sweep = session.sweep is not None and any(end.run == cursor.run.id for end in session.sweep.ended)
        found_offers.insert(len(found_offers) - (0 if in_sweep else len(of_sweep)), alone)
        found_offers.append(_all_sessions_offer(cursor, bench))
    found_offers += [_experiment_offer(experiment, session, origin.folder) for experiment in session.experiments]
    by_key = {offer.key: offer for offer in reversed(found_offers)}
    ordered = [by_key[key] for key in dict.fromkeys(offer.key for offer in found_offers)]
    return tuple(sorted(ordered, key=lambda offer: offer.key != origin.first)) if origin.first else tuple(ordered)


def _baseline(session: Session, folder: Path) -> PlacedRun | None:
    run = None if session.baseline is None else session.run(session.baseline)
    return None if run is None else PlacedRun(run=run, folder=folder)


def _runs_offer(runs: tuple[PlacedRun, ...], baseline: PlacedRun | None, lead: str) -> ExploreOffer:
    names = ", ".join(run.run.id for run in runs)
    return ExploreOffer(
        key=" ".join(["runs", *(f"{run.folder.name}/{run.run.id}" for run in runs)]),
        label=f"{lead}{names} on {short_target(runs[0].run.start.target)}",
        make=lambda beneath: select_runs_to_plot(runs, baseline if beneath else None),
        run=runs[0] if len(runs) == 1 else None,
    )


def single_run_offer(run: PlacedRun, session: Session, folder: Path) -> ExploreOffer:
    """Return the choice for a single run."""
    return _runs_offer((run,), _baseline(session, folder), "")


def _experiment_offer(record: ExperimentRecord, session: Session, folder: Path) -> ExploreOffer:
    values = (value_text(record.start.key, value) for value in (record.start.a, record.start.b))
    return ExploreOffer(
        key=record.id,
        label=f"A/B {record.id}: {record.start.label}, {' against '.join(values)}",
        make=lambda _: select_experiment(session, folder, record),
    )


def _sweep_offers(session: Session, folder: Path) -> list[ExploreOffer]:
    """Return the choices for the session's sweep: one for each workload with a scale of its own."""
    if session.sweep is None:
        return []

    def offer(number: int, workload: str) -> ExploreOffer:
        return ExploreOffer(
            key="sweep" if number == 0 else f"sweep {workload}",
            label=f"the sweep: {', '.join(filter(None, (title, workload)))}",
            make=lambda _: select_sweep(session, folder, workload),
        )

    title = session.sweep.design.title
    workloads = separate_workloads(with_labels(session.sweep)) or ("",)
    return [offer(number, workload) for number, workload in enumerate(workloads)]


def _all_sessions_offer(run: PlacedRun, bench: Workbench) -> ExploreOffer:
    return ExploreOffer(
        key=all_sessions_key(run),
        label=f"all sessions of {short_target(run.run.start.target)}",
        make=lambda beneath: _all_sessions(run, bench, baseline=beneath),
        run=run,
    )


def _all_sessions(run: PlacedRun, bench: Workbench, *, baseline: bool) -> PlotSelection | None:
    from app.core.analysis.past_runs.index import load_past_runs
    from app.core.session.store import LoadedSession
    from app.features.plots.selection import all_sessions

    also = () if bench.folder is None else (LoadedSession(folder=bench.folder, session=bench.session, passed_over=0),)
    runs = load_past_runs(bench.paths, extra_sessions=also).runs
    name = f"{run.folder.name}/{run.run.id}"
    last = next((run for run in runs if run.name == name), None)
    if last is None:
        return None
    baseline_name = None if bench.folder is None else f"{bench.folder.name}/{bench.session.baseline}"
    beneath = next((run for run in runs if run.name == baseline_name), None) if baseline else None
    return all_sessions(last, runs, bench.paths.sessions, also, beneath)
