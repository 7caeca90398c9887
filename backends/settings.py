"""Settings and their readings, which screens, command line, log and report all use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import partial

from backends.did_you_mean import suggestion_hint
from backends.errors import InvalidValueError
from backends.units import number_in_unit
from backends.values import dataclass

NOT_UNDERSTOOD = "unknown"
"""Value of a setting that the tool or the kernel reports in a way that raidbench does not understand."""

IN_FORCE = "in force"
"""Effective value of a combination of settings that has its effect."""

NOT_IN_FORCE = "not in force"
"""Effective value of a combination of settings that lacks a condition."""


class Risk(StrEnum):
    """Worst possible consequence of setting a value, from harmless to severe."""

    NONE = "none"
    PERFORMANCE = "performance"
    OUTAGE = "outage"
    POWER_LOSS = "power-loss"
    DESTROYS_DATA = "destroys-data"


def worst(risks: Iterable[Risk]) -> Risk:
    """Return the worst of several risks; NONE if there are none."""
    return max(risks, key=tuple(Risk).index, default=Risk.NONE)


class Effect(StrEnum):
    """When a changed value takes effect."""

    AT_ONCE = "at-once"
    REBOOT = "reboot"
    RESET = "reset"
    RESHAPE = "reshape"
    RECREATED = "re-created"


class Persistence(StrEnum):
    """Whether a value survives a reboot."""

    STORED = "stored"
    LOST_AT_REBOOT = "lost-at-reboot"
    LOST_AT_POWER_OFF = "lost-at-power-off"
    """The value is in the device's volatile memory: it survives a warm reboot, but not a power loss."""


UNCONFIRMED = "This change has not been tested on real hardware. raidbench verifies it by reading the value back."
"""Note shown with the explanation and the review of a setting whose change has not been recorded on hardware."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One legal value of a setting."""

    value: str
    """Value by its name in raidbench, which is the same for all vendors with this value."""
    label: str
    """Label for users; may equal `value`."""
    help: str = ""
    """Explanation in one sentence."""
    risk: Risk = Risk.NONE
    """Risk of this value."""


def offer(value: str, text: str = "", *, label: str | None = None, risk: Risk = Risk.NONE) -> Choice:
    """Return a legal value with the sentence that explains it. The label is the value by default."""
    return Choice(value=value, label=value if label is None else label, help=text, risk=risk)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting, declared once by its backend."""

    key: str
    """Key in raidbench, the same for all vendors with this setting; or the kernel's own name in snake case."""
    label: str
    """Label for users."""
    help: str
    """Explanation in a few sentences, with the source of a vendor fact."""
    risk: Risk = Risk.NONE
    """Highest risk of its values; a single choice may have a lower risk."""
    risk_text: str = ""
    """The risk as a sentence, "" if there is none."""
    effect: Effect = Effect.AT_ONCE
    """When a changed value takes effect."""
    persistence: Persistence = Persistence.LOST_AT_REBOOT
    """Whether a changed value survives a reboot."""
    unit: str = ""
    """Unit of a numeric value."""
    new_data: bool = False
    """Whether it affects only data written later, so that measuring another value needs a new scratch file."""
    secret: bool = False
    """Whether a requested value is never shown, logged or stored: an activation key."""
    confirmed: bool = True
    """Whether a change of it has been recorded on hardware."""
    other_words: tuple[str, ...] = ()
    """Values that other devices have, or that this one may have had, whether they are offered here now or not."""
    choices: tuple[Choice, ...] = ()
    """Choices that are the same on every device; empty otherwise. Recorded values are shown by their labels."""
    stands_for: tuple[str, ...] = ()
    """Keys of other settings of the same device. Each value of this setting is a combination of theirs."""

    @property
    def explained(self) -> str:
        """Return the explanation with the risk, and with `UNCONFIRMED` if no change has been recorded on hardware."""
        return self.with_help(f"{self.help} {self.risk_text}".strip())

    def with_help(self, text: str) -> str:
        """Return the help text `text`, followed by `UNCONFIRMED` if no change has been recorded on hardware."""
        return text if self.confirmed else f"{text} {UNCONFIRMED}".strip()


