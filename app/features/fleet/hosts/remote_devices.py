"""What a host told by `devices --json`, as the values that show this machine's own. Pure.

What is not as it should be is left out, and every text is cleaned: a host is not believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import TypeVar

from backends.identity import Signature, Use
from backends.json_text import rows, table, whole, word
from backends.model import (
    KERNEL,
    Array,
    Controller,
    Drive,
    Fact,
    Feature,
    Health,
    Inventory,
    Level,
    Media,
    Problem,
    Protection,
    Scope,
    State,
    Target,
    Task,
)
from backends.settings import AVAILABLE, Availability, Choice, Effect, Persistence, Reading, Risk, Setting, Span
from backends.values import dataclass

WORDS = ("devices", "--json")
"""What a host is asked for them."""

_E = TypeVar("_E", bound=StrEnum)

_LONG = 2000
"""Characters of a sentence."""

_MOST = 1e6
"""Percent or degrees that no drive reaches."""

_DEEPEST = 20
"""Arrays that stand one upon another, at most."""

Json = Mapping[str, object]
Told = Mapping[Target, tuple[tuple[Setting, ...], Mapping[str, Reading]]]
"""The settings of each target, with how they read there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteDevices:
    """The devices of a host."""

    inventory: Inventory
    """Everything found there."""
    settings: Told
    """What each has, of those whose settings could be read."""


def told_devices(document: Json) -> RemoteDevices:
    """Out of a document of form 2 of `devices --json`."""
    settings: dict[Target, tuple[tuple[Setting, ...], Mapping[str, Reading]]] = {}
    seen: set[Target] = set()

    def things(name: str, scope: Scope) -> Iterator[tuple[Target, Json]]:
        for one in rows(document.get(name)):
            target = _target(one.get("address"), scope)
            if target is not None and target not in seen:
                seen.add(target)
                settings[target] = _settings(one)
                yield target, one

    controllers = tuple(_controller(*one) for one in things("controllers", Scope.CONTROLLER))
    told = [*things("arrays", Scope.ARRAY)]
    stacked = {str(target): target for target, _ in told}  # a member may be an array itself
    arrays = _shallow(tuple(_array(target, one, stacked) for target, one in told))
    drives = [(target, one) for target, one in things("drives", Scope.DRIVE)]
    queues = []
    for target, one in (*told, *drives):
        queue, node = table(one.get("queue")), word(one.get("device"))
        twin = _target(queue.get("address"), Scope.DRIVE)
        if twin is not None and node is not None and twin.backend == KERNEL != target.backend and twin not in seen:
            seen.add(twin)
            settings[twin] = _settings(queue)
            queues.append(Drive(target=twin, device=node))
    return RemoteDevices(
        inventory=Inventory(
            controllers=controllers,
            arrays=arrays,
            drives=(*(_drive(*one) for one in drives), *queues),
            problems=tuple(_problems(document)),
        ),
        settings={target: pair for target, pair in settings.items() if pair[0]},
    )


def _shallow(arrays: tuple[Array, ...]) -> tuple[Array, ...]:
    """Arrays that do not stand upon arrays of their own kind, at last upon themselves, without an end."""
    deep = {array.target for array in arrays}
    for _ in range(_DEEPEST):
        deep = {array.target for array in arrays if array.target in deep and not deep.isdisjoint(array.members)}
    return tuple(
        replace(array, members=tuple(each for each in array.members if each.scope is not Scope.ARRAY))
        if array.target in deep
        else array
        for array in arrays
    )


def _controller(target: Target, one: Json) -> Controller:
    guard = table(one.get("protection"))
    kind = word(guard.get("kind"))
    return Controller(
        target=target,
        vendor=word(one.get("vendor")) or target.backend,
        model=word(one.get("model")),
        serial=word(one.get("serial")),
        firmware=word(one.get("firmware")),
        driver=word(one.get("driver")),
        pci=word(one.get("pci")),
        cache_bytes=whole(one.get("cache_bytes")),
        protection=None if kind is None else Protection(kind=kind, state=word(guard.get("state")) or "unknown"),
        features=tuple(
            Feature(name=word(each.get("name")) or "unknown", state=word(each.get("state")) or "unknown")
            for each in rows(one.get("features"))
        ),
        tasks=_tasks(one),
        facts=_facts(one),
    )


def _array(target: Target, one: Json, stacked: Mapping[str, Target]) -> Array:
    members = (stacked.get(each) or _target(each, Scope.DRIVE) for each in _texts(one.get("members")))
    return Array(
        target=target,
        controller=_target(one.get("controller"), Scope.CONTROLLER),
        name=word(one.get("given_name")) if "given_name" in one else word(one.get("name")),
        level=_one_of(Level, one.get("level"), Level.UNKNOWN),
        state=_one_of(State, one.get("state"), State.UNKNOWN),
        size_bytes=whole(one.get("size_bytes")),
        strip_bytes=whole(one.get("strip_bytes")),
        data_drives=whole(one.get("data_drives")),
        why=word(one.get("why"), _LONG) or "",
        spans=whole(one.get("spans")),
        device=word(one.get("device")),
        link=word(one.get("link")),
        members=tuple(filter(None, members)),
        uses=_uses(one),
        above=_texts(one.get("above")),
        tasks=_tasks(one),
        facts=_facts(one),
    )


