"""Texts and tables about settings: current, legal and staged values, and when a new value takes effect. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from app.core.presentation.risk_text import effect_text, risk_cell
from app.core.presentation.table import Cell, Column, Row, StatusSymbol, Table, Tone
from backends import sizes
from backends.model import Scope
from backends.settings import IN_FORCE, NOT_IN_FORCE, NOT_UNDERSTOOD, Effect, Reading, Risk, Setting, worst
from backends.units import text_in_unit
from backends.values import dataclass

NOT_REPORTED = "not reported"
"""Text shown instead of a value that neither the kernel nor a tool reports."""

COLUMNS = (
    Column(key="setting", title="Setting"),
    Column(key="key", title="Key"),
    Column(key="now", title="Now"),
    Column(key="wanted", title="Wanted"),
    Column(key="may-be", title="May be", shrinks=True),
    Column(key="staged", title="Staged"),
    Column(key="effect", title="Takes effect", priority=1),
    Column(key="risk", title="Risk"),
)


def value_text(setting: Setting, reading: Reading, value: str | None) -> str:
    """Return `value` for display: its label if it has one, else the value with its unit."""
    if value is None:
        return NOT_REPORTED
    labels = {choice.value: choice.label for choice in reading.choices}
    return labels.get(value) or text_in_unit(value, setting.unit)


def now_cell(setting: Setting, reading: Reading, *, brief: bool = False) -> Cell:
    """Return the configured value, and the effective value if it differs.

    `brief`: put the effective value first, for a column whose cells may be cut.
    """
    now = value_text(setting, reading, reading.now)
    if reading.now == NOT_UNDERSTOOD and reading.raw:
        now = f"{now}: {reading.raw}"
    if reading.effective in (None, reading.now):
        return Cell(now)
    if reading.effective == IN_FORCE:
        return Cell(f"{now}, {IN_FORCE}")
    effective = value_text(setting, reading, reading.effective)
    if not reading.overruled:
        return Cell(f"{effective} ({now})")
    if brief:
        return Cell(f"{effective}, set: {now}", Tone.ATTENTION, StatusSymbol.ATTENTION)
    joint = ": " if effective == NOT_IN_FORCE else ", in force "
    return Cell(f"{now}{joint}{effective}", Tone.ATTENTION, StatusSymbol.ATTENTION)


def legal_text(setting: Setting, reading: Reading) -> str:
    """Return the values that the command `set` accepts, with their labels if they differ from the values."""
    if reading.choices:
        return ", ".join(
            choice.value if choice.label == choice.value else f"{choice.value} ({choice.label})"
            for choice in reading.choices
        )
    span = reading.span
    if span is None:
        return ""
    unit = f" {span.unit or setting.unit}".replace(" us", " µs").rstrip()
    step = f", step {span.step}" if span.step != 1 else ""
    return f"{span.minimum}–{span.maximum}{unit}{step}"


def legal_labels(setting: Setting, reading: Reading) -> list[tuple[str | None, str]]:
    """Return the legal values of a setting with their labels. A range is a single entry, with None as its value."""
    if reading.choices:
        return [(choice.value, choice.label) for choice in reading.choices]
    text = legal_text(setting, reading)
    return [(None, text)] if text else []


def effective_reason_text(setting: Setting, reading: Reading) -> str | None:
    """Return a sentence that explains why the effective value differs; None if the reason is unknown."""
    if not reading.why_effective:
        return None
    if reading.effective in (IN_FORCE, NOT_IN_FORCE):
        return f"{setting.label} is {reading.effective}: {reading.why_effective}."
    effective = value_text(setting, reading, reading.effective or reading.now)
    return f"The effective value is {effective}: {reading.why_effective}."


def risk_of(setting: Setting, reading: Reading, value: str | None = None) -> Risk:
    """Return the risk of a value of a setting; if `value` is None, the highest risk of all values."""
    of_choices = {choice.value: choice.risk for choice in reading.choices}
    if value is None:
        return worst((setting.risk, *of_choices.values()))
    return of_choices.get(value, setting.risk)


def settings_table(
    settings: Sequence[Setting],
    readings: Mapping[str, Reading],
    scope: Scope,
    *,
    staged: Mapping[str, str] | None = None,
    outcomes: Mapping[str, Cell] | None = None,
    wanted: Mapping[str, str] | None = None,
    heading: str = "",
    brief: bool = False,
) -> Table:
    """Return the table of the settings of one target that were read. The row of a read-only setting is dim.

    `staged`: staged values by key. `outcomes`: outcomes of their changes by key. `wanted`: values by key from the
    settings file with which the target is compared. `brief`: put the effective value first, and show when a value takes
    effect only if that is not at once.
    """
    staged, outcomes, wanted = staged or {}, outcomes or {}, wanted or {}
    rows = []
    for setting in settings:
        key, reading = setting.key, readings.get(setting.key)
        if reading is None:
            continue
        cells = (
            setting.label,
            key,
            now_cell(setting, reading, brief=brief),
            _wanted(setting, reading, wanted.get(key)),
            legal_text(setting, reading),
            # An outcome belongs to the staged value, and is removed when another value is staged.
            outcomes.get(key) or _staged(setting, reading, staged.get(key)),
            "" if brief and setting.effect is Effect.AT_ONCE else effect_text(setting.effect, scope),
            risk_cell(risk_of(setting, reading, staged.get(key))),
        )
        rows.append(Row(key=key, cells=cells, dim=not reading.availability.available))
    return Table(columns=COLUMNS, rows=tuple(rows), heading=heading)


def _wanted(setting: Setting, reading: Reading, value: str | None) -> Cell:
    """Return the value from the settings file if it differs from the current one; else an empty cell."""
    if value in (None, reading.now):
        return Cell("")
    return Cell(value_text(setting, reading, value), Tone.ATTENTION)


def _staged(setting: Setting, reading: Reading, value: str | None) -> Cell:
    if value is None:
        return Cell("")
    return Cell("***" if setting.secret else value_text(setting, reading, value), Tone.STAGED)


def unavailable_reasons(
    settings: Sequence[Setting], readings: Mapping[str, Reading]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the reasons why settings cannot be changed, each with the keys of the settings to which it applies."""
    keys: dict[str, list[str]] = {}
    for setting in settings:
        reading = readings.get(setting.key)
        if reading is not None and reading.availability.why_not is not None:
            keys.setdefault(reading.availability.why_not, []).append(setting.key)
    return tuple((reason, tuple(of_it)) for reason, of_it in keys.items())


