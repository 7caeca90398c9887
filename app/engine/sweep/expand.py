"""From a plan and what is known of the machine to everything that will be done. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from app.engine.fio.job import InvalidJobError, Job
from app.engine.fio.profiles import profile
from app.engine.fio.sizes import parse_size
from app.engine.judge.pairs import RULE
from app.engine.session.sweep_steps import Assignment, Design, Skipped, SweepCell
from app.engine.sweep.estimate import seconds_of
from app.engine.sweep.load_curve import OPEN
from app.engine.sweep.order import arrange
from app.engine.sweep.plan import JobAxis, PlanError, SettingAxis, SetUp, SkipRule, SweepPlan, Workload
from app.engine.sweep.targets import Holder, Known
from backends.errors import InvalidValueError
from backends.settings import Effect, Reading, Setting, check_value
from backends.values import dataclass

MOST_CELLS = 2000
"""A plan of more has lost its way."""

Wish = tuple[str, str, str]
"""(role, key, value) as the plan has it."""


class _LeftOutError(Exception):
    """Why a combination is not measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One combination of settings."""

    label: str
    setup: SetUp
    values: tuple[str, ...]
    """Of the axes over settings."""
    wishes: tuple[Wish, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """One workload."""

    label: str
    workload: str
    profile: str | None
    texts: Mapping[str, str]
    job: Job


def expand(plan: SweepPlan, known: Known, seed: int) -> Design:
    """All cells, in which order they are measured, and what is left out and why.

    Raises PlanError when nothing is left to be measured.
    """
    axes = [axis for axis in plan.axes if isinstance(axis, SettingAxis)]
    rows, columns = _rows(plan, axes, known), _columns(plan)
    if len(rows) * len(columns) > MOST_CELLS:
        raise PlanError(f"The plan has {len(rows) * len(columns)} combinations; {MOST_CELLS} is the limit.")
    cells: dict[tuple[_Key, str], SweepCell] = {}
    skipped: list[Skipped] = []
    for row in rows:
        for column in columns:
            try:
                cell = _cell(f"k{len(cells) + 1}", plan, row, column, known)
            except _LeftOutError as reason:
                skipped.append(Skipped(row=row.label, column=column.label, reason=str(reason)))
            else:
                cells[_key(row), column.label] = cell
    if not cells:
        raise PlanError(
            "Nothing of the plan can be measured here.", hint=" ".join(dict.fromkeys(one.reason for one in skipped))
        )
    compared = [
        replace(cell, against=_against(cell, _baseline(plan, axes, known, key[0]), key[1], cells))
        for key, cell in cells.items()
    ]
    originals = _originals(compared, known)
    whole = _completed(compared, originals)
    arranged, steps = arrange(whole, originals, repeats=plan.repeats, seed=seed)
    design = Design(
        title=plan.title or "sweep",
        source=plan.source,
        seed=seed,
        repeats=plan.repeats,
        pairs=plan.pairs,
        rest=plan.rest,
        rank=plan.rank,
        targets=dict(known.addresses),
        cells=arranged,
        steps=steps,
        skipped=tuple(skipped),
        originals=originals,
        features=tuple(feature for name, feature in known.features.items() if any(name in c.needs for c in arranged)),
        saturation=plan.saturation,
        threshold_percent=plan.threshold,
        curve=plan.curve,
        rule=RULE,
    )
    return replace(design, seconds=seconds_of(design))


_Key = tuple[str, tuple[str, ...]]
"""A row by its set-up and its values."""


def _key(row: _Row) -> _Key:
    return row.setup.name, row.values


def _rows(plan: SweepPlan, axes: Sequence[SettingAxis], known: Known) -> list[_Row]:
    rows = []
    for setup in plan.setups or (SetUp(name=""),):
        for values in product(*(axis.values for axis in axes)):
            wishes = (
                *setup.settings,
                *((axis.target, axis.setting, value) for axis, value in zip(axes, values, strict=True)),
            )
            told = [f"{axis.setting}={value}" for axis, value in zip(axes, values, strict=True)]
            label = ", ".join(filter(None, (setup.name, *told))) or "as it is"
            named = tuple((role, _named(key, known), value) for role, key, value in wishes)
            rows.append(_Row(label=label, setup=setup, values=values, wishes=named))
    return rows


def _named(key: str, known: Known) -> str:
    """`write_mostly.{slow}` with the kernel's name of that role's device."""
    for role, device in known.devices.items():
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
    given = dict(values)
    name = given.pop("profile", workload.profile or plan.profile)
    texts = {**plan.job, **workload.job, **given}
    base = profile(name).job if name is not None else Job()
    if "bs" in texts and base.bssplit is not None:
        texts.setdefault("bssplit", "")
    try:
        job = Job.from_fields(texts, base)
        if plan.curve is not None:
            Job.from_fields({"rate_iops": "1000", **OPEN}, job)
    except InvalidJobError as error:
        raise PlanError(f"The plan's job cannot be run: {error.message}.") from None
    if plan.saturation is not None and not job.ioengine.keeps_a_queue:
        raise PlanError(
            f"{job.ioengine} keeps one I/O in flight, so no queue depth can be searched for.",
            hint='Take ioengine = "libaio" or "io_uring".',
        )
    told = [workload.name, *(value if field == "profile" else f"{field}={value}" for field, value in values)]
    same = name is not None and replace(job, runtime=base.runtime, ramp=base.ramp, size=base.size) == base
    return _Column(
        label=", ".join(filter(None, told)) or name or str(job.rw),
        workload=workload.name,
        profile=name if same else None,
        texts=texts,
        job=job,
    )


def _cell(cell_id: str, plan: SweepPlan, row: _Row, column: _Column, known: Known) -> SweepCell:
    rule = next((rule for rule in plan.skips if _matches(rule, row, column)), None)
    if rule is not None:
        raise _LeftOutError(rule.reason)
    role = row.setup.measure or plan.measure
    if role not in known.addresses:
        raise _LeftOutError(f"Nothing was named for {role}: start it with --target {role}=ADDRESS.")
    if role not in known.devices:
        raise _LeftOutError(f"{known.addresses[role]} has no block device to measure.")
    _features(row.setup, known)
    return SweepCell(
        id=cell_id,
        row=row.label,
        column=column.label,
        where=known.addresses[role],
        settings=tuple(_assignment(wish, known) for wish in row.wishes),
        job={key: text for key, text in column.job.texts().items() if text},
        profile=column.profile,
        needs=row.setup.needs,
    )


def _matches(rule: SkipRule, row: _Row, column: _Column) -> bool:
    texts = column.job.texts() | {"profile": column.profile or ""}
    return (
        (not rule.setups or row.setup.name in rule.setups)
        and (not rule.workloads or column.workload in rule.workloads)
        and all(wish in row.wishes for wish in rule.settings)
        and all(text in (texts.get(key), column.texts.get(key)) for key, text in rule.job.items())
    )


def _features(setup: SetUp, known: Known) -> None:
    for name in (*setup.needs, *setup.lacks):
        feature = known.features.get(name)
        if feature is None:
            raise _LeftOutError(f"The controller with {name} was not named.")
        if name in setup.lacks and feature.active:
            again = " `--demo-reset` begins with the rack as new." if known.can_restart else ""
            raise _LeftOutError(f"{name} is active on {feature.target}, and cannot be switched off.{again}")


def _assignment(wish: Wish, known: Known) -> Assignment:
    role, key, value = wish
    if role not in known.addresses:
        raise _LeftOutError(f"Nothing was named for {role}: start it with --target {role}=ADDRESS.")
    holder = known.holder(role, key)
    if holder is None:
        raise _LeftOutError(f"{known.addresses[role]} has no setting {key}.")
    reading, setting = holder.readings[key], holder.settings.get(key)
    if setting is None:
        raise _LeftOutError(f"{holder.target} does not declare its setting {key}.")
    return Assignment(
        target=holder.target, key=key, value=_checked(setting, reading, value, holder), slow=_is_slow(setting)
    )


def _is_slow(setting: Setting) -> bool:
    return setting.effect is not Effect.AT_ONCE


def _checked(setting: Setting, reading: Reading, value: str, holder: Holder) -> str:
    """The value in the backend's words; sizes may be written `64k`."""
    what = f"{setting.label} of {holder.target}"
    if setting.secret or setting.effect in (Effect.REBOOT, Effect.RESET):
        raise _LeftOutError(f"{what} takes effect after a restart only, so no sweep can change it.")
    try:
        legal = check_value(setting, reading, value)
    except InvalidValueError as error:
        try:
            legal = check_value(setting, reading, str(parse_size(value)))
        except InvalidValueError:
            raise _LeftOutError(f"{what}: {error.message} {error.hint}") from None
    if reading.now is None:
        raise _LeftOutError(f"{what} cannot be read, so it could not be put back.")
    if legal != reading.now and reading.availability.why_not is not None:
        raise _LeftOutError(f"{what} cannot be changed: {reading.availability.why_not}.")
    return legal