def _drive(target: Target, one: Json) -> Drive:
    return Drive(
        target=target,
        controller=_target(one.get("controller"), Scope.CONTROLLER),
        array=_target(one.get("array"), Scope.ARRAY),
        model=word(one.get("model")),
        serial=word(one.get("serial")),
        firmware=word(one.get("firmware")),
        wwn=word(one.get("wwn")),
        media=_one_of(Media, one.get("media"), Media.UNKNOWN),
        interface=word(one.get("interface")),
        size_bytes=whole(one.get("size_bytes")),
        logical_block=whole(one.get("logical_block_bytes")),
        physical_block=whole(one.get("physical_block_bytes")),
        state=_one_of(State, one.get("state"), State.UNKNOWN),
        device=word(one.get("device")),
        paths=_texts(one.get("paths")),
        read_only=one.get("read_only") is True,
        scheduler=word(one.get("scheduler")),
        uses=_uses(one),
        above=_texts(one.get("above")),
        signatures=tuple(
            Signature(
                kind=word(each.get("kind")) or "unknown",
                label=word(each.get("label")),
                uuid=word(each.get("uuid")),
                part=word(each.get("part")),
                size_bytes=whole(each.get("size_bytes")),
            )
            for each in rows(one.get("signatures"))
        ),
        partitions=_texts(one.get("partitions")),
        backing=word(one.get("backing_file"), _LONG),
        facts=_facts(one),
        health=_health(table(one.get("health"))),
    )


def _health(one: Json) -> Health:
    """Return the health of a drive; what is no number or no flag is not known."""
    return Health(
        predicts_failure=_flag(one.get("predicts_failure")),
        media_errors=whole(one.get("media_errors")),
        other_errors=whole(one.get("other_errors")),
        predictive_errors=whole(one.get("predictive_errors")),
        wear_percent=_number(one.get("wear_percent")),
        temperature=_number(one.get("temperature")),
        temperature_limit=_number(one.get("temperature_limit")),
        locked=_flag(one.get("locked")),
        foreign=_flag(one.get("foreign")),
        copyback=_flag(one.get("copyback")),
    )


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _number(value: object) -> float | None:
    """Return a number that can be one of a drive: finite and small."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < _MOST else None


def _settings(one: Json) -> tuple[tuple[Setting, ...], Mapping[str, Reading]]:
    """None where they could not be read there."""
    declared: list[Setting] = []
    readings: dict[str, Reading] = {}
    for each in rows(one.get("settings"), 500):
        key = word(each.get("key"))
        if key is None or key in readings:
            continue
        declared.append(
            Setting(
                key=key,
                label=word(each.get("label")) or key,
                help=word(each.get("help"), _LONG) or "",
                risk=_one_of(Risk, each.get("risk"), Risk.NONE),
                effect=_one_of(Effect, each.get("effect"), Effect.AT_ONCE),
                persistence=_one_of(Persistence, each.get("persistence"), Persistence.LOST_AT_REBOOT),
                unit=word(each.get("unit")) or "",
                confirmed=each.get("confirmed") is not False,
            )
        )
        why_not = word(each.get("why_not"), _LONG)
        readings[key] = Reading(
            now=word(each.get("now")),
            raw=word(each.get("raw")),
            effective=word(each.get("effective")),
            why_effective=word(each.get("why_effective"), _LONG),
            follows=each.get("follows") is True,
            choices=tuple(_choices(each)),
            span=_span(each.get("span")),
            availability=AVAILABLE if why_not is None else Availability(why_not=why_not),
        )
    return tuple(declared), readings


def _choices(one: Json) -> Iterator[Choice]:
    for each in rows(one.get("choices"), 500):
        value = word(each.get("value"))
        if value is not None:
            yield Choice(
                value=value,
                label=word(each.get("label")) or value,
                help=word(each.get("help"), _LONG) or "",
                risk=_one_of(Risk, each.get("risk"), Risk.NONE),
            )


def _span(told: object) -> Span | None:
    span = table(told)
    least, most, step = span.get("minimum"), span.get("maximum"), whole(span.get("step"))
    if not isinstance(least, int) or not isinstance(most, int):  # -1 is the least of some
        return None
    return Span(minimum=least, maximum=most, step=step or 1, unit=word(span.get("unit")) or "")


def _tasks(one: Json) -> tuple[Task, ...]:
    tasks = ((word(each.get("kind")), each.get("progress")) for each in rows(one.get("tasks")))
    return tuple(
        Task(kind=kind, progress=float(far) if isinstance(far, int | float) and 0 <= far <= 1 else None)
        for kind, far in tasks
        if kind is not None
    )


def _uses(one: Json) -> tuple[Use, ...]:
    return tuple(
        Use(
            kind=word(each.get("kind")) or "unknown",
            detail=word(each.get("detail"), _LONG) or "",
            part=word(each.get("part")),
        )
        for each in rows(one.get("uses"))
    )


def _facts(one: Json) -> tuple[Fact, ...]:
    pairs = ((word(each.get("label")), word(each.get("value"), _LONG)) for each in rows(one.get("facts")))
    return tuple(Fact(label=label, value=value) for label, value in pairs if label and value)


def _problems(document: Json) -> Iterator[Problem]:
    for each in rows(document.get("problems")):
        message = word(each.get("message"), _LONG)
        if message is not None:
            yield Problem(
                where=word(each.get("where")) or "unknown", message=message, hint=word(each.get("hint"), _LONG) or ""
            )


def _texts(told: object) -> tuple[str, ...]:
    return tuple(filter(None, map(word, told[:4096]))) if isinstance(told, list) else ()


def _target(told: object, scope: Scope) -> Target | None:
    """An address as it is printed."""
    backend, joint, address = (word(told, 300) or "").partition(":")
    return Target(backend=backend, address=address, scope=scope) if backend and joint and address else None


def _one_of(words: type[_E], told: object, otherwise: _E) -> _E:
    return words(told) if isinstance(told, str) and told in set(words) else otherwise