unconfirmed = partial(Setting, persistence=Persistence.STORED, confirmed=False)
"""Function that creates a setting that the device stores and whose change has not been recorded on hardware."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The legal values of a numeric setting."""

    minimum: int
    """Smallest legal value."""
    maximum: int
    """Largest legal value."""
    step: int = 1
    """Values are minimum + n * step."""
    unit: str = ""
    """`KiB`, `us`, `requests`; "" for a bare number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """Whether a setting may be changed. `why_not` is None if it may."""

    why_not: str | None = None
    """Reason why it may not be changed, as users see it."""
    only_back: bool = False
    """Whether a recorded value may be restored although `why_not` is set: only the current value is not understood."""

    @property
    def available(self) -> bool:
        """Return whether it may be changed."""
        return self.why_not is None

    @property
    def why_not_back(self) -> str | None:
        """Return the reason against restoring a recorded value; None if it may be restored."""
        return None if self.only_back else self.why_not


AVAILABLE = Availability()
"""Availability of a setting that may be changed."""


def is_understood(value: str | None) -> bool:
    """Return whether a value is reported and raidbench understands it."""
    return value not in (None, NOT_UNDERSTOOD)


def available_unless(first: str | None, unsettled: str | None, last: str | None = None) -> Availability:
    """Return an availability with the first of these reasons that is not None; available if all are None.

    `unsettled`: reason why the current value could not be restored after a change. Unlike `first` and `last`, it does
    not prevent restoring a recorded value.
    """
    against = first or last
    return Availability(why_not=first or unsettled or last, only_back=unsettled is not None and against is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The current state of a setting."""

    now: str | None
    """Configured value by its name in raidbench; None if not reported, `unknown` if not understood."""
    raw: str | None = None
    """Value as the tool or kernel writes it."""
    effective: str | None = None
    """Effective value if it is known apart from `now` (write-back without a battery); None if it is the same."""
    why_effective: str | None = None
    """Why the effective value differs."""
    follows: bool = False
    """Whether the configured value only refers to another one (`inherit`).

    Then a different effective value is no fault.
    """
    choices: tuple[Choice, ...] = ()
    """Legal values on this target; empty if the setting has a range."""
    span: Span | None = None
    """Legal range on this target; None if the setting has choices."""
    availability: Availability = AVAILABLE
    """Whether it may be changed now."""

    @property
    def overruled(self) -> bool:
        """Return whether the effective value differs from the configured one. Unknown values are not compared."""
        return self.effective not in (None, self.now, IN_FORCE) and not self.follows and self.now != NOT_UNDERSTOOD

    @property
    def effective_clause(self) -> str:
        """Return the effective value as a clause: `the effective value is off`, `it is not in force`."""
        if self.effective in (IN_FORCE, NOT_IN_FORCE):
            return f"it is {self.effective}"
        return f"the effective value is {self.effective}"


def check_value(setting: Setting, reading: Reading, value: str) -> str:
    """Return the value in canonical form. Raises InvalidValueError, which lists the legal values.

    Accepts the value, its label, or a number with the setting's unit: `262144`, `256 KiB` and `256k` are the same
    value.
    """
    if reading.choices:
        legal = [choice.value for choice in reading.choices]
        by_label = {choice.label.lower(): choice.value for choice in reading.choices}
        for spelling in (value, by_label.get(value.lower()), str(number_in_unit(value, setting.unit))):
            if spelling in legal:
                return spelling
        raise InvalidValueError(
            f"{setting.key} cannot be {value!r} here.",
            hint=suggestion_hint(value, legal, _legal_hint(setting, reading)),
        )
    span = reading.span
    if span is None:
        return value
    number = number_in_unit(value, span.unit or setting.unit)
    if number is None:
        raise InvalidValueError(
            f"{setting.key} must be a whole number, not {value!r}.", hint=_legal_hint(setting, reading)
        )
    if not span.minimum <= number <= span.maximum or (number - span.minimum) % span.step:
        raise InvalidValueError(f"{setting.key} cannot be {number} here.", hint=_legal_hint(setting, reading))
    return str(number)


def _legal_hint(setting: Setting, reading: Reading) -> str:
    text = legal_text(setting, reading)
    return f"{text[:1].upper()}{text[1:]}."


def legal_text(setting: Setting, reading: Reading) -> str:
    """Return the legal values for use within a sentence: `valid values: from 4 to 74 requests`; "" if unknown."""
    if reading.choices:
        shown = (
            choice.label if setting.unit and _WHOLE_NUMBER.fullmatch(choice.value) else choice.value
            for choice in reading.choices
        )
        return f"valid values: {', '.join(shown)}"
    span = reading.span
    if span is None:
        return ""
    steps = f" in steps of {span.step}" if span.step != 1 else ""
    return f"valid values: from {span.minimum} to {span.maximum} {span.unit}".rstrip() + steps


_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,19}", re.ASCII)


def may_be_value(setting: Setting, reading: Reading, value: str) -> bool:
    """Return whether the value may be legal on another device or at another time.

    For a numeric setting this is any number. A word must be offered now, or be one of the setting's `other_words`.
    """
    numeric = reading.span is not None or any(_WHOLE_NUMBER.fullmatch(choice.value) for choice in reading.choices)
    if numeric and _WHOLE_NUMBER.fullmatch(value):
        return True
    return value in setting.other_words or any(choice.value == value for choice in reading.choices)
