"""Our values as JSON and back, by their dataclasses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from cattrs import Converter

T = TypeVar("T")

_AS_THEY_ARE = frozenset((str, int, float, bool, type(None)))


@cache
def _converter() -> Converter:
    """Made when the first value is read: cattrs takes longer to import than a look at all devices, and 3 MiB."""
    from cattrs import Converter

    return Converter(forbid_extra_keys=False)


def unstructure(value: Any) -> Any:
    """Any of our dataclasses as JSON-ready values; fields at their default are left out."""
    kind: Any = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind is tuple or kind is list:
        return [unstructure(entry) for entry in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {unstructure(key): unstructure(entry) for key, entry in value.items()}
    if is_dataclass(value):
        field_values: dict[str, Any] = {}
        for name, default in _fields(kind):
            item = getattr(value, name)
            if item is not (usual := default()) and item != usual:
                field_values[name] = unstructure(item)
        return field_values
    return str(value) if isinstance(value, PurePath) else value


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, Callable[[], Any]], ...]:
    """What of a dataclass is written, and the default of each; one that has none is equal to nothing."""
    return tuple((field.name, _default(field.default, field.default_factory)) for field in fields(kind) if field.init)


def _default(value: Any, factory: Any) -> Callable[[], Any]:
    return (lambda: value) if factory is MISSING else factory


def structure(data: Any, kind: type[T]) -> T:
    """The dataclass again. Raises whatever cattrs raises on a shape that is not ours."""
    return _converter().structure(data, kind)
