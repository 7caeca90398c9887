"""JSON documents of the command line (`"schema": 1`). New versions add fields, but never remove any. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from enum import Enum
from typing import TYPE_CHECKING, Any

from backends.change import Change, ChangeStep
from backends.display_names import addresses, name_of
from backends.identity import HOLDER_KINDS, Use
from backends.model import KERNEL, Array, Controller, Drive, Health, Inventory, Problem, Target
from backends.settings import Reading, Span

if TYPE_CHECKING:  # listing devices must not import the session modules, which takes time
    from app.core.session.events import ChangeEnded, RunSection
    from app.core.session.results import (
        Advice,
        CacheStats,
        DirectionSample,
        DirectionStats,
        LatencyStats,
        MemberStats,
        PartFigures,
        PartSample,
        RunResult,
        Sample,
        SectionFigures,
        SteadyStateResult,
    )
    from app.core.session.state import ChangeRecord, RunRecord
    from backends.settings import Setting

SCHEMA = 1
"""Version of all documents. It increases only if the meaning of a field changes."""

Json = dict[str, Any]
SettingsOf = Mapping[str, list[Json] | None]
"""Settings of each device, by its address, in the form that `setting` returns; None if they could not be read."""

HEALTH = tuple(field.name for field in fields(Health))
"""Names of the fields of a drive's health."""

_INTERVAL = ("iops", "bytes_per_second", "p50_ns", "p99_ns", "p99_9_ns", "max_ns")
_STATES = {"mount": "mounted", "open": "opened", **dict.fromkeys(HOLDER_KINDS, "held")}


def document(**body: Any) -> Json:
    """Return a complete JSON document with these fields and the schema version."""
    return {"schema": SCHEMA, **body}


def pick(value: object, *names: str) -> Json:
    """Return the named attributes of `value` as JSON: an enum as its value, an address as text."""
    return {name: _plain(getattr(value, name)) for name in names}


def _plain(value: object) -> Any:
    match value:
        case Enum():
            return value.value
        case Target():
            return str(value)
        case tuple():
            return [_plain(item) for item in value]
        case _:
            return value


def devices(inventory: Inventory, settings: SettingsOf, *, host: str, simulated: bool) -> Json:
    """Return the device list: each device once, with its name and all its addresses, each with its settings."""
    twins = inventory.twins
    shown = [drive for drive in inventory.drives if drive.target not in twins]

    def view(device: Controller | Array | Drive) -> Json:
        return {
            **device_json(device, settings),
            **names_and_addresses(inventory, device),
            **({} if isinstance(device, Controller) else views(inventory, device, settings)),
        }

    return {
        "schema": SCHEMA,
        "host": host,
        "simulated": simulated,
        "controllers": list(map(view, inventory.controllers)),
        "arrays": list(map(view, inventory.arrays)),
        "drives": list(map(view, shown)),
        "problems": [problem(item) for item in inventory.problems],
    }


def names_and_addresses(inventory: Inventory, device: Controller | Array | Drive) -> Json:
    """Return a device's name in the device list, and all addresses that commands accept, starting with its own."""
    return {"name": name_of(device), "addresses": list(addresses(inventory, device))}


def views(inventory: Inventory, device: Array | Drive, settings: SettingsOf) -> Json:
    """Return the settings of a device's other views.

    `queue` is the device's view as a block device of the kernel; null if there is none, or if `device` is that view
    itself. `views` are its views in other vendors' tools.
    """
    devices = inventory.at(device.device) if device.device is not None else ()
    others = [str(device_here.target) for device_here in devices if device_here.target != device.target]
    records = [{"address": other, "settings": settings.get(other, [])} for other in others]
    kernel_records = [record for record in records if str(record["address"]).startswith(f"{KERNEL}:")]
    return {
        "queue": next(iter(kernel_records), None),
        "views": [record for record in records if record not in kernel_records],
    }


def device_json(device: Controller | Array | Drive, settings: SettingsOf) -> Json:
    """Return a device of the inventory as JSON."""
    match device:
        case Controller():
            return controller(device, settings)
        case Array():
            return array(device, settings)
        case Drive():
            return drive(device, settings)


def controller(device: Controller, settings: SettingsOf) -> Json:
    """Return a controller as JSON."""
    protection = device.protection
    return {
        "address": str(device.target),
        **pick(device, "vendor", "model", "serial", "firmware", "driver", "pci", "cache_bytes"),
        "protection": None if protection is None else pick(protection, "kind", "state"),
        "features": [pick(feature, "name", "state") for feature in device.features],
        "tasks": _tasks(device),
        "settings": settings.get(str(device.target), []),
        "facts": _facts(device),
    }


def array(device: Array, settings: SettingsOf) -> Json:
    """Return an array or virtual drive as JSON."""
    return {
        "address": str(device.target),
        **pick(device, "controller", "name", "level", "state", "size_bytes", "strip_bytes", "data_drives", "device"),
        **pick(device, "members"),
        "in_use": _in_use(device.uses),
        "tasks": _tasks(device),
        "settings": settings.get(str(device.target), []),
        "uses": _uses(device),
        "above": list(device.above),
        "facts": _facts(device),
        "given_name": device.name,
        **pick(device, "link", "spans"),
        "why": device.why or None,
    }


