"""Devices of a host, parsed from its `devices --json` output into an `Inventory`. No I/O.

The host is not trusted: malformed parts are left out, and control characters are removed from every string.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypeVar

from backends.identity import Signature, Use
from backends.json_text import flag, rows, table, whole_number, word
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
"""Command that a host runs to report its devices."""

_E = TypeVar("_E", bound=StrEnum)

_LONG = 2000
"""Maximum number of characters of a message or another long string from the host; the rest is cut off."""

_MOST = 1e6
"""Limit for a drive's percentages and temperatures; values beyond it are discarded."""

_DEEPEST = 20
"""Maximum nesting depth of arrays whose members are arrays."""

Json = Mapping[str, object]
RemoteSettings = Mapping[Target, tuple[tuple[Setting, ...], Mapping[str, Reading]]]
"""The settings of each target, and their readings by setting key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteDevices:
    """Devices of a host."""

    inventory: Inventory
    """All devices of the host."""
    settings: RemoteSettings
    """Settings of the targets whose settings could be read."""


def parse_devices(document: Json) -> RemoteDevices:
    """Return the devices from a `devices --json` document."""
    settings: dict[Target, tuple[tuple[Setting, ...], Mapping[str, Reading]]] = {}
    targets: set[Target] = set()

    def devices(name: str, scope: Scope) -> Iterator[tuple[Target, Json]]:
        for row in rows(document.get(name)):
            target = _target(row.get("address"), scope)
            if target is not None and target not in targets:
                targets.add(target)
                settings[target] = _settings(row)
                yield target, row

    controllers = tuple(_controller(*pair) for pair in devices("controllers", Scope.CONTROLLER))
    pairs = [*devices("arrays", Scope.ARRAY)]
    stacked = {str(target): target for target, _ in pairs}  # a member of an array may itself be an array
    arrays = _without_loops(tuple(_array(*pair, stacked) for pair in pairs))
    drives = [*devices("drives", Scope.DRIVE)]
    queues = []
    for target, record in (*pairs, *drives):
        queue, node = table(record.get("queue")), word(record.get("device"))
        twin = _target(queue.get("address"), Scope.DRIVE)
        if twin is not None and node is not None and twin.backend == KERNEL != target.backend and twin not in targets:
            targets.add(twin)
            settings[twin] = _settings(queue)
            queues.append(Drive(target=twin, device=node))
    return RemoteDevices(
        inventory=Inventory(
            controllers=controllers,
            arrays=arrays,
            drives=(*(_drive(*pair) for pair in drives), *queues),
            problems=tuple(_problems(document)),
        ),
        settings={target: pair for target, pair in settings.items() if pair[0]},
    )


def _without_loops(arrays: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return the arrays, changed so that none contains itself.

    If an array contains itself or is nested too deeply, members that are arrays are removed from it.
    """
    deep = {array.target for array in arrays}
    for _ in range(_DEEPEST):
        deep = {array.target for array in arrays if array.target in deep and not deep.isdisjoint(array.members)}
    return tuple(
        replace(array, members=tuple(member for member in array.members if member.scope is not Scope.ARRAY))
        if array.target in deep
        else array
        for array in arrays
    )


def _controller(target: Target, record: Json) -> Controller:
    guard = table(record.get("protection"))
    kind = word(guard.get("kind"))
    return Controller(
        target=target,
        vendor=word(record.get("vendor")) or target.backend,
        **_fields(record, word, "model", "serial", "firmware", "driver", "pci"),
        **_fields(record, whole_number, "cache_bytes"),
        protection=None if kind is None else Protection(kind=kind, state=word(guard.get("state")) or "unknown"),
        features=tuple(
            Feature(name=word(feature.get("name")) or "unknown", state=word(feature.get("state")) or "unknown")
            for feature in rows(record.get("features"))
        ),
        tasks=_tasks(record),
        facts=_facts(record),
    )


def _array(target: Target, record: Json, stacked: Mapping[str, Target]) -> Array:
    members = (stacked.get(address) or _target(address, Scope.DRIVE) for address in _texts(record.get("members")))
    return Array(
        target=target,
        controller=_target(record.get("controller"), Scope.CONTROLLER),
        name=word(record.get("given_name")) if "given_name" in record else word(record.get("name")),
        level=_member_of(Level, record.get("level"), Level.UNKNOWN),
        state=_member_of(State, record.get("state"), State.UNKNOWN),
        why=word(record.get("why"), _LONG) or "",
        **_fields(record, whole_number, "size_bytes", "strip_bytes", "data_drives", "spans"),
        **_fields(record, word, "device", "link"),
        members=tuple(filter(None, members)),
        uses=_uses(record),
        above=_texts(record.get("above")),
        tasks=_tasks(record),
        facts=_facts(record),
    )


