"""What settings, fields of a job and facts beneath a run are called, wherever a recorded one is told of. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from app.engine.fio.fields import FIELDS
from app.engine.judge.provenance import words_of
from app.engine.session.labels import in_words
from app.engine.session.sweep_record import SweepRecord
from app.engine.session.sweep_steps import Skipped, SweepCell
from backends.registry import declared
from widgets.plain import units

_IN_FORCE = "in_force_"
_Named = TypeVar("_Named", SweepCell, Skipped)
_FIELDS = {field.key: field.label for field in FIELDS}


def key_name(key: str) -> str:
    """`Read-ahead` of `read_ahead_kb`, `Write-mostly, sda1` of `write_mostly.sda1`, `Queue depth` of `iodepth`."""
    known, (kind, _, member) = declared(), key.partition(".")
    if kind in known:
        return f"{known[kind].label}, {member}" if member else known[kind].label
    if key.startswith(_IN_FORCE):
        return f"{key_name(key.removeprefix(_IN_FORCE))} in force"
    return _FIELDS.get(key) or words_of(key)


def key_heading(key: str) -> str:
    """The same where it stands by itself."""
    name = key_name(key)
    return f"{name[:1].upper()}{name[1:]}"


def key_value(key: str, value: str | None) -> str:
    """With its unit, `4096 KiB`; a dash for what was not recorded."""
    return in_words(key.removeprefix(_IN_FORCE).partition(".")[0], value or "") or units.NOTHING


def set_up(row: str) -> str:
    """A set-up of a sweep by its settings: `Read-ahead none, Strip size 256 KiB`; its own name stays as it is."""
    return ", ".join(_worded(part) for part in row.split(", "))


def _worded(part: str) -> str:
    key, equals, value = part.partition("=")
    return f"{key_name(key)} {key_value(key, value)}" if equals and key in declared() else part


def worded(record: SweepRecord) -> SweepRecord:
    """The same sweep, its set-ups named as people read them."""
    design = replace(record.design, cells=_with_words(record.design.cells), skipped=_with_words(record.design.skipped))
    return replace(record, design=design, cells=_with_words(record.cells))


def _with_words(ones: tuple[_Named, ...]) -> tuple[_Named, ...]:
    return tuple(replace(one, row=set_up(one.row)) for one in ones)


def named(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Headings with their values, in their order."""
    return ((key_heading(key), key_value(key, value)) for key, value in values.items())
