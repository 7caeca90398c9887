"""Expand a plan into the design of a sweep, using the facts of the machine. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from app.core.analysis.pair_design import RULE
from app.core.fio.job import InvalidJobError, Job, with_replaced_fields
from app.core.fio.profiles import profile
from app.core.fio.sizes import parse_size
from app.core.session.sweep_steps import MADE, Assignment, Design, SkippedCell, SweepArray, SweepCell
from app.features.sweep.engine.estimate import seconds_of
from app.features.sweep.engine.load_curve import OPEN_LOAD
from app.features.sweep.engine.order import arrange, arrange_arrays
from app.features.sweep.engine.plan import JobAxis, PlanError, SettingAxis, SetUp, SkipRule, SweepPlan, Workload
from app.features.sweep.engine.raid_levels import array_text, shapes
from app.features.sweep.engine.targets import SettingOwner, TargetFacts
from backends.errors import InvalidValueError
from backends.model import Target
from backends.reported_words import reported_text
from backends.settings import Effect, Reading, Setting, check_value
from backends.values import dataclass

MOST_CELLS = 2000
"""Maximum number of combinations of a plan."""

PlannedSetting = tuple[str, str, str]
"""(role, key, value) as in the plan."""


class _LeftOutError(Exception):
    """Raised for a combination that is left out. The message is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One combination of settings."""

    label: str
    setup: SetUp
    values: tuple[str, ...]
    """Values of the setting axes."""
    planned: tuple[PlannedSetting, ...]
    array: SweepArray | None = None
    """The array that the sweep creates for this row; None without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """One workload."""

    label: str
    workload: str
    profile: str | None
    texts: Mapping[str, str]
    job: Job


def expand(plan: SweepPlan, facts: TargetFacts, seed: int) -> Design:
    """Return the design: all cells, their order, and each combination that is left out, with the reason.

    Raises PlanError when nothing is left to measure, or when there are too many combinations.
    """
    axes = [axis for axis in plan.axes if isinstance(axis, SettingAxis)]
    plain_rows, columns = _rows(plan, axes, facts), _columns(plan)
    rows = _on_every_array(plain_rows, facts)
    if len(rows) * len(columns) > MOST_CELLS:
        raise PlanError(f"The plan has {len(rows) * len(columns)} combinations. The limit is {MOST_CELLS}.")
    cells: dict[tuple[_Key, str], SweepCell] = {}
    skipped = _refused_cells(plain_rows, columns, facts)
    for row in rows:
        for column in columns:
            try:
                cell = _cell(f"k{len(cells) + 1}", plan, row, column, facts)
            except _LeftOutError as reason:
                skipped.append(SkippedCell(row=row.label, column=column.label, reason=str(reason)))
            else:
                cells[_key(row), column.label] = cell
    if not cells:
        raise PlanError(
            "No combination of the plan can be measured on this machine.",
            hint=" ".join(dict.fromkeys(cell.reason for cell in skipped)),
        )
    with_baselines = [
        replace(cell, against=None if baseline is None or baseline.id == cell.id else baseline.id)
        for (row_key, column_label), cell in cells.items()
        for baseline in (cells.get((_baseline_row(plan, axes, facts, row_key), column_label)),)
    ]
    originals = _original_values(with_baselines, facts)
    complete = _with_all_settings(with_baselines, originals)
    making = None if facts.arrays is None else facts.arrays.making
    if making is None:
        ordered, steps = arrange(complete, originals, repeats=plan.repeats, seed=seed)
    else:
        ordered, steps = arrange_arrays(complete, repeats=plan.repeats, seed=seed, once=making.once)
    design = Design(
        title=plan.title or "sweep",
        source=plan.source,
        seed=seed,
        repeats=plan.repeats,
        pairs=0 if making is not None and making.once else plan.pairs,
        rest=plan.rest,
        rank=plan.rank,
        targets=dict(facts.addresses),
        cells=ordered,
        steps=steps,
        skipped=tuple(skipped),
        originals=originals,
        features=tuple(feature for name, feature in facts.features.items() if any(name in c.needs for c in ordered)),
        saturation=plan.saturation,
        threshold_percent=plan.threshold,
        curve=plan.curve,
        rule=RULE,
        making=making,
        published=plan.published,
        published_rows=plan.published_rows,
    )
    return replace(design, seconds=seconds_of(design))