def drive(device: Drive, settings: SettingsOf) -> Json:
    """Return a drive as JSON."""
    return {
        "address": str(device.target),
        **pick(device, "controller", "array", "model", "serial", "firmware", "media", "interface", "size_bytes"),
        **pick(device, "state", "device", "paths"),
        "in_use": _in_use(device.uses),
        "settings": settings.get(str(device.target), []),
        "wwn": device.wwn,
        "logical_block_bytes": device.logical_block,
        "physical_block_bytes": device.physical_block,
        "read_only": device.read_only,
        "scheduler": device.scheduler,
        "backing_file": device.backing,
        "partitions": list(device.partitions),
        "uses": _uses(device),
        "above": list(device.above),
        "signatures": [pick(mark, "kind", "label", "uuid", "part", "size_bytes") for mark in device.signatures],
        "facts": _facts(device),
        "health": pick(device.health, *HEALTH),
    }


def _tasks(device: Controller | Array) -> list[Json]:
    return [pick(task, "kind", "progress") for task in device.tasks]


def _uses(device: Array | Drive) -> list[Json]:
    return [pick(use, "kind", "detail", "part") for use in device.uses]


def _facts(device: Controller | Array | Drive) -> list[Json]:
    return [pick(fact, "label", "value") for fact in device.facts]


def setting(declared: Setting, reading: Reading) -> Json:
    """Return a setting as JSON: its declaration and its current reading."""
    return {
        **pick(declared, "key", "label"),
        **pick(reading, "now", "raw"),
        "effective": reading.now if reading.effective is None else reading.effective,
        "choices": [pick(choice, "value", "label", "help", "risk") for choice in reading.choices] or None,
        "span": _span(reading.span),
        **pick(declared, "effect", "persistence", "risk", "confirmed"),
        **pick(reading.availability, "available", "why_not"),
        "unit": declared.unit or None,
        "why_effective": reading.why_effective,
        "follows": reading.follows,
        "help": declared.help,
    }


def change(planned: Change) -> Json:
    """Return a planned change as JSON."""
    return {
        **pick(planned, "target", "key", "label"),
        "now": planned.before,
        "new": planned.after,
        **pick(planned, "effect", "persistence", "risk"),
        "risk_text": planned.risk_text or None,
        "confirmed": planned.confirmed,
        "may_change": list(planned.moves),
        "may_change_on_disk": list(planned.moves_disk),
        "above": list(planned.above),
        "commands": _lines(planned.writes),
        "undo": _lines(planned.undo),
    }


def change_end(outcome: ChangeEnded) -> Json:
    """Return the end of a change as JSON."""
    return {
        "id": outcome.id or None,
        **pick(outcome, "result", "now"),
        "message": outcome.message or None,
        "moved": _moved(outcome),
    }


def _moved(outcome: ChangeEnded | None) -> list[Json] | None:
    """Return the other settings whose values also changed, as JSON; None if unknown."""
    if outcome is None or outcome.moved is None:
        return None
    return [pick(setting, "target", "key", "before", "now", "explained", "restored") for setting in outcome.moved]


def change_record(record: ChangeRecord) -> Json:
    """Return a change of a session, with its outcome, as JSON."""
    intent, change, end = record.intent, record.change, record.end
    return {
        "id": record.id,
        "at": intent.at,
        **pick(change, "target", "key", "label", "before", "after"),
        "commands": _lines(change.writes),
        "undo": _lines(change.undo),
        **pick(change, "risk", "persistence"),
        "above": list(change.above),
        "undoes": intent.undoes,
        "undone_by": record.undone_by,
        "result": None if end is None else end.result,
        "now": None if end is None else end.now,
        "message": None if end is None else end.message or None,
        "moved": _moved(end),
        "in_force": record.in_force,
    }


def run(record: RunRecord, *, session: str) -> Json:
    """Return a run with its results as JSON. `session`: folder of the run's session."""
    start, figures = record.start, record.figures
    return {
        "id": record.id,
        **pick(start, "target", "simulated"),
        **pick(figures, "status", "reason"),
        "job": dict(start.job),
        "seconds": figures.seconds,
        **_sides(figures),
        # The rates of a target are averages over the time of the whole run, so that they add up.
        "targets": [
            {**pick(target, "target", "device"), **_sides(stats)}
            for target, stats in zip(start.targets, figures.targets, strict=False)
        ]
        or None,
        "sections": sections(start.sections, figures.sections) or None,
        "groups": [
            {"sections": list(group_figures.sections), **_sides(group_figures)} for group_figures in figures.groups
        ]
        or None,
        "cpu": pick(figures.cpu, "fio_percent_of_core", "host_percent"),
        "members": [member(item) for item in figures.members],
        "caches": [cache(item) for item in figures.caches],
        "settings": dict(start.settings),
        "provenance": record.provenance,
        "advice": [
            *(advice(item) for item in figures.advice),
            *({"key": "note", "message": sentence, "do": None, "about": []} for sentence in figures.warnings),
        ],
        "session": session,
        **pick(start, "at", "device", "profile", "title", "destructive"),
        "fio_version": figures.fio_version or start.fio_version,
        "hint": figures.hint or None,
        "evidence": figures.evidence or None,
        "folder": None if record.end is None else record.end.folder,
        "steady": _steady(figures.steady),
        "filled_bytes": figures.filled_bytes or None,
        "experiment": None
        if start.mark is None
        else {"id": start.mark.experiment, "letter": start.mark.letter, "pair": start.mark.pair},
    }