def _drive(target: Target, record: Json) -> Drive:
    return Drive(
        target=target,
        controller=_target(record.get("controller"), Scope.CONTROLLER),
        array=_target(record.get("array"), Scope.ARRAY),
        **_fields(record, word, "model", "serial", "firmware", "wwn", "interface", "device", "scheduler"),
        media=_member_of(Media, record.get("media"), Media.UNKNOWN),
        **_fields(record, whole_number, "size_bytes"),
        logical_block=whole_number(record.get("logical_block_bytes")),
        physical_block=whole_number(record.get("physical_block_bytes")),
        state=_member_of(State, record.get("state"), State.UNKNOWN),
        paths=_texts(record.get("paths")),
        read_only=record.get("read_only") is True,
        uses=_uses(record),
        above=_texts(record.get("above")),
        signatures=tuple(
            Signature(
                kind=word(signature.get("kind")) or "unknown",
                **_fields(signature, word, "label", "uuid", "part"),
                **_fields(signature, whole_number, "size_bytes"),
            )
            for signature in rows(record.get("signatures"))
        ),
        partitions=_texts(record.get("partitions")),
        backing=word(record.get("backing_file"), _LONG),
        facts=_facts(record),
        health=_health(table(record.get("health"))),
    )


def _health(record: Json) -> Health:
    """Return the health of a drive; values of a wrong type are left out."""
    return Health(
        **_fields(record, flag, "predicts_failure", "locked", "foreign", "copyback"),
        **_fields(record, whole_number, "media_errors", "other_errors", "predictive_errors"),
        **_fields(record, _number, "wear_percent", "temperature", "temperature_limit"),
    )


def _fields(record: Json, read: Callable[[object], object], *names: str) -> dict[str, Any]:
    """Return the fields `names` of a record, converted by `read`; the model's fields have the same names."""
    return {name: read(record.get(name)) for name in names}


def _number(value: object) -> float | None:
    """Return the value as a number, or None if it is no number or exceeds `_MOST`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < _MOST else None


def _settings(record: Json) -> tuple[tuple[Setting, ...], Mapping[str, Reading]]:
    """Return the settings and readings of a device; both are empty if the host could not read them."""
    declared: list[Setting] = []
    readings: dict[str, Reading] = {}
    for row in rows(record.get("settings"), 500):
        key = word(row.get("key"))
        if key is None or key in readings:
            continue
        declared.append(
            Setting(
                key=key,
                label=word(row.get("label")) or key,
                help=word(row.get("help"), _LONG) or "",
                risk=_member_of(Risk, row.get("risk"), Risk.NONE),
                effect=_member_of(Effect, row.get("effect"), Effect.AT_ONCE),
                persistence=_member_of(Persistence, row.get("persistence"), Persistence.LOST_AT_REBOOT),
                unit=word(row.get("unit")) or "",
                confirmed=row.get("confirmed") is not False,
            )
        )
        why_not = word(row.get("why_not"), _LONG)
        readings[key] = Reading(
            **_fields(row, word, "now", "raw", "effective"),
            why_effective=word(row.get("why_effective"), _LONG),
            follows=row.get("follows") is True,
            choices=tuple(_choices(row)),
            span=_span(row.get("span")),
            availability=AVAILABLE if why_not is None else Availability(why_not=why_not),
        )
    return tuple(declared), readings


def _choices(record: Json) -> Iterator[Choice]:
    for row in rows(record.get("choices"), 500):
        value = word(row.get("value"))
        if value is not None:
            yield Choice(
                value=value,
                label=word(row.get("label")) or value,
                help=word(row.get("help"), _LONG) or "",
                risk=_member_of(Risk, row.get("risk"), Risk.NONE),
            )


def _span(value: object) -> Span | None:
    span = table(value)
    least, most, step = span.get("minimum"), span.get("maximum"), whole_number(span.get("step"))
    if not isinstance(least, int) or not isinstance(most, int):  # `whole_number` rejects a minimum of -1
        return None
    return Span(minimum=least, maximum=most, step=step or 1, unit=word(span.get("unit")) or "")


def _tasks(record: Json) -> tuple[Task, ...]:
    tasks = ((word(row.get("kind")), row.get("progress")) for row in rows(record.get("tasks")))
    return tuple(
        Task(kind=kind, progress=float(progress) if isinstance(progress, int | float) and 0 <= progress <= 1 else None)
        for kind, progress in tasks
        if kind is not None
    )


def _uses(record: Json) -> tuple[Use, ...]:
    return tuple(
        Use(
            kind=word(use.get("kind")) or "unknown",
            detail=word(use.get("detail"), _LONG) or "",
            part=word(use.get("part")),
        )
        for use in rows(record.get("uses"))
    )


def _facts(record: Json) -> tuple[Fact, ...]:
    pairs = ((word(row.get("label")), word(row.get("value"), _LONG)) for row in rows(record.get("facts")))
    return tuple(Fact(label=label, value=value) for label, value in pairs if label and value)


def _problems(document: Json) -> Iterator[Problem]:
    for row in rows(document.get("problems")):
        message = word(row.get("message"), _LONG)
        if message is not None:
            yield Problem(
                where=word(row.get("where")) or "unknown", message=message, hint=word(row.get("hint"), _LONG) or ""
            )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(filter(None, map(word, value[:4096]))) if isinstance(value, list) else ()


def _target(value: object, scope: Scope) -> Target | None:
    """Return the target that a printed address such as `BACKEND:ADDRESS` denotes; None if `value` is no address."""
    backend, joint, address = (word(value, 300) or "").partition(":")
    return Target(backend=backend, address=address, scope=scope) if backend and joint and address else None


def _member_of(values: type[_E], value: object, default: _E) -> _E:
    return values(value) if isinstance(value, str) and value in set(values) else default