def row_and_column_names(plan: SweepPlan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the result's rows and columns, which are the same on every machine.

    Raises PlanError for an invalid job.
    """
    axes = [axis for axis in plan.axes if isinstance(axis, SettingAxis)]
    rows = _rows(plan, axes, TargetFacts(addresses={}, devices={}, holders={}))
    columns = tuple(column.label for column in _columns(plan))
    if plan.levels is None:
        return tuple(row.label for row in rows), columns
    made = [array_text(shape) for shape in shapes(plan.levels)]
    return tuple(_array_row_text(row, array) for array in made for row in rows), columns


_Key = tuple[str, tuple[str, ...], str]
"""Name of a row's set-up, values of its setting axes, and id of its array."""


def _key(row: _Row) -> _Key:
    return row.setup.name, row.values, "" if row.array is None else row.array.id


def _on_every_array(rows: Sequence[_Row], facts: TargetFacts) -> list[_Row]:
    """Return a copy of every row for each array that the sweep creates; the unchanged rows if it creates none."""
    if facts.arrays is None:
        return [*rows]
    return [
        replace(row, array=array, label=_array_row_text(row, array_text(array)))
        for array in facts.arrays.making.arrays
        for row in rows
    ]


def _array_row_text(row: _Row, array: str) -> str:
    return array if not (row.setup.name or row.values) else f"{array}, {row.label}"


def _refused_cells(rows: Sequence[_Row], columns: Sequence[_Column], facts: TargetFacts) -> list[SkippedCell]:
    """Return the combinations that are skipped because their array cannot be created."""
    return [
        SkippedCell(row=_array_row_text(row, array_text(shape)), column=column.label, reason=reason)
        for shape, reason in (facts.arrays.refused if facts.arrays is not None else ())
        for row in rows
        for column in columns
    ]


def _rows(plan: SweepPlan, axes: Sequence[SettingAxis], facts: TargetFacts) -> list[_Row]:
    rows = []
    for setup in plan.setups or (SetUp(name=""),):
        for values in product(*(axis.values for axis in axes)):
            planned = (
                *setup.settings,
                *((axis.target, axis.setting, value) for axis, value in zip(axes, values, strict=True)),
            )
            lines = [f"{axis.setting}={value}" for axis, value in zip(axes, values, strict=True)]
            label = ", ".join(filter(None, (setup.name, *lines))) or "as it is"
            resolved = tuple((role, _with_node_names(key, facts), value) for role, key, value in planned)
            rows.append(_Row(label=label, setup=setup, values=values, planned=resolved))
    return rows


def _with_node_names(key: str, facts: TargetFacts) -> str:
    """Return a setting key such as `write_mostly.{slow}`, with the role in braces replaced by the kernel name of its
    device.
    """
    for role, device in facts.devices.items():
        key = key.replace(f"{{{role}}}", device.rpartition("/")[2])
    return key


def _columns(plan: SweepPlan) -> list[_Column]:
    axes = [axis for axis in plan.axes if isinstance(axis, JobAxis)]
    workloads = plan.workloads or (Workload(name=""),)
    return [
        _column(plan, workload, [(axis.job, value) for axis, value in zip(axes, values, strict=True)])
        for workload in workloads
        for values in product(*(axis.values for axis in axes))
    ]


def _column(plan: SweepPlan, workload: Workload, values: Sequence[tuple[str, str]]) -> _Column:
    axis_values = dict(values)
    name = axis_values.pop("profile", workload.profile or plan.profile)
    base = profile(name).job if name is not None else Job()
    texts = with_replaced_fields({**plan.job, **workload.job, **axis_values}, base)
    try:
        job = Job.from_fields(texts, base)
        if plan.curve is not None:
            Job.from_fields({"rate_iops": "1000", **OPEN_LOAD}, job)
    except InvalidJobError as error:
        raise PlanError(f"The plan's job cannot be run: {error.message}.") from None
    if not job.runtime:
        raise PlanError(
            "The job of the plan has no run time, so the duration of the sweep is unknown.", hint="Set a runtime."
        )
    if plan.saturation is not None and job.ioengine.keeps_a_queue and not job.keeps_a_queue:
        raise PlanError(
            "fio keeps only one trim in flight, so a search for the queue depth is not possible.",
            hint="Use another pattern for the search.",
        )
    if plan.saturation is not None and not job.ioengine.keeps_a_queue:
        raise PlanError(
            f"{job.ioengine} keeps only one I/O in flight, so a search for the queue depth is not possible.",
            hint='Use ioengine = "libaio" or "io_uring".',
        )
    lines = [workload.name, *(value if field == "profile" else f"{field}={value}" for field, value in values)]
    is_profile = name is not None and replace(job, runtime=base.runtime, ramp=base.ramp, size=base.size) == base
    return _Column(
        label=", ".join(filter(None, lines)) or name or str(job.rw),
        workload=workload.name,
        profile=name if is_profile else None,
        texts=texts,
        job=job,
    )


def _cell(cell_id: str, plan: SweepPlan, row: _Row, column: _Column, facts: TargetFacts) -> SweepCell:
    rule = next((rule for rule in plan.skips if _matches(rule, row, column)), None)
    if rule is not None:
        raise _LeftOutError(rule.reason)
    if row.array is not None:
        return _cell_on_array(cell_id, row, row.array, column, facts)
    role = row.setup.measure or plan.measure
    if role not in facts.addresses:
        raise _LeftOutError(f"No target for {role}. {facts.naming.format(role=role)}")
    if role not in facts.devices:
        raise _LeftOutError(f"{facts.addresses[role]} has no block device to measure.")
    _require_features(row.setup, facts)
    return SweepCell(
        id=cell_id,
        row=row.label,
        column=column.label,
        where=facts.addresses[role],
        settings=tuple(_assignment(setting, facts) for setting in row.planned),
        job={key: text for key, text in column.job.texts().items() if text},
        profile=column.profile,
        needs=row.setup.needs,
    )


def _cell_on_array(cell_id: str, row: _Row, array: SweepArray, column: _Column, facts: TargetFacts) -> SweepCell:
    """Return a cell on a created array. Unless the job sets a size, the smallest array limits the tested bytes of all
    arrays; single drives have a limit of their own.
    """
    assert facts.arrays is not None
    job = {key: text for key, text in column.job.texts().items() if text}
    single, arrays = array.is_single_drive, facts.arrays.making.arrays
    sizes = [made.size_bytes for made in arrays if made.is_single_drive is single]
    if "size" not in job and None not in sizes and (least := min(size or 0 for size in sizes) >> 20):
        job["size"] = f"{least}M"
    return SweepCell(
        id=cell_id,
        row=row.label,
        column=column.label,
        where=f"{facts.arrays.role}:{array.id}",
        settings=tuple(_made_assignment(setting, facts) for setting in row.planned),
        job=job,
        profile=column.profile,
        array=array.id,
    )


def _made_assignment(setting: PlannedSetting, facts: TargetFacts) -> Assignment:
    """Return a planned setting as an assignment. The value for a created array cannot be checked before it exists."""
    role, key, value = setting
    if facts.arrays is not None and role == facts.arrays.role:
        return Assignment(target=Target(backend=MADE, address=role), key=key, value=value)
    assignment = _assignment(setting, facts)
    if assignment.slow:
        raise _LeftOutError(
            f"{key} of {assignment.target} cannot be changed without re-creating the array, and a sweep over levels"
            " does not change it."
        )
    return assignment


def _matches(rule: SkipRule, row: _Row, column: _Column) -> bool:
    texts = column.job.texts() | {"profile": column.profile or ""}
    return (
        (not rule.setups or row.setup.name in rule.setups)
        and (not rule.levels or (row.array is not None and row.array.level in rule.levels))
        and (not rule.workloads or column.workload in rule.workloads)
        and all(setting in row.planned for setting in rule.settings)
        and all(text in (texts.get(key), column.texts.get(key)) for key, text in rule.job.items())
    )


def _require_features(setup: SetUp, facts: TargetFacts) -> None:
    for name in (*setup.needs, *setup.lacks):
        feature = facts.features.get(name)
        if feature is None:
            raise _LeftOutError(f"No controller is specified for {name}.")
        if name in setup.lacks and feature.active:
            again = " To reset the simulated host, add `--demo-reset`." if facts.can_restart else ""
            raise _LeftOutError(f"{name} is active on {feature.target} and cannot be switched off.{again}")


def _assignment(planned: PlannedSetting, facts: TargetFacts) -> Assignment:
    role, key, value = planned
    if role not in facts.addresses:
        raise _LeftOutError(f"No target for {role}. {facts.naming.format(role=role)}")
    holder = facts.holder(role, key)
    if holder is None:
        raise _LeftOutError(f"{facts.addresses[role]} has no setting {key}.")
    reading, setting = holder.readings[key], holder.settings.get(key)
    if setting is None:
        raise _LeftOutError(f"{key} of {holder.target} is not a setting that a plan can vary.")
    return Assignment(
        target=holder.target,
        key=key,
        value=_require_settable(setting, reading, value, holder),
        slow=setting.effect is not Effect.AT_ONCE,
    )


def _require_settable(setting: Setting, reading: Reading, value: str, holder: SettingOwner) -> str:
    """Return the value, normalised to the form that the backend uses. Raises _LeftOutError when the sweep cannot set
    the value, or could not restore the present one afterwards.
    """
    subject = f"{setting.label} of {holder.target}"
    if setting.secret or setting.effect in (Effect.REBOOT, Effect.RESET):
        raise _LeftOutError(f"{subject} only takes effect after a restart, so a sweep cannot change it.")
    try:
        wanted = check_value(setting, reading, value)
    except InvalidValueError as error:
        raise _LeftOutError(f"{subject}: {error.full_text}") from None
    if reading.now is None:
        raise _LeftOutError(f"{subject} cannot be read, so it could not be restored.")
    if wanted != reading.now and reading.choices and all(choice.value != reading.now for choice in reading.choices):
        raise _LeftOutError(f"{subject} is {reported_text(reading.now, reading.raw)}, which could not be restored.")
    if wanted != reading.now and reading.availability.why_not is not None:
        raise _LeftOutError(f"{subject} cannot be changed: {reading.availability.why_not}.")
    return wanted


def _baseline_row(plan: SweepPlan, axes: Sequence[SettingAxis], facts: TargetFacts, key: _Key) -> _Key:
    """Return the key of a row's baseline.

    The baseline is a row on the same array. Its set-up is the one that the row's set-up is compared with, by default
    the first. For every axis it has the present value, or the first value if the present one is not on the axis. A row
    that is itself this baseline is compared with the same row on the first array.

    The order of the settings on each array is random, and so is the order of the arrays. So the difference between two
    settings is judged by the orders of settings, and the difference between two arrays by the orders of arrays.
    """
    name, _, array = key
    setup = next((setup for setup in plan.setups if setup.name == name), None)
    against = (setup.against if setup is not None else None) or (plan.setups[0].name if plan.setups else "")
    baseline = (against, tuple(_present_value(axis, facts) for axis in axes), array)
    if facts.arrays is None or baseline != key:
        return baseline
    return (*baseline[:2], facts.arrays.making.arrays[0].id)


def _present_value(axis: SettingAxis, facts: TargetFacts) -> str:
    key = _with_node_names(axis.setting, facts)
    holder = facts.holder(axis.target, key)
    now = None if holder is None else holder.readings[key].now
    present = (value for value in axis.values if now is not None and now in (value, _size(value)))
    return next(present, axis.values[0])


def _size(value: str) -> str | None:
    try:
        return str(parse_size(value))
    except InvalidValueError:
        return None


def _original_values(cells: Iterable[SweepCell], facts: TargetFacts) -> tuple[Assignment, ...]:
    """Return the present value of every setting that the sweep changes, slow settings first."""
    touched = {
        (setting.target, setting.key): setting
        for cell in cells
        for setting in cell.settings
        if setting.target.backend != MADE
    }
    now = {
        (holder.target, key): reading.now
        for holders in facts.holders.values()
        for holder in holders
        for key, reading in holder.readings.items()
    }
    assignments = [replace(assignment, value=now[pair] or "") for pair, assignment in touched.items()]
    return tuple(sorted(assignments, key=lambda assignment: not assignment.slow))


def _with_all_settings(cells: Iterable[SweepCell], originals: tuple[Assignment, ...]) -> tuple[SweepCell, ...]:
    """Return the cells with all settings of the sweep.

    Settings that a set-up does not name have their original values.
    """
    complete = []
    for cell in cells:
        by_setting = {(setting.target, setting.key): setting for setting in cell.settings}
        made = tuple(setting for setting in cell.settings if setting.target.backend == MADE)
        others = tuple(by_setting.get((original.target, original.key), original) for original in originals)
        complete.append(replace(cell, settings=(*others, *made)))
    return tuple(complete)
