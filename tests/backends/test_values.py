"""Values are what the standard library's dataclasses are: told from each other, shown, frozen and copied alike."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar, get_type_hints

import pytest

from backends import values
from tests.case_loop import loop_over

Decorator = Callable[..., Any]


def shapes(dataclass: Decorator) -> dict[str, type[Any]]:
    """Classes of every shape that the program has, made by one decorator or the other."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Drive:
        """A drive."""

        name: str
        size: int | None = None
        facts: dict[str, str] = field(default_factory=dict)
        seen: float = field(default=0.0, compare=False)

        @property
        def told(self) -> str:
            return f"{self.name} of {self.size}"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Disk(Drive):
        rpm: int

        def __post_init__(self) -> None:
            if self.rpm < 0:
                raise ValueError("turns backwards")

    @dataclass(frozen=True, slots=True)
    class Point:
        x: float
        y: float = 0.0

    @dataclass(frozen=True)
    class Single:
        value: float

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Nothing:
        pass

    @dataclass
    class Tally:
        counts: list[int] = field(default_factory=list)

    @dataclass(slots=True, kw_only=True)
    class Named:
        name: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Named) and self.name.lower() == other.name.lower()

        def __repr__(self) -> str:
            return f"<{self.name}>"

        def __hash__(self) -> int:
            return 7

    return {each.__name__: each for each in (Drive, Disk, Point, Single, Nothing, Tally, Named)}


OURS, THEIRS = shapes(values.dataclass), shapes(dataclasses.dataclass)

CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Drive", (), {"name": "a"}),
    ("Drive", (), {"name": "a", "size": 3, "facts": {"b": "c"}, "seen": 2.0}),
    ("Disk", (), {"name": "a", "rpm": 7200}),
    ("Point", (1.0,), {}),
    ("Point", (1.0, 2.0), {}),
    ("Point", (1.0,), {"y": 2.0}),
    ("Single", (float("nan"),), {}),
    ("Nothing", (), {}),
    ("Tally", (), {}),
    ("Tally", ([1],), {}),
    ("Named", (), {"name": "a"}),
]
WRONG: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Drive", ("a",), {}),
    ("Drive", (), {}),
    ("Drive", (), {"name": "a", "colour": "red"}),
    ("Point", (), {}),
    ("Point", (1.0, 2.0, 3.0), {}),
    ("Nothing", (1,), {}),
]


def shown(value: Any) -> str:
    return repr(value).replace("<locals>", "")


@loop_over(("name", "words", "named"), CALLS)
def test_a_value_is_shown_hashed_taken_apart_and_matched_alike(
    name: str, words: tuple[Any, ...], named: dict[str, Any]
) -> None:
    ours, theirs = OURS[name](*words, **named), THEIRS[name](*words, **named)
    assert shown(ours) == shown(theirs)
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert type(ours).__match_args__ == type(theirs).__match_args__
    assert ours == dataclasses.replace(ours)
    assert ours != theirs
    assert hash_of(ours) == hash_of(theirs)
    assert inspect.signature(type(ours)).parameters.keys() == inspect.signature(type(theirs)).parameters.keys()
    assert hasattr(ours, "__dict__") == hasattr(theirs, "__dict__")


def hash_of(value: Any) -> object:
    try:
        return hash(value)
    except TypeError:
        return "none"


