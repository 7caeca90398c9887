"""How far an experiment is, over all of its runs. Pure."""

from __future__ import annotations

from app.engine.session.state import ExperimentRecord, Session
from backends.values import dataclass
from widgets.plain import units


@dataclass(frozen=True, slots=True, kw_only=True)
class AbProgress:
    """An experiment under way."""

    begun: int
    """Runs that have begun."""
    planned: int
    """Runs at most."""
    left: float | None
    """Seconds still to come at most, of an experiment that is decided late; None before its first run."""

    @property
    def left_words(self) -> str:
        """`6 min left at most`; "" where it is not known."""
        return "" if self.left is None else f"{units.duration(round(self.left))} left at most"


def ab_progress(session: Session, record: ExperimentRecord, left_of_run: float) -> AbProgress:
    """`left_of_run`: seconds of the run that goes on, 0 between two runs.

    A pause is drawn from the least to a third of a run more, so half of that is counted.
    """
    own = [run.start for run in session.runs if run.start.mark is not None and run.start.mark.experiment == record.id]
    planned = len(record.start.order)
    if not own:
        return AbProgress(begun=0, planned=planned, left=None)
    length, rest = own[-1].planned_seconds, record.start.rest_seconds
    pause = rest + length / 6 if rest else 0.0
    left = (planned - len(own)) * (length + pause) + left_of_run
    return AbProgress(begun=len(own), planned=planned, left=max(0.0, left))