# -- main settings of a device in a few words: write cache, read-ahead, strip and two more ----------------------------

Pairs = Mapping[str, tuple[Setting, Reading]]
"""Settings with their readings, by key."""

WRITE_CACHE = ("cache_mode", "write_cache")
"""Keys of the write-cache settings: first that of a cache device, then that of the kernel's queue."""

READ_AHEAD = ("read_ahead", "lv_read_ahead", "read_ahead_kb")
STRIP = ("strip_size", "chunk_size", "stripe_size")
TELLING = {
    "io_policy": "",
    "bitmap": "bitmap ",
    "sync": "sync ",
    "compression": "compression ",
    "scheduler": "",
    "nr_requests": "",
}
"""Keys of other informative settings, with a prefix for their values. At most two of these settings are shown."""


_NOTHING = Cell("")


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningCells:
    """Cells for the main settings in the row of a device. A setting that the device does not have is an empty cell."""

    write_cache: Cell = _NOTHING
    """Write cache: `through`, `back`; without `write-`, which is in the heading."""
    read_ahead: Cell = _NOTHING
    """Read-ahead of the controller or of the kernel's queue."""
    strip: Cell = _NOTHING
    """Strip size of a striped array."""
    others: str = ""
    """Other settings, such as I/O policy, bitmap, scheduler or queue."""


UNREAD = TuningCells()
"""Cells of a device whose settings have not been read, or that has no settings."""


def tuning_cells(pairs: Pairs) -> TuningCells:
    """Return the cells for the main settings of a device."""
    texts = [
        start + value_text(*pairs[key], pairs[key][1].effective if pairs[key][1].follows else pairs[key][1].now)
        for key, start in TELLING.items()
        if key in pairs and pairs[key][1].now is not None
    ]
    return TuningCells(
        write_cache=_tuning_cell(pairs, WRITE_CACHE),
        read_ahead=_tuning_cell(pairs, READ_AHEAD),
        strip=_tuning_cell(pairs, STRIP),
        others=", ".join(texts[:2]),
    )


def _tuning_cell(pairs: Pairs, keys: tuple[str, ...]) -> Cell:
    """Return the cell of the first of these settings that has a value, with the effective value if it differs."""
    pair = next((pairs[key] for key in keys if key in pairs and pairs[key][1].now is not None), None)
    if pair is None:
        return _NOTHING
    setting, reading = pair
    if not reading.overruled:
        return Cell(_brief_value(now_cell(setting, reading).text))
    values = (_brief_value(value_text(setting, reading, value)) for value in (reading.now, reading.effective))
    return Cell(f" {SIGN}".join(values), Tone.ATTENTION)


SIGN = "▲"
"""Sign before an effective value that differs from the configured one; the same as that of `StatusSymbol.ATTENTION`."""


_SIZE_WORDS = re.compile(r"\b\d+ [KMGT]?i?B\b")


def _brief_value(text: str) -> str:
    """Return a value in the short form for lists: `through`, `on`, `128K`, `auto 128K`."""
    if text == "read-ahead":
        return "on"
    text = text.removeprefix("write-").replace("auto, now ", "auto ")
    return _SIZE_WORDS.sub(lambda size: sizes.brief_text(sizes.read_size(size[0]) or 0), text)
