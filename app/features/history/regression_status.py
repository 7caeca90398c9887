"""The exit status of how sessions stand to earlier ones: of `baseline check` and of `history` alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from app.cli.exit_status import DONE, FOUND, UNDECIDED
from app.core.analysis.regression import RegressionVerdict

STATUS: Mapping[RegressionVerdict, int] = MappingProxyType(
    {
        RegressionVerdict.WORSE: FOUND,
        # A mail a night about what was told would teach everybody not to read them, and 0 would say that all is well.
        RegressionVerdict.STILL_WORSE: UNDECIDED,
        RegressionVerdict.NOT_WORSE: DONE,
        RegressionVerdict.NOT_DECIDED: UNDECIDED,
        RegressionVerdict.REFUSED: UNDECIDED,
    }
)
"""Of one check."""


def status_of_history(standings: Iterable[RegressionVerdict]) -> int:
    """Of many series: what is worse is told before what still is; nobody asked whether the others decide anything."""
    worse = {RegressionVerdict.WORSE, RegressionVerdict.STILL_WORSE}.intersection(standings)
    return max((STATUS[verdict] for verdict in worse), default=DONE)
