"""Assess the risks of a sweep before it starts: data loss, risky values and wear."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from app.core.analysis.noise import RunNoise
from app.core.analysis.past_runs.earlier_runs import device_id_of_target, job_text
from app.core.analysis.past_runs.index import load_past_runs
from app.core.analysis.past_runs.series import noise_of_condition
from app.core.benchmark.endurance import amount_text, endurance_texts
from app.core.benchmark.run_plan import BenchmarkRequest, RunPlan
from app.core.fio.job import Job
from app.core.session.sweep_steps import MADE, Design, OverwrittenDevice
from app.core.session.unit_labels import value_text
from app.core.workbench import Workbench
from app.features.sweep.engine.estimate import writing_seconds
from app.features.sweep.engine.targets import SettingOwner, TargetFacts
from backends.device_label import DeviceLabel
from backends.errors import RaidbenchError
from backends.settings import Risk, worst
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskAssessment:
    """Everything that the user must know about a sweep before confirming it."""

    design: Design
    """The design, completed with the devices that lose their data."""
    risk: Risk
    """The highest risk of all steps of the sweep."""
    refused: tuple[str, ...] = ()
    """Reasons why the sweep is refused, as sentences; () if it is not refused."""
    hint: str = ""
    """Advice to the user if the sweep is refused; "" if there is none."""
    risks: tuple[str, ...] = ()
    """Warnings about values that are risky to set, and about the drives of created arrays."""

    wear: tuple[str, ...] = ()
    """Sentences about the amount of written data and the endurance of the drives."""
    plates: tuple[DeviceLabel, ...] = ()
    """Labels of the devices that lose their data or, if there are none, of the devices whose settings change."""
    noise: Mapping[str, RunNoise] = field(default_factory=dict)
    """Scatter of earlier runs by workload name. Workloads with too few earlier runs are left out."""


async def assess_risk(bench: Workbench, design: Design, facts: TargetFacts) -> RiskAssessment:
    """Return the risks of the sweep, without changing anything. Raises the errors of preparing a run."""
    risk, sentences = _risk_of_values(design, facts)
    refused: list[str] = []
    hint = ""
    destroys: list[OverwrittenDevice] = []
    plates: list[DeviceLabel] = []
    wear: list[str] = []
    for device, name, job in _overwritten_devices(design, facts):
        ready = await bench.jobs.prepare(BenchmarkRequest(where=device, name=name, job=job))
        if ready.refused:
            refused += ready.refused
            hint = hint or ready.hint
        elif ready.only.device is not None and all(destroy.device != ready.only.device for destroy in destroys):
            (plate,) = ready.labels  # a target that may be overwritten has exactly one label
            plates.append(plate)
            display_name = plate.name if plate.name != ready.only.device else ""
            destroys.append(
                OverwrittenDevice(device=ready.only.device, name=plate.token, found=ready.content, called=display_name)
            )
            wear += _wear(bench, ready, writing_seconds(design, name))
    if design.making is not None:
        plates += facts.arrays.labels if facts.arrays is not None else ()
        if (unable := await _array_error(bench, facts)) is not None:
            refused.append(unable.message)
            hint = hint or unable.hint
    if destroys or refused or design.making is not None:
        risk = Risk.DESTROYS_DATA
    else:
        plates = [
            await bench.hardware.device_label(target)
            for target in dict.fromkeys(original.target for original in design.originals)
        ]
    return RiskAssessment(
        design=replace(design, destroys=tuple(destroys)),
        risk=risk,
        refused=tuple(dict.fromkeys(refused)),
        hint=hint,
        risks=(*sentences, *(facts.arrays.warnings if facts.arrays is not None else ())),
        wear=tuple(wear),
        plates=tuple({(plate.token, plate.mark): plate for plate in reversed(plates)}.values())[::-1],
        noise=dict(_noise(bench, design, facts)),
    )


async def _array_error(bench: Workbench, facts: TargetFacts) -> RaidbenchError | None:
    """Return the error that keeps this machine from creating the arrays; None if it can create them."""
    try:
        if facts.arrays is not None:
            await bench.arrays.require_array_support(facts.arrays.controller)
    except RaidbenchError as error:
        return error
    return None


def _noise(bench: Workbench, design: Design, facts: TargetFacts) -> Iterator[tuple[str, RunNoise]]:
    nodes = {facts.addresses[role]: device for role, device in facts.devices.items() if role in facts.addresses}
    columns = {cell.column: cell for cell in reversed(design.cells)}
    runs = load_past_runs(bench.paths).runs if columns else ()
    for column, cell in reversed(columns.items()):
        lasting = device_id_of_target(bench.session.inventory, nodes.get(cell.where, cell.where))
        name = lasting or f"{bench.host.name} {cell.where}"
        noise = noise_of_condition((bench.simulated, name, job_text(cell.job)), runs)
        if noise is not None:
            yield column, noise


def _wear(bench: Workbench, ready: RunPlan, seconds: float) -> tuple[str, ...]:
    """Return sentences about the data that `seconds` of the planned run write to its device, and about the endurance of
    the drives; () if nothing is written to a device.
    """
    if not seconds or ready.only.device is None:
        return ()
    session = bench.session
    display_name = session.inventory.lasting(ready.only.device)
    amount = amount_text(ready.only.device, seconds, session.runs, called=display_name)
    parts = (
        f"Written to {display_name}: {amount}",
        *endurance_texts(session.inventory, ready.only.disk or ready.only.device),
    )
    return tuple(f"{part}." for part in parts)


def _overwritten_devices(design: Design, facts: TargetFacts) -> list[tuple[str, str, Job]]:
    """Return (device, address, writing job) for every device that loses its data. Scratch files are left out."""
    nodes = {facts.addresses[role]: device for role, device in facts.devices.items() if device.startswith("/dev/")}
    losing: dict[str, tuple[str, str, Job]] = {}
    for cell in design.cells:
        job = Job.from_fields(cell.job)
        if job.writes and cell.where in nodes:
            losing.setdefault(cell.where, (nodes[cell.where], cell.where, job))
    writing, holders = Job.from_fields({"rw": "randwrite"}), _holders_by_target(facts)
    for original in design.originals:
        address = str(original.target)
        destroys = original.slow and holders[address].settings[original.key].risk is Risk.DESTROYS_DATA
        if destroys and address in nodes:
            losing.setdefault(address, (nodes[address], address, writing))
    return list(losing.values())


def _holders_by_target(facts: TargetFacts) -> dict[str, SettingOwner]:
    return {str(holder.target): holder for holders in facts.holders.values() for holder in holders}


def _risk_of_values(design: Design, facts: TargetFacts) -> tuple[Risk, tuple[str, ...]]:
    """Return the highest risk of all values that the sweep sets, and a warning for each risky value."""
    holders = _holders_by_target(facts)
    before = {(original.target, original.key): original.value for original in design.originals}
    grave, sentences = Risk.NONE, dict[str, None]()
    for assignment in dict.fromkeys(setting for cell in design.cells for setting in cell.settings):
        if assignment.target.backend == MADE:  # a value for a created array is checked once the array exists
            continue
        if before[assignment.target, assignment.key] == assignment.value:
            continue
        holder = holders[str(assignment.target)]
        setting, reading = holder.settings[assignment.key], holder.readings[assignment.key]
        risk = next((choice.risk for choice in reading.choices if choice.value == assignment.value), setting.risk)
        if risk is not Risk.NONE and setting.risk_text:
            sentences[f"{setting.label} {value_text(assignment.key, assignment.value)}: {setting.risk_text}"] = None
        grave = worst((grave, risk))
    return grave, tuple(sentences)
