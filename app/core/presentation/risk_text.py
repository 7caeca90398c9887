"""Texts for the risk, effect and persistence of a change, for screens, command line and report. No I/O."""

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
"""Outcome of a change that will be applied later."""


class ConfirmationLevel(Enum):
    """How the user confirms a change."""

    HARMLESS = "harmless"
    """The user answers yes to a question without a warning."""
    RISKY = "risky"
    """The user answers yes to a question that states the risk."""
    DESTRUCTIVE = "destructive"
    """The user types the confirmation token of the device that loses data."""


def effect_text(effect: Effect, scope: Scope) -> str:
    """Return when a value takes effect: `after a reboot`, for example.

    If the target must be re-created, the text is `array re-created`, or `reformatted` for a drive.
    """
    return _OF_A_DRIVE.get(effect, _WORDS[effect]) if scope is Scope.DRIVE else _WORDS[effect]


def kept_text(persistence: Persistence) -> str:
    """Return how long a value is kept: `until reboot`, for example."""
    return _KEPT[persistence]


def risk_cell(risk: Risk) -> Cell:
    """Return the worst possible consequence of a value in one or two words."""
    return _RISKS[risk]


def confirmation_level(risk: Risk) -> ConfirmationLevel:
    """Return how the user must confirm a change with this risk."""
    match risk:
        case Risk.NONE | Risk.PERFORMANCE:
            return ConfirmationLevel.HARMLESS
        case Risk.OUTAGE | Risk.POWER_LOSS:
            return ConfirmationLevel.RISKY
        case Risk.DESTROYS_DATA:
            return ConfirmationLevel.DESTRUCTIVE


def outcome_cell(result: str) -> Cell:
    """Return the outcome of a change (`verified`, `differs`, `failed` and so on) with its tone and sign."""
    tone, mark = _OUTCOMES.get(result, (Tone.BAD, StatusSymbol.FAILED))
    return Cell(result, tone, mark)
