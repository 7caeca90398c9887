"""Hypothesis strategies made from the dataclasses themselves: a new field is tried without anybody thinking of it."""

from __future__ import annotations

import types
import typing
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, get_args, get_origin

from hypothesis import strategies as st

from app.core.session.events import InventorySeen, LoggedEvent

_MADE: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=12) | st.sampled_from(["", "\n", "\x1b[31m", "\ud800", "null", "ünï", '"', "\\u0000"]),
    int: st.integers(-(2**70), 2**70),
    float: st.floats(allow_nan=False),
    bool: st.booleans(),
    type(None): st.none(),
}


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a type that our dataclasses use."""
    if kind not in _MADE:  # most events have the same few types in their fields
        _MADE[kind] = _values(kind)
    return _MADE[kind]


def _values(kind: Any) -> st.SearchStrategy[Any]:
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        made: Any = kind
        return st.builds(made, **{field.name: values(hints[field.name]) for field in fields(kind)})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(kind)
    words = get_args(kind)
    match get_origin(kind):
        case types.UnionType | typing.Union:
            return st.one_of([values(word) for word in words])
        case origin if origin is tuple and words[-1] is Ellipsis:
            return st.lists(values(words[0]), max_size=2).map(tuple)
        case origin if origin is tuple:
            return st.tuples(*[values(word) for word in words])
        case origin if origin is dict:
            return st.dictionaries(values(words[0]), values(words[1]), max_size=2)
    raise TypeError(f"no strategy for {kind}")


KINDS: tuple[type[Any], ...] = get_args(LoggedEvent)
"""Every kind of event on disk."""


def logged_events() -> st.SearchStrategy[Any]:
    """Any event as it may stand in a log; what is still incomplete never does."""
    return st.one_of([values(kind) for kind in KINDS]).filter(
        lambda event: not isinstance(event, InventorySeen) or event.complete
    )


def related_events() -> st.SearchStrategy[list[Any]]:
    """Events that speak of each other: few ids, so that an end finds its beginning."""
    from app.core.session.events import BaselineMarked, ChangeEnded, ChangeIntended, RunEnded, RunStarted

    ids = st.sampled_from(["c1", "c2", "r1"])
    results = st.sampled_from(["verified", "differs", "failed", "restored", "kept"])
    linked: dict[type[Any], dict[str, st.SearchStrategy[Any]]] = {
        ChangeIntended: {"id": ids, "undoes": st.none() | ids},
        ChangeEnded: {"id": ids, "result": results},
        RunStarted: {"id": ids},
        RunEnded: {"id": ids},
        BaselineMarked: {"run": st.none() | ids},
    }

    def built(kind: type[Any]) -> st.SearchStrategy[Any]:
        hints = typing.get_type_hints(kind)
        given = linked.get(kind, {})
        return st.builds(
            kind, **{field.name: given.get(field.name, values(hints[field.name])) for field in fields(kind)}
        )

    often = [built(kind) for kind in linked]
    return st.lists(st.one_of([*often, *often, logged_events()]), max_size=12)
