"""Conversion of events to JSON lines of a log and back. Lines that other versions of raidbench wrote are tolerated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from app.core.session import events, sweep_record
from app.core.session.events import ChangeIntended, LoggedEvent
from app.core.session.json_codec import structure, unstructure

KINDS: Mapping[str, type[Any]] = {
    "session-started": events.SessionStarted,
    "inventory-seen": events.InventorySeen,
    "command-ran": events.CommandRan,
    "change-intended": events.ChangeIntended,
    "change-ended": events.ChangeEnded,
    "run-started": events.RunStarted,
    "run-ended": events.RunEnded,
    "precondition-ended": events.PreconditionEnded,
    "experiment-started": events.ExperimentStarted,
    "experiment-ended": events.ExperimentEnded,
    "baseline-marked": events.BaselineMarked,
    "note-added": events.NoteAdded,
    "machine-checked": events.MachineChecked,
    "rule-persisted": events.RulePersisted,
    "problem-met": events.ProblemRecorded,
    "session-ended": events.SessionEnded,
    "sweep-started": sweep_record.SweepStarted,
    "sweep-resumed": sweep_record.SweepResumed,
    "sweep-extended": sweep_record.SweepExtended,
    "sweep-step-started": sweep_record.SweepStepStarted,
    "sweep-step-ended": sweep_record.SweepStepEnded,
    "sweep-array-refused": sweep_record.SweepArrayRefused,
    "sweep-ended": sweep_record.SweepEnded,
}
"""The class of each kind of event, by the kind's name in a log. A class may be renamed; the name in logs may not."""

_NEVER_LOGGED = ("lock", "found", "members")
"""Fields of a change that are not logged. Code that acts on a logged change reads them from the device."""
_BEGINS = '{"event":"session-started",'
_BY_TYPE = {event: kind for kind, event in KINDS.items()}


def as_json(event: LoggedEvent) -> dict[str, Any]:
    """Return the event as the JSON object that is written to the log."""
    data = unstructure(event)
    change_fields = (
        data.pop("change") if isinstance(event, ChangeIntended) else {}
    )  # in the log, the fields of the change are fields of the event
    for name in _NEVER_LOGGED:
        change_fields.pop(name, None)
    return {"event": _BY_TYPE[type(event)], **data, **change_fields}


def encode(event: LoggedEvent) -> str:
    """Return the JSON line of an event, without a newline."""
    return json.dumps(as_json(event), separators=(",", ":"), ensure_ascii=True)


def read_origin(line: str) -> tuple[int, object] | None:
    """Return the format and the raidbench version of the lines after this one; None if it is no `SessionStarted` event.

    Such an event is the first that a process writes.
    """
    if not line.startswith(_BEGINS):
        return None
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    number = data.get("format")
    return number if isinstance(number, int) and number > 0 else 1, data.get("version")


def decode(line: str) -> LoggedEvent | None:
    """Return the event in a line of a log; None if its kind is unknown or the line is damaged."""
    try:
        data = json.loads(line)
        kind = KINDS.get(data.pop("event"))
        if kind is None:
            return None
        if kind is not ChangeIntended:
            event: LoggedEvent = structure(data, kind)
            return event
        change_fields = {name: value for name, value in data.items() if name not in _NEVER_LOGGED}
        return structure({**data, "change": change_fields}, ChangeIntended)
    except Exception:  # a damaged line, or one of another version; the caller counts it
        return None
