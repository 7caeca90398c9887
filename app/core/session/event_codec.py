"""Events and figures as JSON and back: strict about what is ours, patient with other versions."""

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
"""Every kind of line, by the name that it has in a log: a class may be renamed, its name here may not."""

_NEVER_LOGGED = ("lock", "found", "members")
"""What a change knows and a log does not say: whoever acts on a log asks the device for it."""
_BEGINS = '{"event":"session-started",'
_BY_TYPE = {event: kind for kind, event in KINDS.items()}


def as_json(event: LoggedEvent) -> dict[str, Any]:
    """The event as the object that its line in the log holds."""
    data = unstructure(event)
    change_fields = data.pop("change") if isinstance(event, ChangeIntended) else {}  # its fields lie beside the event's
    for name in _NEVER_LOGGED:
        change_fields.pop(name, None)
    return {"event": _BY_TYPE[type(event)], **data, **change_fields}


def encode(event: LoggedEvent) -> str:
    """One JSON line without its newline."""
    return json.dumps(as_json(event), separators=(",", ":"), ensure_ascii=True)


def read_origin(line: str) -> tuple[int, object] | None:
    """Format and program of the lines that follow one with which a program begins to write; None for any other."""
    if not line.startswith(_BEGINS):
        return None
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    number = data.get("format")
    return number if isinstance(number, int) and number > 0 else 1, data.get("version")


def decode(line: str) -> LoggedEvent | None:
    """The event of a line; None if its kind is not known to this version or the line is damaged."""
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
    except Exception:  # any damage, or another version's shape: counted by the caller, never fatal
        return None
