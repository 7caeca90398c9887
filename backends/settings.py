"""What a setting is and how it reads: everything the screen, command line, log and report derive from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import partial

from backends.did_you_mean import suggestion_hint
from backends.errors import InvalidValueError
from backends.values import dataclass

NOT_UNDERSTOOD = "unknown"
"""The value of a setting whose word the tool or the kernel gives and raidbench does not understand."""


class Risk(StrEnum):
    """The worst that setting a value may do, from harmless to worst."""

    NONE = "none"
    PERFORMANCE = "performance"
    OUTAGE = "outage"
    POWER_LOSS = "power-loss"
    DESTROYS_DATA = "destroys-data"


def worst(risks: Iterable[Risk]) -> Risk:
    """The worst of several risks; none of none."""
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
    """In the device's volatile memory: a warm reboot keeps it, lack of power does not."""


UNCONFIRMED = "Not confirmed on hardware: what is read back afterwards is the only verdict."
"""What stands wherever a setting is explained or reviewed to which no answer of hardware has been recorded."""


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
    new_data: bool = False
    """Whether it is for what is written from now on: a file has to be made anew to measure another value."""
    secret: bool = False
    """Whether a wanted value is never shown, logged or kept: an activation key."""
    confirmed: bool = True
    """Whether an answer of hardware to a change of it has been recorded."""
    other_words: tuple[str, ...] = ()
    """Words that are a value of it on another device or at another time, and may not be offered here and now."""
    stands_for: tuple[str, ...] = ()
    """Keys of other settings of the same thing of which its values are combinations."""

    @property
    def explained(self) -> str:
        """What it does, what it may do, and that no hardware has confirmed it where that is so."""
        return self.with_help(f"{self.help} {self.risk_text}".strip())

    def with_help(self, text: str) -> str:
        """The help of it or of one of its values, with that reservation where it applies."""
        return text if self.confirmed else f"{text} {UNCONFIRMED}".strip()


unconfirmed = partial(Setting, persistence=Persistence.STORED, confirmed=False)
"""A setting that the device keeps, and to a change of which no answer of hardware has been recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One legal value of a setting."""

    value: str
    """In the common vocabulary."""
    label: str
    """For people; may equal `value`."""
    help: str = ""
    """One sentence."""
    risk: Risk = Risk.NONE
    """The worst that this value may do."""


def offer(value: str, text: str = "", *, label: str | None = None, risk: Risk = Risk.NONE) -> Choice:
    """Return a legal value with the sentence that explains it; its label is the value unless another one is given."""
    return Choice(value=value, label=value if label is None else label, help=text, risk=risk)


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
    """May the setting be changed? `why_not` is None when it may."""

    why_not: str | None = None
    """The reason, in words for the person."""
    only_back: bool = False
    """Whether a recorded value may be restored all the same: only the present value is not understood."""

    @property
    def available(self) -> bool:
        """Whether it may be changed."""
        return self.why_not is None

    @property
    def why_not_back(self) -> str | None:
        """Return the reason against the restoration of a recorded value; None if nothing is against it."""
        return None if self.only_back else self.why_not


AVAILABLE = Availability()
"""May be changed."""


def is_understood(value: str | None) -> bool:
    """Return whether the value of a reading says what is set: it is reported, and understood."""
    return value not in (None, NOT_UNDERSTOOD)


def available_unless(first: str | None, unsettled: str | None, last: str | None = None) -> Availability:
    """Return whether a setting may be changed; the first reason of the three is shown.

    `unsettled`: what is not known of the present value, so that a new value could not be taken back. It is no reason
    against the restoration of a recorded value, as `first` and `last` are.
    """
    against = first or last
    return Availability(why_not=first or unsettled or last, only_back=unsettled is not None and against is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A setting as read just now."""

    now: str | None
    """Value in the common vocabulary; None if not reported, `unknown` if not understood."""
    raw: str | None = None
    """The tool's or kernel's own word."""
    effective: str | None = None
    """What is really in force where that can differ (write-back without a battery); None if the same."""
    why_effective: str | None = None
    """Why the effective value differs."""
    follows: bool = False
    """Whether `now` leaves it to something else (`inherit`), so that another value in force is no fault."""
    choices: tuple[Choice, ...] = ()
    """Legal values on this target; empty if the setting is a span."""
    span: Span | None = None
    """Legal range on this target; None if the setting is a choice."""
    availability: Availability = AVAILABLE
    """Whether it may be changed here and now."""

    @property
    def overruled(self) -> bool:
        """Whether another value is in force than the one that is set. Nothing is compared with an unknown value."""
        return self.effective not in (None, self.now) and not self.follows and self.now != NOT_UNDERSTOOD


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
        raise InvalidValueError(
            f"{setting.key} cannot be {value!r} here.",
            hint=suggestion_hint(value, legal, f"Legal values: {', '.join(legal)}."),
        )
    span = reading.span
    if span is None:
        return value
    try:
        number = int(value)
    except ValueError:
        raise InvalidValueError(
            f"{setting.key} wants a whole number, not {value!r}.", hint=f"{_span_text(span, steps=False)}."
        ) from None
    if not span.minimum <= number <= span.maximum or (number - span.minimum) % span.step:
        raise InvalidValueError(f"{setting.key} cannot be {number} here.", hint=f"{_span_text(span)}.")
    return str(number)


def _span_text(span: Span, *, steps: bool = True) -> str:
    every = f" in steps of {span.step}" if steps and span.step != 1 else ""
    return f"From {span.minimum} to {span.maximum} {span.unit}".rstrip() + every


def legal_text(reading: Reading) -> str:
    """Return what is legal here and now, to stand within a sentence: `from 4 to 74 requests`."""
    if reading.choices:
        return f"legal: {', '.join(choice.value for choice in reading.choices)}"
    return "" if reading.span is None else f"f{_span_text(reading.span)[1:]}"


_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,19}", re.ASCII)


def may_be_value(setting: Setting, reading: Reading, value: str) -> bool:
    """Return whether a value is one that the setting takes on another device or at another time.

    Of a setting that has numbers, every number is; of words those that are offered, or that the setting declares.
    """
    numeric = reading.span is not None or any(_WHOLE_NUMBER.fullmatch(choice.value) for choice in reading.choices)
    if numeric and _WHOLE_NUMBER.fullmatch(value):
        return True
    return value in setting.other_words or any(choice.value == value for choice in reading.choices)
