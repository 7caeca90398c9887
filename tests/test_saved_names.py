"""Names that are written to disk or sent over a wire, as one table that a person can read: saved_names.txt.

A class, a field or a function may be renamed; what is here may not, unless the format changes.
Written anew with `--snapshot-update`, after a look at what changed.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from app.core.analysis.past_runs.index import _COLUMNS
from app.core.changes.arrays.array_journal import ArrayJournalEntry
from app.core.fio.fields import FIELDS as JOB_FIELDS
from app.core.presentation.json_schema import HEALTH
from app.core.session import event_codec
from app.core.session.archive import ArchivedFile
from app.core.session.event_types import PreconditionWritten, Progress
from app.core.session.events import LoggedEvent, MachineFacts
from app.core.session.journal import ChangeProcess, UnresolvedChange
from app.features.fleet.multihost.record import JointRecord
from app.features.sweep.engine import live_log
from app.privsep.dispatcher import CHANGES, FINISHED
from app.privsep.request_schema import FIELDS, RESULTS
from backends import errors
from backends.change import Change
from backends.errors import RaidbenchError, RefusedError
from backends.firmware_queries import FirmwareQuery
from backends.formats import FORMATS
from backends.helper_interface import ERRORS, decode_error, encode_error
from backends.host import FileStat
from backends.identity import Identity, Signature
from backends.model import THING_KINDS
from backends.simulator.rack import Rack
from backends.topology.facts import DeviceFacts
from widgets.plot_render.plot_data import Data

SAVED: Mapping[str, type[Any]] = {
    "journal intent": UnresolvedChange,
    "journal setter": ChangeProcess,
    "device written": PreconditionWritten,
    "joint run": JointRecord,
    "array": ArrayJournalEntry,
    "baseline machine": MachineFacts,
    "archive part": ArchivedFile,
    "recorded stat": FileStat,
    "helper change": Change,
    "helper facts": DeviceFacts,
    "helper signature": Signature,
    "helper identity": Identity,
    "rack": Rack,
}
"""Values that are written by the names of their fields, besides events, by what the table calls them."""


class SavedNames(SingleFileSnapshotExtension):
    """One file of plain text."""

    _write_mode = WriteMode.TEXT
    _file_extension = "txt"

    @classmethod
    def dirname(cls, *, test_location: object) -> str:
        return str(Path(__file__).parent)

    @classmethod
    def get_snapshot_name(cls, *, test_location: object, index: object = 0) -> str:
        return "saved_names"


# -- the fields of a value, and of the values in it -------------------------------------------------------------------


class Shapes:
    """Lines that name the fields of dataclasses and the words of enums; each class once, at its first place."""

    def __init__(self) -> None:
        self._first: dict[type[Any], str] = {}

    def lines(self, called: str, kind: type[Any]) -> Iterator[str]:
        """The line of a class, then those of the classes within it."""
        if kind in self._first:
            yield f"{called}: as {self._first[kind]}"
            return
        self._first[kind] = called
        if issubclass(kind, Enum):
            yield f"{called}: one of {', '.join(str(one.value) for one in kind)}"
            return
        hints = typing.get_type_hints(kind, vars(inspect.getmodule(kind)), {"Callable": object})
        saved = [field for field in fields(kind) if field.init]
        yield f"{called}: {', '.join(map(_field, saved))}"
        for field in saved:
            for inner in _classes(hints[field.name]):
                yield from self.lines(f"{called}.{field.name}", inner)


def _field(field: Field[Any]) -> str:
    return field.name


def _classes(hint: Any) -> Iterator[type[Any]]:
    """Dataclasses and enums in an annotation."""
    if get_origin(hint) is not None or isinstance(hint, types.UnionType):
        for one in get_args(hint):
            yield from _classes(one)
    elif isinstance(hint, type) and (is_dataclass(hint) or issubclass(hint, Enum)):
        yield hint


def everything() -> Iterator[str]:
    shapes = Shapes()
    yield "== events of a log"
    for name, event in event_codec.KINDS.items():
        yield from shapes.lines(name, event)
    yield "== events of a running step"
    for name, progress in live_log.KINDS.items():
        yield from shapes.lines(name, progress)
    yield "== values by their fields"
    for name, kind in SAVED.items():
        yield from shapes.lines(name, kind)
    yield "== data of a plot in JSON"
    for number, kind in enumerate(get_args(Data), 1):
        yield from shapes.lines(f"plot {number}", kind)
    yield "== fields of a job"
    yield ", ".join(field.key for field in JOB_FIELDS)
    yield "== columns of the index"
    yield ", ".join(_COLUMNS)
    yield "== health of a drive in JSON"
    yield ", ".join(HEALTH)
    yield "== kinds of things"
    yield ", ".join(THING_KINDS.values())
    yield "== formats"
    yield ", ".join(f"{kept} {number}" for kept, number in FORMATS.items())
    yield "== errors of an answer"
    yield ", ".join(ERRORS)
    yield "== verbs of the root helper"
    for verb, taken in FIELDS.items():
        yield f"{verb}: {', '.join(taken)}".rstrip(": ")
    yield f"change something: {', '.join(sorted(CHANGES))}"
    yield f"are finished: {', '.join(sorted(FINISHED))}"
    yield f"results: {', '.join(RESULTS)}"
    yield "== questions to firmware"
    yield ", ".join(question.name for question in FirmwareQuery)


def test_all_saved_names_are_those_of_the_table(snapshot: SnapshotAssertion) -> None:
    assert "\n".join(everything()) + "\n" == snapshot(extension_class=SavedNames)


# -- that each table has all ------------------------------------------------------------------------------------------


def test_every_event_has_a_name() -> None:
    assert set(event_codec.KINDS.values()) == set(get_args(LoggedEvent))
    assert set(live_log.KINDS.values()) == set(get_args(Progress))


def test_every_error_of_the_family_has_a_name() -> None:
    family = {one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, RaidbenchError)}
    assert set(ERRORS.values()) == family


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_arrives_as_what_it_was(name: str) -> None:
    sent = encode_error(ERRORS[name]("It is busy.", hint="Wait.", evidence="busy"))
    arrived = decode_error(sent)
    assert (sent["kind"], type(arrived), arrived.message, arrived.hint, arrived.evidence) == (
        name,
        ERRORS[name],
        "It is busy.",
        "Wait.",
        "busy",
    )


def test_an_error_that_no_answer_can_carry_arrives_as_a_refusal() -> None:
    class StrangeError(RaidbenchError):
        """Of another module."""

    assert type(decode_error(encode_error(StrangeError("It is strange.")))) is RefusedError
    assert type(decode_error({"kind": "Path", "message": "x"})) is RefusedError
