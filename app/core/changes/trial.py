"""Trials: a change that comes back by itself unless somebody keeps it, whatever becomes of the terminal."""

from __future__ import annotations

import json
import os
from pathlib import Path

from app.core.session.journal import boot_clock
from app.core.session.paths import Paths
from backends.change import Change
from backends.errors import RaidbenchError, RefusedError
from backends.helper_interface import decode_error
from backends.settings import Effect, Risk
from backends.system.local import start_detached
from backends.text import clean

SHORTEST, LONGEST = 10.0, 600.0
"""Seconds a trial may last."""

LONGEST_WAIT = 3600.0
"""Seconds after the deadline for which it is tried again: a program still sets the value, a disk is away or full."""

ARM_SECONDS = 60.0
"""How long the watchdog may take to say that it is armed: it reads what is on trial once, and cards think slowly."""


_WATCHDOG, _SIMULATED_WATCHDOG = "app.core.changes.watchdog", "app.cli.simulated_watchdog"
"""Modules that are started to revert a trial: on this machine, and on a simulated one that the engine does not know."""


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


def unattended_reason(change: Change) -> str:
    """Why it must not be set with nobody there to look: `takes a reshape of hours`; "" if it may."""
    if change.effect in _LATER:
        return _LATER[change.effect]
    if change.effect is not Effect.AT_ONCE or change.risk is Risk.DESTROYS_DATA:
        return "destroys data, and so does taking it back"
    return ""


def trial_refusal_reason(change: Change) -> str:
    """Why it cannot come back by itself, in the same words; "" if it can."""
    return unattended_reason(change) or ("" if change.undo else "has no way back")


def require_triable(change: Change) -> None:
    """Raises RefusedError for what cannot be tried for a while."""
    if reason := trial_refusal_reason(change):
        raise RefusedError(
            f"{change.label} of {change.target} cannot be tried for a while: it {reason}.",
            hint="Apply it without a trial.",
        )


async def arm(paths: Paths, session: Path, until: float) -> None:
    """Start the watchdog of a set of trials and wait until it says that nothing but its deadline can stop it.

    Raises RefusedError when it does not: then nothing may be set.
    """
    try:
        await _start(paths, str(session), until)
    except RaidbenchError as error:
        message = f"The watchdog of the trial is not armed: {error.message.rstrip('.')}. Nothing was set."
        raise RefusedError(message, hint=error.hint, evidence=error.evidence) from error


async def rehearse(paths: Paths) -> None:
    """Start the watchdog with nothing on trial: it does all that it does before it is armed, changes nothing, and ends.

    Raises RaidbenchError where it is not armed.
    """
    await _start(paths, "", None)


async def _start(paths: Paths, session: str, until: float | None) -> None:
    """Start a watchdog and wait until it says that it is armed. Raises RaidbenchError where it is not."""
    places = {name: str(getattr(paths, name)) for name in ("sessions", "journal", "locks", "config")}
    order = json.dumps({**places, "apart": paths.apart, "session": session, "until": until})
    # The time of an unset deadline tells the units of two rehearsals apart.
    unit = f"raidbench-trial-{os.getpid()}-{boot_clock() if until is None else until:.0f}"
    try:
        line = await start_detached(
            _SIMULATED_WATCHDOG if paths.simulated else _WATCHDOG, order + "\n", ARM_SECONDS, unit=unit, errors=True
        )
    except OSError as error:
        raise RefusedError(f"its process could not be started: {error.strerror or error}.") from error
    if (refusal := _refusal_in(line)) is not None:
        raise refusal


def _refusal_in(line: str) -> RaidbenchError | None:
    """What the line of a watchdog says against it; None where it is armed."""
    try:
        answer = json.loads(line)
        return None if answer == {"armed": True} else decode_error(answer["error"])
    except (ValueError, TypeError, KeyError):  # it is no answer
        reason = f"it ended without an answer: {clean(line, 300)}" if line else "it said nothing"
        return RefusedError(f"{reason}.")
