"""Setting declarations: everything the screen, command line, log and report derive from."""

from __future__ import annotations

from dataclasses import dataclass

from backends.errors import InvalidValueError
from backends.model import Effect, Persistence, Reading, Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting, declared once by its backend."""

    key: str
    """Common vocabulary or the kernel's own name in snake case."""
    label: str
    """For people."""
    help: str
    """What it does, in a few sentences; the source of a vendor fact."""
    risk: Risk = Risk.NONE
    """The worst that some value of it may do; a choice may say less."""
    risk_text: str = ""
    """The same in one sentence, "" when there is none."""
    effect: Effect = Effect.AT_ONCE
    """When a changed value takes effect."""
    persistence: Persistence = Persistence.LOST_AT_REBOOT
    """Whether a changed value survives a reboot."""
    unit: str = ""
    """Unit of a numeric value."""
    secret: bool = False
    """Whether a wanted value is never shown, logged or kept: an activation key."""


def check_value(setting: Setting, reading: Reading, value: str) -> str:
    """The value in canonical form.

    Raises InvalidValueError naming the legal values.
    """
    if reading.choices:
        legal = [choice.value for choice in reading.choices]
        if value in legal:
            return value
        by_label = {choice.label.lower(): choice.value for choice in reading.choices}
        if value.lower() in by_label:
            return by_label[value.lower()]
        raise InvalidValueError(f"{setting.key} cannot be {value!r} here.", hint=f"Legal values: {', '.join(legal)}.")
    span = reading.span
    if span is None:
        return value
    try:
        number = int(value)
    except ValueError:
        raise InvalidValueError(
            f"{setting.key} wants a whole number, not {value!r}.",
            hint=f"From {span.minimum} to {span.maximum} {span.unit}".rstrip() + ".",
        ) from None
    if not span.minimum <= number <= span.maximum or (number - span.minimum) % span.step:
        steps = f" in steps of {span.step}" if span.step != 1 else ""
        raise InvalidValueError(
            f"{setting.key} cannot be {number} here.",
            hint=f"From {span.minimum} to {span.maximum} {span.unit}".rstrip() + f"{steps}.",
        )
    return str(number)
