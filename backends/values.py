"""`dataclass` like the standard library's, but with an `__init__` that is compiled on first use.

The standard one inspects each class and compiles up to six methods for it at import, which takes two thirds of a
millisecond. A scan of all devices imports two hundred such classes and uses only half of them.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, kw_only=False):
        """Return the class with the methods that `dataclasses.dataclass` adds for these options.

        `dataclasses.fields` and `replace` accept it. Not supported: fields that are not arguments of `__init__`,
        `InitVar`, `KW_ONLY`, pickling of frozen classes with slots.
        """

        def decorated(plain):
            return _decorated(plain, frozen, slots, kw_only)

        return decorated if cls is None else decorated(cls)


@dataclasses.dataclass(init=False, repr=False, eq=False)
class _Model:
    """A class of the standard library's, for the marks by which that library recognises its own."""

    value: int


_MARK = dataclasses.fields(_Model)[0]._field_type  # type: ignore[attr-defined]
_PARAMS: object = vars(_Model)["__dataclass_params__"]

_NOT_FIELDS = ("ClassVar", "typing.ClassVar")


class _OnFirstUse:
    """Placeholder for an attribute of a class. It makes the real one on first access."""

    def __init__(self, name: str, make: Callable[[type[Any]], Any]) -> None:
        self._name = name
        self._make = make

    def __get__(self, instance: object, kind: type[Any]) -> Any:
        owner = _definer(kind)
        made = self._make(owner)
        type.__setattr__(owner, self._name, made)
        return made.__get__(instance, kind) if hasattr(made, "__get__") else made


def _decorated(plain: type[Any], frozen: bool, slots: bool, kw_only: bool) -> type[Any]:
    """Return the class with its fields and the methods that it does not define itself."""
    present = vars(plain)
    fields: dict[str, Field[Any]] = {}
    for base in plain.__mro__[-1:0:-1]:
        fields |= vars(base).get("__dataclass_fields__", {})
    own = {
        name: _declared(plain, name, kind, kw_only)
        for name, kind in plain.__annotations__.items()
        if not str(kind).startswith(_NOT_FIELDS)
    }
    fields |= own
    added: dict[str, Any] = {
        "__dataclass_fields__": fields,
        "__dataclass_params__": _PARAMS,
        "__match_args__": tuple(name for name, declared in fields.items() if not declared.kw_only),
        "__init__": _FROZEN_INIT if frozen else _INIT,
        "__repr__": _repr,
    }
    if "__eq__" not in present:
        added |= {"__values__": _VALUES, "__eq__": _eq, "__hash__": _hash if frozen else None}
    if frozen:
        added |= {"__setattr__": _refuse_setattr, "__delattr__": _refuse_delattr}
    added = {name: value for name, value in added.items() if name not in present}
    added["__doc__"] = plain.__doc__ or plain.__name__
    if slots:
        return _with_slots(plain, own, added)
    for name, declared in own.items():
        if declared.default is not MISSING:
            setattr(plain, name, declared.default)
        elif name in present:
            delattr(plain, name)
    for name, value in added.items():
        setattr(plain, name, value)
    return plain


def _declared(plain: type[Any], name: str, kind: object, kw_only: bool) -> Field[Any]:
    """Return a field of the class. Raises ValueError for a default that all values would share and could change."""
    default = getattr(plain, name, MISSING)
    if isinstance(default, MemberDescriptorType):  # the slot of a base
        default = MISSING
    declared: Any = default if isinstance(default, Field) else dataclasses.field(default=default)
    if declared.default.__class__.__hash__ is None:
        raise ValueError(f"mutable default for field {name}: use default_factory")
    declared.name, declared.type, declared._field_type = name, kind, _MARK
    if declared.kw_only is MISSING:
        declared.kw_only = kw_only
    return declared  # type: ignore[no-any-return]


def _with_slots(plain: type[Any], own: dict[str, Field[Any]], added: dict[str, Any]) -> type[Any]:
    """Return a new class like `plain` that has a slot for each field that no base has a slot for."""
    inherited = {name for base in plain.__mro__[1:-1] for name in vars(base).get("__slots__", ())}
    namespace = {name: value for name, value in vars(plain).items() if name not in own} | added
    namespace["__slots__"] = tuple(name for name in added["__dataclass_fields__"] if name not in inherited)
    namespace["__qualname__"] = plain.__qualname__
    for name in ("__dict__", "__weakref__"):  # They belong to `plain`.
        namespace.pop(name, None)
    metaclass: Any = type(plain)
    made: type[Any] = metaclass(plain.__name__, plain.__bases__, namespace)
    return made


def _definer(kind: type[Any]) -> type[Any]:
    """Return the class itself if it was decorated, otherwise the nearest of its bases that was."""
    return next(base for base in kind.__mro__ if "__dataclass_fields__" in vars(base))


def _compared(cls: type[Any]) -> Callable[[Any], tuple[object, ...]]:
    """Return the function that takes from a value what decides whether it equals another."""
    names = [declared.name for declared in dataclasses.fields(cls) if declared.compare]
    if len(names) > 1:
        return attrgetter(*names)
    return staticmethod(lambda value: tuple(getattr(value, name) for name in names))


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
    return f"{type(self).__qualname__}({shown})"


def _eq(self: Any, other: Any) -> Any:  # a bool or NotImplemented
    if type(other) is not type(self):
        return NotImplemented
    values = type(self).__values__
    return self is other or values(self) == values(other)


def _hash(self: Any) -> int:
    return hash(type(self).__values__(self))


def _refuse_setattr(self: Any, name: str, value: object) -> None:
    definer = _definer(type(self))
    if type(self) is definer or name in definer.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    super(definer, self).__setattr__(name, value)


def _refuse_delattr(self: Any, name: str) -> None:
    definer = _definer(type(self))
    if type(self) is definer or name in definer.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    super(definer, self).__delattr__(name)


def _compiled(cls: type[Any], *, frozen: bool) -> Any:
    """Compile and return `__init__`. Its positional arguments come first, then the keyword-only ones."""
    namespace: dict[str, object] = {"_set": object.__setattr__, "_absent": object()}
    arguments, lines = ["self"], []
    fields = dataclasses.fields(cls)
    for field in sorted(fields, key=lambda field: field.kw_only is True):
        name, default, value = field.name, "", field.name
        if field.default is not MISSING:
            namespace[f"_usual_{name}"] = field.default
            default = f"=_usual_{name}"
        elif field.default_factory is not MISSING:
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


_INIT = _OnFirstUse("__init__", lambda cls: _compiled(cls, frozen=False))
_FROZEN_INIT = _OnFirstUse("__init__", lambda cls: _compiled(cls, frozen=True))
_VALUES = _OnFirstUse("__values__", _compared)