@pytest.mark.parametrize(("name", "words", "named"), WRONG)
def test_what_does_not_fit_is_refused_in_the_same_words(
    name: str, words: tuple[Any, ...], named: dict[str, Any]
) -> None:
    said = []
    for kinds in (OURS, THEIRS):
        with pytest.raises(TypeError) as refused:
            kinds[name](*words, **named)
        said.append(str(refused.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("kinds", [OURS, THEIRS])
def test_a_field_that_differs_tells_two_values_apart_unless_it_is_not_to_be_compared(
    kinds: dict[str, type[Any]],
) -> None:
    one = kinds["Drive"](name="a", size=3)
    assert one != dataclasses.replace(one, name="b")
    assert one != dataclasses.replace(one, facts={"b": "c"})
    assert one == dataclasses.replace(one, seen=9.0)
    assert one != kinds["Disk"](name="a", size=3, rpm=1)
    assert kinds["Point"](1.0, 2.0) != kinds["Point"](1.0, 3.0)
    assert kinds["Point"](1.0, 2.0) != (1.0, 2.0)
    assert kinds["Single"](1.0) != kinds["Single"](2.0)
    assert kinds["Named"](name="a") == kinds["Named"](name="A")
    assert hash(kinds["Point"](1.0, 2.0)) == hash(kinds["Point"](1.0, 2.0))


@pytest.mark.parametrize("kinds", [OURS, THEIRS])
def test_nothing_of_a_frozen_value_can_be_set_or_deleted(kinds: dict[str, type[Any]]) -> None:
    for value, name in (
        (kinds["Drive"](name="a"), "name"),
        (kinds["Disk"](name="a", rpm=1), "rpm"),
        (kinds["Single"](1.0), "value"),
    ):
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(value, name, 1)
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(value, name)
    tally = kinds["Tally"]()
    tally.counts = [2]
    assert tally == kinds["Tally"]([2])


def test_a_frozen_value_takes_nothing_else_either() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'other'"):
        OURS["Drive"](name="a").other = 1


@pytest.mark.parametrize("kinds", [OURS, THEIRS])
def test_a_default_that_is_made_is_made_for_each(kinds: dict[str, type[Any]]) -> None:
    assert kinds["Tally"]().counts is not kinds["Tally"]().counts


@pytest.mark.parametrize("kinds", [OURS, THEIRS])
def test_what_follows_the_arguments_is_asked_and_inherited_methods_stay(kinds: dict[str, type[Any]]) -> None:
    assert kinds["Disk"](name="a", size=2, rpm=1).told == "a of 2"
    with pytest.raises(ValueError, match="turns backwards"):
        kinds["Disk"](name="a", rpm=-1)


def test_who_reads_the_class_sees_the_method_that_will_run() -> None:
    """hypothesis and cattrs ask a class for its arguments and their types before they make a value."""
    drive = shapes(values.dataclass)["Drive"]
    assert get_type_hints(drive.__init__)["size"] == int | None
    assert drive.__init__ is vars(drive)["__init__"]
    assert drive.__init__.__qualname__.endswith("Drive.__init__")


def test_a_class_without_words_of_its_own_is_called_by_its_name() -> None:
    assert OURS["Point"].__doc__ == "Point"
    assert OURS["Drive"].__doc__ == "A drive."


def test_a_value_that_holds_itself_is_shown() -> None:
    tally: Any = OURS["Tally"]()
    tally.counts.append(tally)
    assert repr(tally).endswith("Tally(counts=[...])")


def test_a_class_is_decorated_as_the_standard_library_does() -> None:
    """Fields, class variables, bases of either kind, and values that all would share."""

    def further(dataclass: Decorator, plain: Decorator) -> list[type[Any]]:
        @dataclass(frozen=True, slots=True)
        class Counted:
            limit: ClassVar[int] = 3
            first: int
            second: list[int] = field(default_factory=list, compare=False, repr=True, kw_only=True)
            third: str = field(default="c", metadata={"unit": "s"})

        @plain
        class Open:
            size: int = 1
            names: list[str] = field(default_factory=list)

        @dataclass
        class Wider(Open):
            size: int
            wide: bool = field(default=False)

        return [Counted, Open, Wider]

    ours, theirs = (
        further(values.dataclass, dataclasses.dataclass),
        further(dataclasses.dataclass, dataclasses.dataclass),
    )
    for own, their in zip(ours, theirs, strict=True):
        known = [
            [
                (one.name, one.type, one.default, one.kw_only, one.compare, dict(one.metadata))
                for one in dataclasses.fields(cls)
            ]
            for cls in (own, their)
        ]
        assert known[0] == known[1]
        assert dataclasses.is_dataclass(own)
        assert own.__match_args__ == their.__match_args__  # type: ignore[attr-defined]
        assert getattr(own, "limit", None) == getattr(their, "limit", None)
        assert getattr(own, "__slots__", None) == getattr(their, "__slots__", None)
    assert shown(ours[2](2, ["a"], wide=True)) == shown(theirs[2](2, ["a"], wide=True))


@pytest.mark.parametrize("dataclass", [values.dataclass, dataclasses.dataclass])
def test_a_default_that_could_change_is_refused(dataclass: Decorator) -> None:
    with pytest.raises(ValueError, match=r"mutable default .*use default_factory"):

        @dataclass(frozen=True)
        class Shared:
            names: list[str] = []  # noqa: RUF012


@pytest.mark.parametrize("dataclass", [values.dataclass, dataclasses.dataclass])
def test_a_plain_subclass_may_set_what_is_no_field(dataclass: Decorator) -> None:
    @dataclass(frozen=True)
    class Point:
        x: float

    class Named(Point):
        pass

    point: Any = Named(1.0)
    point.name = "a"
    del point.name
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2.0
    assert point == Named(1.0) != Point(1.0)
    assert hash(point) == hash(Named(1.0))


def test_methods_are_made_when_they_are_first_needed() -> None:
    drive = shapes(values.dataclass)["Drive"]
    unmade = vars(drive)["__init__"]
    assert not inspect.isfunction(unmade)
    drive(name="a")
    assert inspect.isfunction(vars(drive)["__init__"])