def _baseline(plan: SweepPlan, axes: Sequence[SettingAxis], known: Known, key: _Key) -> _Key:
    """The row that a row is compared with: the set-up named, and of every axis what is set now, else its first."""
    setups = {setup.name: setup for setup in plan.setups}
    setup = setups.get(key[0])
    name = (setup.against if setup is not None else None) or (plan.setups[0].name if plan.setups else "")
    return name, tuple(_present(axis, known) for axis in axes)


def _present(axis: SettingAxis, known: Known) -> str:
    holder = known.holder(axis.target, _named(axis.setting, known))
    if holder is None:
        return axis.values[0]
    key = _named(axis.setting, known)
    now = holder.readings[key].now
    for value in axis.values:
        if value == now or _size(value) == now:
            return value
    return axis.values[0]


def _size(value: str) -> str | None:
    try:
        return str(parse_size(value))
    except InvalidValueError:
        return None


def _against(cell: SweepCell, row: _Key, column: str, cells: Mapping[tuple[_Key, str], SweepCell]) -> str | None:
    baseline = cells.get((row, column))
    return None if baseline is None or baseline.id == cell.id else baseline.id


def _originals(cells: Iterable[SweepCell], known: Known) -> tuple[Assignment, ...]:
    """What every touched setting is now, slow ones first."""
    touched = {(one.target, one.key): one for cell in cells for one in cell.settings}
    now = {
        (holder.target, key): reading.now
        for holders in known.holders.values()
        for holder in holders
        for key, reading in holder.readings.items()
    }
    found = [replace(one, value=now[place] or "") for place, one in touched.items()]
    return tuple(sorted(found, key=lambda one: not one.slow))


def _completed(cells: Iterable[SweepCell], originals: tuple[Assignment, ...]) -> tuple[SweepCell, ...]:
    """Cells that name every touched setting: what a set-up does not mention is as it was before."""
    whole = []
    for cell in cells:
        own = {(one.target, one.key): one for one in cell.settings}
        whole.append(replace(cell, settings=tuple(own.get((one.target, one.key), one) for one in originals)))
    return tuple(whole)
