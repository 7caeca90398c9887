"""Trials: a change that comes back by itself unless somebody keeps it, whatever becomes of the terminal."""

from __future__ import annotations

import json
import os
from pathlib import Path

from app.engine.session.paths import Paths
from backends.change import Change
from backends.errors import RefusedError
from backends.hosts.local import start_detached
from backends.settings import Effect, Risk

SHORTEST, LONGEST = 10.0, 600.0
"""Seconds a trial may last."""

ARM_SECONDS = 60.0
"""How long the watchdog may take to say that it is armed: it reads what is on trial once, and cards think slowly."""


def check_seconds(seconds: float) -> float:
    """The length of a trial. Raises RefusedError outside 10 to 600 s."""
    if not SHORTEST <= seconds <= LONGEST:
        raise RefusedError(f"A trial lasts {SHORTEST:g} to {LONGEST:g} seconds, not {seconds:g}.")
    return seconds


_LATER = {
    Effect.RESHAPE: "takes a reshape of hours",
    Effect.REBOOT: "takes effect with a reboot",
    Effect.RESET: "takes effect with a reset",
}


def why_not_unattended(change: Change) -> str:
    """Why it must not be set with nobody there to look: `takes a reshape of hours`; "" if it may."""
    if change.effect in _LATER:
        return _LATER[change.effect]
    if change.effect is not Effect.AT_ONCE or change.risk is Risk.DESTROYS_DATA:
        return "destroys data, and so does taking it back"
    return ""


def why_not_tried(change: Change) -> str:
    """Why it cannot come back by itself, in the same words; "" if it can."""
    return why_not_unattended(change) or ("" if change.undo else "has no way back")


def require_triable(change: Change) -> None:
    """Raises RefusedError for what cannot be tried for a while."""
    if reason := why_not_tried(change):
        raise RefusedError(
            f"{change.label} of {change.target} cannot be tried for a while: it {reason}.",
            hint="Apply it without a trial.",
        )


async def arm(paths: Paths, session: Path, until: float) -> None:
    """Start the watchdog of a set of trials and wait until it says that nothing but its deadline can stop it.

    Raises RefusedError when it does not: then nothing may be set.
    """
    order = json.dumps(
        {
            "sessions": str(paths.sessions),
            "journal": str(paths.journal),
            "locks": str(paths.locks),
            "config": str(paths.config),
            "session": str(session),
            "until": until,
        }
    )
    try:
        unit = f"raidbench-trial-{os.getpid()}-{until:.0f}"
        answer = await start_detached("app.engine.change.watchdog", order + "\n", ARM_SECONDS, unit=unit)
    except OSError as error:
        raise RefusedError(f"The watchdog of the trial could not be started: {error.strerror}.") from error
    if answer != "armed":
        raise RefusedError(
            f"The watchdog of the trial is not armed: {answer.rstrip('.') or 'it said nothing'}. Nothing was set."
        )
