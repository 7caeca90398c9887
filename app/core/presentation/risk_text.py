"""Risk, effect and persistence of a change as text, for screens, command line and report. No I/O."""

from __future__ import annotations

from enum import Enum

from app.core.presentation.table import Cell, StatusSymbol, Tone
from backends.model import Scope
from backends.settings import Effect, Persistence, Risk

_WORDS: dict[Effect, str] = {
    Effect.AT_ONCE: "at once",
    Effect.REBOOT: "after a reboot",
    Effect.RESET: "after a reset",
    Effect.RESHAPE: "after a reshape",
    Effect.RECREATED: "array re-created",
}
_OF_A_DRIVE: dict[Effect, str] = {Effect.RECREATED: "reformatted"}

_KEPT: dict[Persistence, str] = {
    Persistence.STORED: "until changed again",
    Persistence.LOST_AT_REBOOT: "until reboot",
    Persistence.LOST_AT_POWER_OFF: "until power-off",
}

_RISKS: dict[Risk, Cell] = {
    Risk.NONE: Cell("-"),
    Risk.PERFORMANCE: Cell("slower"),
    Risk.OUTAGE: Cell("outage", Tone.ATTENTION),
    Risk.POWER_LOSS: Cell("power loss", Tone.ATTENTION),
    Risk.DESTROYS_DATA: Cell("DESTROYS DATA", Tone.BAD),
}

_OUTCOMES = {
    **dict.fromkeys(("verified", "restored", "kept", "undone"), (Tone.GOOD, StatusSymbol.WELL)),
    **dict.fromkeys(("differs", "gone"), (Tone.ATTENTION, StatusSymbol.ATTENTION)),
}

SETTING = Cell("setting…", Tone.ACCENT, StatusSymbol.BUSY)
"""Outcome of a change that is being applied."""

WAITS = Cell("waits", Tone.DIM)
"""Outcome of a change that is applied later."""


class ConfirmationLevel(Enum):
    """How the user confirms a change."""

    HARMLESS = "harmless"
    """By a yes."""
    RISKY = "risky"
    """By a yes that needs attention."""
    DESTRUCTIVE = "destructive"
    """By typing the confirmation token of the device that loses data."""


def effect_text(effect: Effect, scope: Scope) -> str:
    """Return when a value takes effect for a target of that kind: an array is re-created, a drive is formatted."""
    return _OF_A_DRIVE.get(effect, _WORDS[effect]) if scope is Scope.DRIVE else _WORDS[effect]


def kept_text(persistence: Persistence) -> str:
    """Return how long a value stays."""
    return _KEPT[persistence]


def risk_cell(risk: Risk) -> Cell:
    """Return the worst consequence of a value in a word or two."""
    return _RISKS[risk]


def confirmation_level(risk: Risk) -> ConfirmationLevel:
    """Return how the user has to confirm a risk."""
    match risk:
        case Risk.NONE | Risk.PERFORMANCE:
            return ConfirmationLevel.HARMLESS
        case Risk.OUTAGE | Risk.POWER_LOSS:
            return ConfirmationLevel.RISKY
        case Risk.DESTROYS_DATA:
            return ConfirmationLevel.DESTRUCTIVE


def outcome_cell(result: str) -> Cell:
    """Return the outcome of a change with its tone: `verified`, `differs`, `failed`, ..."""
    tone, mark = _OUTCOMES.get(result, (Tone.BAD, StatusSymbol.FAILED))
    return Cell(result, tone, mark)
