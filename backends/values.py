"""`dataclass` like the standard library's, but with an `__init__` that is compiled on first use.

The standard one compiles up to six methods for each class at import (Python 3.11), which takes two thirds of a
millisecond. A scan of all devices imports seventy such classes and uses only half of them.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, kw_only=False):
        """Return the class with the methods that `dataclasses.dataclass` adds for these options.

        `dataclasses.fields` and `replace` accept it. Not supported: fields that are not arguments of `__init__`,
        `InitVar`, pickling of frozen classes with slots.
        """

        def decorated(plain):
            # Without a docstring, dataclasses would build one from the signature.
            plain.__doc__ = plain.__doc__ or plain.__name__
            made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(plain)
            _complete(made, frozen)
            return made

        return decorated if cls is None else decorated(cls)


class _Init:
    """Placeholder for `__init__`. It compiles the real method on first access."""

    def __init__(self, owner: type[Any], frozen: bool) -> None:
        self._owner = owner
        self._frozen = frozen

    def __get__(self, instance: object, kind: type[Any]) -> Any:
        method = _compiled(self._owner, self._frozen)
        type.__setattr__(self._owner, "__init__", method)
        return method.__get__(instance, kind)


def _complete(cls: type[Any], frozen: bool) -> None:
    """Add the methods that the standard library was told not to create, unless the class defines them itself."""
    names = tuple(field.name for field in dataclasses.fields(cls))
    compared = [field.name for field in dataclasses.fields(cls) if field.compare]
    values: Callable[[Any], tuple[object, ...]] = (
        attrgetter(*compared) if len(compared) > 1 else lambda value: tuple(getattr(value, name) for name in compared)
    )

    @recursive_repr()
    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def __eq__(self: Any, other: object) -> bool:
        return self is other or values(self) == values(other) if type(other) is type(self) else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    def __setattr__(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    made: dict[str, Any] = {"__init__": _Init(cls, frozen), "__repr__": __repr__}
    if "__eq__" not in vars(cls):
        made |= {"__eq__": __eq__, "__hash__": __hash__ if frozen else None}
    if frozen:
        made |= {"__setattr__": __setattr__, "__delattr__": __delattr__}
    for name, method in made.items():
        if name not in vars(cls):
            setattr(cls, name, method)


def _compiled(cls: type[Any], frozen: bool) -> Any:
    """Compile and return `__init__`. Its positional arguments come first, then the keyword-only ones."""
    namespace: dict[str, object] = {"_set": object.__setattr__, "_absent": object()}
    arguments, lines = ["self"], []
    fields = dataclasses.fields(cls)
    for field in sorted(fields, key=lambda field: field.kw_only is True):
        name, default, value = field.name, "", field.name
        if field.default is not dataclasses.MISSING:
            namespace[f"_usual_{name}"] = field.default
            default = f"=_usual_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            namespace[f"_make_{name}"] = field.default_factory
            default, value = "=_absent", f"_make_{name}() if {name} is _absent else {name}"
        if field.kw_only is True and "*" not in arguments:
            arguments.append("*")
        arguments.append(name + default)
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "".join(f"\n  {line}" for line in lines or ["pass"])
    made: dict[str, Any] = {}
    source = f"def make({', '.join(namespace)}):\n def __init__({', '.join(arguments)}):{body}\n return __init__"
    exec(source, vars(sys.modules[cls.__module__]), made)
    method = made["make"](**namespace)
    method.__qualname__ = f"{cls.__qualname__}.__init__"
    method.__annotations__ = {field.name: field.type for field in fields} | {"return": None}
    return method