def advice(given: Advice) -> Json:
    """Return a piece of advice as JSON."""
    return {**pick(given, "key", "message"), "do": given.do or None, "about": list(given.about)}


def sample(taken: Sample, members: Sequence[MemberStats] = ()) -> Json:
    """Return one line of `bench --stream`, with the statistics of the members in that interval if there are any."""
    line: Json = {"at": round(taken.at, 3), **_intervals(taken)}
    if taken.targets:
        line["targets"] = [{"target": item.target, **_intervals(item)} for item in taken.targets]
    if taken.sections:
        line["sections"] = [
            {"name": item.name, "phase": None if item.phase is None else item.phase.value, **_intervals(item)}
            for item in taken.sections
        ]
    return line | {"members": [member(item) for item in members]} if members else line


def _intervals(taken: Sample | PartSample) -> Json:
    """Return the values of an interval by direction; null for a direction that the job does not have."""
    from app.core.session.results import SIDES

    return {name: _interval(taken.side(name)) for name in SIDES}


def _sides(figures: RunResult | PartFigures) -> Json:
    """Return the results of a run by direction; null for a direction without results."""
    from app.core.session.results import SIDES

    return {name: side(figures.side(name)) for name in SIDES}


def sections(started: Sequence[RunSection], measured: Sequence[SectionFigures] = ()) -> list[Json]:
    """Return the sections of a job with their results. The rates are averages over a section's own time, as in fio."""
    results = {figures.name: {"seconds": figures.seconds, **_sides(figures)} for figures in measured}
    return [
        {
            **pick(section, "name", "title", "phase", "group", "starts_s", "planned_seconds"),
            "job": dict(section.job),
            **results.get(section.name, {}),
        }
        for section in started
    ]


def member(figures: MemberStats) -> Json:
    """Return the statistics of a device below the target; null for values that the kernel does not count."""
    return {
        "device": figures.device,
        "label": figures.label or None,
        "role": figures.role or None,
        **pick(figures, "depth", "read_iops", "write_iops", "read_bytes_per_second", "write_bytes_per_second"),
        **pick(figures, "utilisation", "queue", "share_of_reads", "share_of_writes"),
    }


def cache(figures: CacheStats) -> Json:
    """Return the statistics of a cache that a run used; null for values that it does not count, with the reason."""
    shares = pick(figures, "device", "share_of_reads", "share_of_writes", "dirty")
    return {**shares, "why_not": figures.why_not or None}


def problem(met: Problem) -> Json:
    """Return a problem of the inventory as JSON."""
    return {**pick(met, "where", "message"), "hint": met.hint or None}


def side(figures: DirectionStats | None) -> Json | None:
    """Return the results of one direction of a run; None if it has none."""
    if figures is None:
        return None
    return {
        **pick(figures, "iops", "bytes_per_second", "total_ios"),
        "latency_ns": _latency(figures.latency_ns),
        "completion_ns": _latency(figures.completion_ns),
        "submission_ns": _latency(figures.submission_ns),
        "total_bytes": figures.total_bytes,
        "seconds": figures.runtime_s,
    }


def _latency(figures: LatencyStats | None) -> Json | None:
    if figures is None:
        return None
    return pick(figures, "mean", "p50", "p95", "p99", "p99_9", "p99_99", "p99_999", "p99_9999", "max", "min", "stddev")


def _steady(result: SteadyStateResult | None) -> Json | None:
    """Return the result of the steady-state rule as JSON."""
    if result is None:
        return None
    return {
        "attained": result.attained,
        "range": result.range_share,
        "slope": result.slope_share,
        **pick(result, "rounds", "window"),
        "round_seconds": result.round_s,
        "waited_seconds": result.waited_s or None,
        **pick(result, "capped", "ended_early"),
    }


def _interval(figures: DirectionSample | None) -> Json | None:
    return None if figures is None else pick(figures, *_INTERVAL)


def _in_use(uses: tuple[Use, ...]) -> Json | None:
    """Return the most informative use of a device: a mount if there is one. The field `uses` lists all uses."""
    if not uses:
        return None
    telling = next((use for use in uses if use.kind == "mount"), uses[0])
    return {"state": _STATES.get(telling.kind, telling.kind), "detail": telling.detail}


def _span(span: Span | None) -> Json | None:
    return None if span is None else {**pick(span, "minimum", "maximum", "step"), "unit": span.unit or None}


def _lines(writes: tuple[ChangeStep, ...]) -> list[str]:
    return [write.shown() for write in writes]
