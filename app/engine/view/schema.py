"""Our values as the JSON of the command line: `"schema": 1`, fields are only ever added. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from backends.change import Change, Write
from backends.identity import Use
from backends.model import Array, Controller, Drive, Inventory, Problem, Target
from backends.settings import Reading, Span

if TYPE_CHECKING:  # a look at the devices does not pay for the words of a session
    from app.engine.session.events import ChangeEnded
    from app.engine.session.figures import (
        Advice,
        DirectionFigures,
        DirectionSample,
        MemberFigures,
        Sample,
        SteadyFigures,
    )
    from app.engine.session.state import ChangeRecord, RunRecord
    from backends.settings import Setting

SCHEMA = 1
"""Version of every document; raised only when a field changes its meaning."""

Json = dict[str, Any]
SettingsOf = Mapping[str, list[Json]]
"""The settings of each target, by its address, as `setting` makes them."""

_STATES = {"mount": "mounted", "holder": "held", "open": "opened"}


def document(**body: Any) -> Json:
    """A whole document."""
    return {"schema": SCHEMA, **body}


def devices(inventory: Inventory, settings: SettingsOf, *, host: str, simulated: bool) -> Json:
    """Everything found, with the settings of each thing."""
    return document(
        host=host,
        simulated=simulated,
        controllers=[controller(each, settings) for each in inventory.controllers],
        arrays=[array(each, settings) for each in inventory.arrays],
        drives=[drive(each, settings) for each in inventory.drives if not each.shown_elsewhere],
        problems=[problem(each) for each in inventory.problems],
    )


def thing(found: Controller | Array | Drive, settings: SettingsOf) -> Json:
    """One thing of the inventory."""
    match found:
        case Controller():
            return controller(found, settings)
        case Array():
            return array(found, settings)
        case Drive():
            return drive(found, settings)


def controller(found: Controller, settings: SettingsOf) -> Json:
    """A controller."""
    protection = found.protection
    return {
        "address": str(found.target),
        "vendor": found.vendor,
        "model": found.model,
        "serial": found.serial,
        "firmware": found.firmware,
        "driver": found.driver,
        "pci": found.pci,
        "cache_bytes": found.cache_bytes,
        "protection": None if protection is None else {"kind": protection.kind, "state": protection.state},
        "features": [{"name": feature.name, "state": feature.state} for feature in found.features],
        "tasks": [{"kind": task.kind, "progress": task.progress} for task in found.tasks],
        "settings": settings.get(str(found.target), []),
        "facts": [{"label": fact.label, "value": fact.value} for fact in found.facts],
    }


def array(found: Array, settings: SettingsOf) -> Json:
    """An array or virtual drive."""
    return {
        "address": str(found.target),
        "controller": _address(found.controller),
        "name": found.name,
        "level": found.level.value,
        "state": found.state.value,
        "size_bytes": found.size_bytes,
        "strip_bytes": found.strip_bytes,
        "data_drives": found.data_drives,
        "device": found.device,
        "members": [str(member) for member in found.members],
        "in_use": _in_use(found.uses),
        "tasks": [{"kind": task.kind, "progress": task.progress} for task in found.tasks],
        "settings": settings.get(str(found.target), []),
        "uses": [{"kind": use.kind, "detail": use.detail, "part": use.part} for use in found.uses],
        "facts": [{"label": fact.label, "value": fact.value} for fact in found.facts],
    }


def drive(found: Drive, settings: SettingsOf) -> Json:
    """A disk."""
    return {
        "address": str(found.target),
        "controller": _address(found.controller),
        "array": _address(found.array),
        "model": found.model,
        "serial": found.serial,
        "firmware": found.firmware,
        "media": found.media.value,
        "interface": found.interface,
        "size_bytes": found.size_bytes,
        "state": found.state.value,
        "device": found.device,
        "paths": list(found.paths),
        "in_use": _in_use(found.uses),
        "settings": settings.get(str(found.target), []),
        "wwn": found.wwn,
        "logical_block_bytes": found.logical_block,
        "physical_block_bytes": found.physical_block,
        "read_only": found.read_only,
        "backing_file": found.backing,
        "partitions": list(found.partitions),
        "uses": [{"kind": use.kind, "detail": use.detail, "part": use.part} for use in found.uses],
        "signatures": [
            {
                "kind": mark.kind,
                "label": mark.label,
                "uuid": mark.uuid,
                "part": mark.part,
                "size_bytes": mark.size_bytes,
            }
            for mark in found.signatures
        ],
        "facts": [{"label": fact.label, "value": fact.value} for fact in found.facts],
    }


def setting(declared: Setting, reading: Reading) -> Json:
    """A setting as declared and as read just now."""
    return {
        "key": declared.key,
        "label": declared.label,
        "now": reading.now,
        "raw": reading.raw,
        "effective": reading.now if reading.effective is None else reading.effective,
        "choices": [
            {"value": choice.value, "label": choice.label, "help": choice.help, "risk": choice.risk.value}
            for choice in reading.choices
        ]
        or None,
        "span": _span(reading.span),
        "effect": declared.effect.value,
        "persistence": declared.persistence.value,
        "risk": declared.risk.value,
        "available": reading.availability.available,
        "why_not": reading.availability.why_not,
        "unit": declared.unit or None,
        "why_effective": reading.why_effective,
        "help": declared.help,
    }


def change(planned: Change) -> Json:
    """A planned change."""
    return {
        "target": str(planned.target),
        "key": planned.key,
        "label": planned.label,
        "now": planned.before,
        "new": planned.after,
        "effect": planned.effect.value,
        "persistence": planned.persistence.value,
        "risk": planned.risk.value,
        "risk_text": planned.risk_text or None,
        "may_change": list(planned.moves),
        "commands": _lines(planned.writes),
        "undo": _lines(planned.undo),
    }


def ended(outcome: ChangeEnded) -> Json:
    """How a change ended."""
    return {"id": outcome.id, "result": outcome.result, "now": outcome.now, "message": outcome.message or None}


def change_record(record: ChangeRecord) -> Json:
    """A change of a session, and how it ended."""
    intent, change = record.intent, record.change
    return {
        "id": record.id,
        "at": intent.at,
        "target": str(change.target),
        "key": change.key,
        "label": change.label,
        "before": change.before,
        "after": change.after,
        "commands": _lines(change.writes),
        "undo": _lines(change.undo),
        "risk": change.risk.value,
        "persistence": change.persistence.value,
        "undoes": intent.undoes,
        "undone_by": record.undone_by,
        "result": None if record.end is None else record.end.result,
        "now": None if record.end is None else record.end.now,
        "message": None if record.end is None else record.end.message or None,
        "in_force": record.in_force,
    }


def run(record: RunRecord, *, session: str) -> Json:
    """A run and what it measured; `session` is the folder it lies in."""
    start, figures = record.start, record.figures
    return {
        "id": record.id,
        "target": start.target,
        "simulated": start.simulated,
        "status": figures.status.value,
        "reason": figures.reason,
        "job": dict(start.job),
        "seconds": figures.seconds,
        "read": _direction(figures.read),
        "write": _direction(figures.write),
        "cpu": {"fio_percent_of_core": figures.cpu.fio_percent_of_core, "host_percent": figures.cpu.host_percent},
        "members": [member(each) for each in figures.members],
        "settings": dict(start.settings),
        "advice": [
            *(advice(each) for each in figures.advice),
            *({"key": "note", "message": sentence, "do": None, "about": []} for sentence in figures.warnings),
        ],
        "session": session,
        "at": start.at,
        "device": start.device,
        "profile": start.profile,
        "title": start.title,
        "destructive": start.destructive,
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
    """What makes figures doubtful."""
    return {"key": given.key, "message": given.message, "do": given.do or None, "about": list(given.about)}


def sample(taken: Sample, members: Sequence[MemberFigures] = ()) -> Json:
    """One line of `bench --stream`; with what the members did in the same interval, where there are some."""
    line: Json = {"at": round(taken.at, 3), "read": _interval(taken.read), "write": _interval(taken.write)}
    return line | {"members": [member(each) for each in members]} if members else line


def member(figures: MemberFigures) -> Json:
    """A device below the one that was measured; null is what the kernel does not count."""
    return {
        "device": figures.device,
        "label": figures.label or None,
        "role": figures.role or None,
        "depth": figures.depth,
        "read_iops": figures.read_iops,
        "write_iops": figures.write_iops,
        "read_bytes_per_second": figures.read_bytes_per_second,
        "write_bytes_per_second": figures.write_bytes_per_second,
        "utilisation": figures.utilisation,
        "queue": figures.queue,
        "share_of_reads": figures.share_of_reads,
        "share_of_writes": figures.share_of_writes,
    }


def problem(met: Problem) -> Json:
    """Something that could not be read."""
    return {"where": met.where, "message": met.message, "hint": met.hint or None}


def _direction(figures: DirectionFigures | None) -> Json | None:
    if figures is None:
        return None
    latency = figures.latency_ns
    return {
        "iops": figures.iops,
        "bytes_per_second": figures.bytes_per_second,
        "total_ios": figures.total_ios,
        "latency_ns": {
            "mean": latency.mean,
            "p50": latency.p50,
            "p95": latency.p95,
            "p99": latency.p99,
            "p99_9": latency.p99_9,
            "max": latency.max,
            "min": latency.min,
            "stddev": latency.stddev,
        },
        "total_bytes": figures.total_bytes,
        "seconds": figures.runtime_s,
    }


def _steady(seen: SteadyFigures | None) -> Json | None:
    """How a run stood to the steady state rule."""
    if seen is None:
        return None
    return {
        "attained": seen.attained,
        "range": seen.range_share,
        "slope": seen.slope_share,
        "rounds": seen.rounds,
        "window": seen.window,
        "round_seconds": seen.round_s,
        "waited_seconds": seen.waited_s or None,
        "capped": seen.capped,
        "ended_early": seen.ended_early,
    }


def _interval(figures: DirectionSample | None) -> Json | None:
    if figures is None:
        return None
    return {
        "iops": figures.iops,
        "bytes_per_second": figures.bytes_per_second,
        "p50_ns": figures.p50_ns,
        "p99_ns": figures.p99_ns,
        "p99_9_ns": figures.p99_9_ns,
        "max_ns": figures.max_ns,
    }


def _address(target: Target | None) -> str | None:
    return None if target is None else str(target)


def _in_use(uses: tuple[Use, ...]) -> Json | None:
    """The use that says most, a mount if there is one; all of them are in `uses`."""
    if not uses:
        return None
    telling = next((use for use in uses if use.kind == "mount"), uses[0])
    return {"state": _STATES.get(telling.kind, telling.kind), "detail": telling.detail}


def _span(span: Span | None) -> Json | None:
    if span is None:
        return None
    return {"minimum": span.minimum, "maximum": span.maximum, "step": span.step, "unit": span.unit or None}


def _lines(writes: tuple[Write, ...]) -> list[str]:
    return [write.shown() for write in writes]
