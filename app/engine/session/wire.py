"""Events and figures as JSON and back: strict about what is ours, patient with other versions."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from app.engine.session.events import LoggedEvent

if TYPE_CHECKING:
    from cattrs import Converter

T = TypeVar("T")

_KINDS: dict[str, type[Any]] = {}


def _kind(event: type[Any]) -> str:
    """`ChangeIntended` -> `change-intended`."""
    name = event.__name__
    return "".join(f"-{char.lower()}" if char.isupper() else char for char in name).lstrip("-")


for _event in get_args(LoggedEvent):
    _KINDS[_kind(_event)] = _event
_BY_TYPE = {event: kind for kind, event in _KINDS.items()}


@cache
def _converter() -> Converter:
    """Made when the first event is read or written: cattrs takes longer to import than a look at all devices."""
    from cattrs import Converter

    return Converter(omit_if_default=True, forbid_extra_keys=False)


def unstructure(value: Any) -> Any:
    """Any of our dataclasses as JSON-ready values; fields at their default are left out."""
    return _converter().unstructure(value)


def structure(data: Any, kind: type[T]) -> T:
    """The dataclass again. Raises whatever cattrs raises on a shape that is not ours."""
    return _converter().structure(data, kind)


def as_json(event: LoggedEvent) -> dict[str, Any]:
    """The event as the object that its line in the log holds."""
    return {"event": _BY_TYPE[type(event)], **_converter().unstructure(event)}


def encode(event: LoggedEvent) -> str:
    """One JSON line without its newline."""
    return json.dumps(as_json(event), separators=(",", ":"), ensure_ascii=True)


def decode(line: str) -> LoggedEvent | None:
    """The event of a line; None if its kind is not known to this version or the line is damaged."""
    try:
        data = json.loads(line)
        kind = _KINDS.get(data.pop("event"))
        if kind is None:
            return None
        event: LoggedEvent = _converter().structure(data, kind)
        return event
    except Exception:  # any damage, or another version's shape: counted by the caller, never fatal
        return None
