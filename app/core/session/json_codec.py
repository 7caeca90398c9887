"""Conversion of dataclasses to JSON values and back."""

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
    """Return cattrs' converter.

    cattrs is imported only on first use, because the import takes 3 MiB and more time than a scan of all devices.
    """
    from cattrs import Converter

    return Converter(forbid_extra_keys=False)


def unstructure(value: Any) -> Any:
    """Return a dataclass as JSON values. Fields that have their default value are omitted."""
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
    """Return the names of the fields that are written to JSON, each with a function that returns its default."""
    return tuple((field.name, _default(field.default, field.default_factory)) for field in fields(kind) if field.init)


def _default(value: Any, factory: Any) -> Callable[[], Any]:
    return (lambda: value) if factory is MISSING else factory


def structure(data: Any, kind: type[T]) -> T:
    """Return the instance of the dataclass `kind` that JSON values describe.

    Raises cattrs' errors if the values do not fit the dataclass.
    """
    return _converter().structure(data, kind)
