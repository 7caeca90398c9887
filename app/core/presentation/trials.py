"""Texts about undecided trials: the change, the remaining time, the owner, and who can confirm or revert it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from math import ceil

from app.core.changes.pending_trials import Undecided, trials_by_set
from app.core.presentation import change as view
from backends.text import clean
from widgets.text_utils import units


def trial_set_text(trials: Sequence[Undecided]) -> str:
    """Return the change on trial: `Read-ahead of block:sda: 128 KiB -> 512 KiB`; for several trials, their number."""
    if len(trials) == 1:
        return clean(view.change_text(trials[0].trial.change), 200)
    return f"{units.plural(len(trials), 'change')} of {clean(str(trials[0].trial.change.target), 100)}"


def countdown_text(trials: Sequence[Undecided]) -> str:
    """Return the remaining time of a set of trials: `12 s left`."""
    return f"{max(0, ceil(trials[0].seconds_left))} s left"


def decider_text(undecided: Undecided) -> str:
    """Return a clause about the users who can confirm or revert a trial, for a user who cannot."""
    name = clean(undecided.owner, 40)
    return f"{name} can confirm or revert it" if undecided.uid == 0 else f"{name} or root can confirm or revert it"


def trial_lines(undecideds: Iterable[Undecided]) -> list[str]:
    """Return sentences for each set of trials: change, remaining time, and how to confirm or revert it."""
    return [_line(trials) for trials in trials_by_set(undecideds)]


def _line(trials: Sequence[Undecided]) -> str:
    undecided = trials[0]
    undo = "`u` in the workbench"
    if len(trials) == 1 and undecided.uid == os.geteuid():  # root must not write to another user's session
        undo = f"`raidbench --session {shlex.quote(undecided.trial.session)} undo {undecided.trial.id}`"
    how = (
        f"`raidbench keep` confirms it, {undo} reverts it now."
        if undecided.is_decidable
        else f"{decider_text(undecided)}."
    )
    owner = "" if undecided.is_decidable else f" of {clean(undecided.owner, 40)}"
    return f"Trial{owner}, {countdown_text(trials)}: {trial_set_text(trials)}. {how}"
