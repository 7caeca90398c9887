"""Trials: changes that are reverted automatically unless the user confirms them, even if the terminal is lost."""

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
"""Minimum and maximum length of a trial in seconds."""

LONGEST_WAIT = 3600.0
"""Seconds after the deadline during which the watchdog tries a failed restore again.

A restore fails while a program is still setting the value, or a disk is missing or full.
"""

ARM_SECONDS = 60.0
"""Time limit in seconds for arming the watchdog. It first reads the values on trial, and controllers are slow."""


_WATCHDOG, _SIMULATED_WATCHDOG = "app.core.changes.watchdog", "app.cli.simulated_watchdog"
"""Modules that run as the watchdog: on this machine, and on a simulated machine.

They are named here and not imported, because the core must not import the second one.
"""


def check_seconds(seconds: float) -> float:
    """Return the length of a trial unchanged. Raises RefusedError if it is not between 10 and 600 s."""
    if not SHORTEST <= seconds <= LONGEST:
        raise RefusedError(f"A trial must last {SHORTEST:g} to {LONGEST:g} seconds, not {seconds:g}.")
    return seconds


_LATER = {
    Effect.RESHAPE: "takes a reshape of hours",
    Effect.REBOOT: "takes effect with a reboot",
    Effect.RESET: "takes effect with a reset",
}


def unattended_reason(change: Change) -> str:
    """Return why the user must be present during a change, `takes a reshape of hours`; "" if this is not necessary."""
    if change.effect in _LATER:
        return _LATER[change.effect]
    if change.effect is not Effect.AT_ONCE or change.risk is Risk.DESTROYS_DATA:
        return "destroys data, and so does undoing it"
    return ""


def trial_refusal_reason(change: Change) -> str:
    """Return why a change cannot be reverted automatically, such as `cannot be undone`; "" if it can."""
    return unattended_reason(change) or ("" if change.undo else "cannot be undone")


def require_triable(change: Change) -> None:
    """Check that a change can be made as a trial. Raises RefusedError if it cannot be reverted automatically."""
    if reason := trial_refusal_reason(change):
        raise RefusedError(
            f"{change.label} of {change.target} does not support trials: it {reason}.",
            hint="Apply the change without a trial.",
        )


async def arm(paths: Paths, session: Path, until: float) -> None:
    """Start the watchdog of a set of trials, and wait until it reports that it is armed.

    Once armed, it ends only after its deadline, or when all trials of the set are decided. Raises RefusedError if it
    does not report that it is armed: then nothing may be set.
    """
    try:
        await _start(paths, str(session), until)
    except RaidbenchError as error:
        message = f"The watchdog of the trial could not be started: {error.message.rstrip('.')}. Nothing was set."
        raise RefusedError(message, hint=error.hint, evidence=error.evidence) from error


async def rehearse(paths: Paths) -> None:
    """Start the watchdog without a trial: it prepares like an armed one, changes nothing, and exits.

    Raises RaidbenchError if the watchdog reports that it could not be armed.
    """
    await _start(paths, "", None)


async def _start(paths: Paths, session: str, until: float | None) -> None:
    """Start a watchdog, and wait until it reports that it is armed. Raises RaidbenchError if it does not."""
    places = {name: str(getattr(paths, name)) for name in ("sessions", "journal", "locks", "config")}
    order = json.dumps({**places, "apart": paths.apart, "session": session, "until": until})
    # A rehearsal has no deadline, so the present time makes the name of its systemd unit unique.
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
    """Return the error that a watchdog reported in its reply `line`; None if it reported that it is armed."""
    try:
        answer = json.loads(line)
        return None if answer == {"armed": True} else decode_error(answer["error"])
    except (ValueError, TypeError, KeyError):  # not a reply of the watchdog
        reason = f"it ended without an answer: {clean(line, 300)}" if line else "it did not answer"
        return RefusedError(f"{reason}.")
