"""Our values as JSON and back, by their dataclasses."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from cattrs import Converter

T = TypeVar("T")


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
