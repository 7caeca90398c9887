"""What Explore may show: marked runs, the run under the cursor, its A/B, a sweep, all sessions of a target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.session.state import ExperimentRecord, Session
from app.features.plots.selection import PlacedRun, PlotSelection, of_experiment, of_runs, of_sweep, short_target
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.workbench import Workbench


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOffer:
    """Something to look at."""

    key: str
    """Tells it from the others."""
    label: str
    """What it is, in a list."""
    make: Callable[[bool], PlotSelection | None]
    """Makes it, with the baseline beneath or without; may read sessions from disk. None where nothing is left of it."""
    run: PlacedRun | None = None
    """The one run that it is of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOrigin:
    """Where Explore is opened from."""

    session: Session
    """The session of the runs."""
    folder: Path
    """Its folder."""
    marked: Sequence[PlacedRun] = ()
    """Runs that were marked, of any session."""
    cursor: PlacedRun | None = None
    """The run under the cursor."""
    first: str = ""
    """The key of the offer that is shown first; "" leaves it to what is marked."""


def runs_key(runs: Sequence[PlacedRun]) -> str:
    """The key of the offer of these runs."""
    return " ".join(["runs", *(f"{run.folder.name}/{run.run.id}" for run in runs)])


def everywhere_key(run: PlacedRun) -> str:
    """The key of the offer of all sessions of what a run measured."""
    return f"all {run.folder.name}/{run.run.id}"


def offers(origin: ExploreOrigin, bench: Workbench) -> tuple[ExploreOffer, ...]:
    """All there is to look at, what is shown first at the head: what is marked, else what the run belongs to."""
    found_offers: list[ExploreOffer] = []
    session, cursor = origin.session, origin.cursor
    baseline = _baseline(session, origin.folder)
    if origin.marked:
        found_offers.append(_of_runs(tuple(origin.marked), baseline, "marked: "))
    if cursor is not None:
        mark = cursor.run.start.mark
        record = None if mark is None else session.experiment(mark.experiment)
        found_offers += [_of_experiment(record, session, origin.folder)] if record is not None else []
    found_offers += [_of_sweep(session, origin.folder)] if session.sweep is not None else []
    if cursor is not None:
        alone = _of_runs((cursor,), baseline, "")
        in_sweep = session.sweep is not None and any(end.run == cursor.run.id for end in session.sweep.ended)
        found_offers.insert(len(found_offers) - (session.sweep is not None and not in_sweep), alone)
        found_offers.append(_everywhere(cursor, bench))
    found_offers += [_of_experiment(experiment, session, origin.folder) for experiment in session.experiments]
    by_key = {offer.key: offer for offer in reversed(found_offers)}
    ordered = [by_key[key] for key in dict.fromkeys(offer.key for offer in found_offers)]
    return tuple(sorted(ordered, key=lambda offer: offer.key != origin.first)) if origin.first else tuple(ordered)


def _baseline(session: Session, folder: Path) -> PlacedRun | None:
    run = None if session.baseline is None else session.run(session.baseline)
    return None if run is None else PlacedRun(run=run, folder=folder)


def _of_runs(runs: tuple[PlacedRun, ...], baseline: PlacedRun | None, lead: str) -> ExploreOffer:
    names = ", ".join(run.run.id for run in runs)
    return ExploreOffer(
        key=runs_key(runs),
        label=f"{lead}{names} on {short_target(runs[0].run.start.target)}",
        make=lambda beneath: of_runs(runs, baseline if beneath else None),
        run=runs[0] if len(runs) == 1 else None,
    )


def of_one(run: PlacedRun, session: Session, folder: Path) -> ExploreOffer:
    """One run by itself."""
    return _of_runs((run,), _baseline(session, folder), "")


def _of_experiment(record: ExperimentRecord, session: Session, folder: Path) -> ExploreOffer:
    return ExploreOffer(
        key=record.id,
        label=f"A/B {record.id}: {record.start.label}, {record.start.a} against {record.start.b}",
        make=lambda _: of_experiment(session, folder, record),
    )


def _of_sweep(session: Session, folder: Path) -> ExploreOffer:
    title = "" if session.sweep is None else session.sweep.design.title
    return ExploreOffer(key="sweep", label=f"the sweep: {title}", make=lambda _: of_sweep(session, folder))


def _everywhere(run: PlacedRun, bench: Workbench) -> ExploreOffer:
    return ExploreOffer(
        key=everywhere_key(run),
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
    held = None if bench.folder is None else f"{bench.folder.name}/{bench.session.baseline}"
    beneath = next((run for run in runs if run.name == held), None) if baseline else None
    return all_sessions(last, runs, bench.paths.sessions, also, beneath)
