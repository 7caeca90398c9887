"""Plan axes that vary the arrays that the sweep creates: levels, strips, spans, layouts and drives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.core.toml_table import TomlTable, flag, text, whole_number
from app.features.sweep.engine.plan import LevelAxis, PlanError, SweepPlan
from app.features.sweep.engine.plan_values import EVERY, layouts, levels, names, policies, spans, strips
from backends.array_planning import SPANNED
from backends.model import Level

ROLE = "array"
"""Role by which a plan with a level axis refers to the created array that currently exists."""

_KEYS = ("array", "values", "drives", "members", "pool", "strip", "spans", "layout", "policies", "assume_clean")

_BESIDE = ("strip", "spans", "layout")
"""Kinds of axis that a plan may combine with the axis of RAID levels."""


def is_level_axis(row: TomlTable) -> bool:
    """Return whether an axis varies a property of created arrays: `level`, `strip`, `spans` or `layout`."""
    return "array" in row.given


def read_levels(rows: Sequence[TomlTable]) -> LevelAxis | None:
    """Return all axes that vary created arrays as one object; None if there are none. Raises PlanError when one is not
    valid.
    """
    by_kind: dict[str, TomlTable] = {}
    for row in rows:
        kind = row.parse("array", text, row.given["array"])
        if kind not in ("level", *_BESIDE):
            raise row.error("array", "the value must be `level`, `strip`, `spans` or `layout`.")
        if kind in by_kind:
            raise row.error("array", f"there are two axes of {kind}.")
        by_kind[kind] = row
    if not by_kind:
        return None
    if "level" not in by_kind:
        kind, extra_row = next(iter(by_kind.items()))
        raise extra_row.error("array", f"an axis of {kind} needs an axis of levels.")
    row = by_kind["level"]
    row.require_keys(*_KEYS)
    given = {kind: (row, kind, row.given[kind]) for kind in _BESIDE if kind in row.given}
    for kind, extra_row in ((kind, by_kind[kind]) for kind in _BESIDE if kind in by_kind):
        extra_row.require_keys("array", "values")
        if kind in given:
            raise row.error(kind, f"{kind} is already set by its own axis.")
        given[kind] = (extra_row, "values", extra_row.given.get("values"))
    axis_levels = row.parse("values", levels, row.given.get("values"))
    members_of = _members_of(row, axis_levels)
    axis = LevelAxis(
        role=ROLE,
        levels=axis_levels,
        strips=_strips(*given["strip"]) if "strip" in given else (),
        spans=_spans(*given["spans"], axis_levels) if "spans" in given else {},
        layouts=_layouts(*given["layout"], axis_levels) if "layout" in given else (),
        policies=row.get("policies", policies, {}),
        drives=row.get("drives", names, ()),
        members=max(members_of.values(), default=0) if members_of else row.get("members", _COUNT, 0),
        members_of=members_of,
        pool=row.get("pool", text, ""),
        assume_clean=row.get("assume_clean", flag, False),
    )
    if bool(axis.drives) == bool(axis.pool):
        raise row.error("drives", "use either drives = [...], or members = N with pool = ...")
    if bool(axis.pool) != bool(axis.members) and not axis.members_of:
        raise row.error("members", "set the number of drives from pool = ... with members = N.")
    return axis


def _strips(row: TomlTable, key: str, value: Any) -> tuple[int, ...]:
    return row.parse(key, strips, value)


def _layouts(row: TomlTable, key: str, value: Any, axis_levels: Sequence[Level]) -> tuple[str, ...]:
    """Return the RAID 10 layouts in `value`. Raises PlanError when RAID 10 is not among the axis levels."""
    if Level.RAID10 not in axis_levels:
        raise row.error(key, f"a layout applies only to {Level.RAID10.value}, and the axis has none.")
    return row.parse(key, layouts, value, "layout")


def _spans(row: TomlTable, key: str, value: Any, axis_levels: Sequence[Level]) -> dict[Level, tuple[int, ...]]:
    """Return the numbers of spans to compare, by RAID level.

    `[2, 3]` or `"every"` applies to all spanned levels. `{ raid50 = [2, 3], raid60 = "every" }` sets them by level.
    """
    having = {level.value: level for level in axis_levels if level in SPANNED}
    by_level = value if isinstance(value, dict) else dict.fromkeys(having, value)
    if not having or by_level.keys() - having.keys():
        raise row.error(key, f"spans need {', '.join(SPANNED)}, which must be levels of the axis.")
    return {having[name]: row.parse(key, spans, item) for name, item in by_level.items()}


_COUNT = whole_number(1, 256)
"""Parser for a number of drives."""


def _members_of(row: TomlTable, axis_levels: Sequence[Level]) -> dict[Level, int]:
    """Return the numbers of drives in a table such as `members = { raid0 = 6, raid1 = 2 }`, by level.

    Return an empty dict if `members` is not a table. Raises PlanError when the table does not name every level of the
    axis.
    """
    given = row.given.get("members")
    if not isinstance(given, dict):
        return {}
    if sorted(given) != sorted(level.value for level in axis_levels):
        raise row.error("members", f"members must contain every level of the axis: {', '.join(axis_levels)}.")
    return {level: row.parse("members", _COUNT, given[level.value]) for level in axis_levels}


def axis_of(
    level_text: str,
    *,
    drives: str | None,
    members: int,
    pool: str,
    strip: str | None,
    assume_clean: bool,
    spans_text: str | None = None,
    layout: str | None = None,
    birth: Mapping[str, str] | None = None,
) -> LevelAxis:
    """Return the axis that command-line options describe.

    Several values in one option are separated by commas. `birth` contains the initial policies by setting key. Raises
    PlanError when an option is not valid.
    """
    listed = {
        name: [word.strip() for word in text.split(",") if word.strip()]
        for name, text in (
            ("--level", level_text),
            ("--drives", drives or ""),
            ("--strip", strip or ""),
            ("--layout", layout or ""),
        )
    }
    try:
        named = levels(listed["--level"])
        axis = LevelAxis(
            role=ROLE,
            levels=named,
            spans=_spans_of(named, spans_text),
            layouts=layouts(listed["--layout"]) if listed["--layout"] else (),
            policies=birth or {},
            strips=strips(listed["--strip"]) if listed["--strip"] else (),
            drives=tuple(listed["--drives"]),
            members=members,
            pool=pool,
            assume_clean=assume_clean,
        )
    except ValueError as error:
        raise PlanError(f"--level {error}.") from None
    if axis.layouts and Level.RAID10 not in named:
        raise PlanError(f"--layout is only valid for {Level.RAID10.value}.")
    if bool(axis.drives) == bool(pool) or bool(pool) != bool(members):
        raise PlanError("--level needs drives: --drives DRIVE,..., or --members N and --pool SELECTION.")
    return axis


def _spans_of(named: Sequence[Level], given: str | None) -> dict[Level, tuple[int, ...]]:
    """Return the numbers of spans in the option value `given`, by each spanned level in `named`.

    Raises PlanError when no level is spanned, or a number is not valid.
    """
    having = [level for level in named if level in SPANNED]
    if given is None:
        return {}
    if not having:
        raise PlanError(f"--spans is only valid for {', '.join(SPANNED)}.")
    try:
        numbers = spans(given if given == EVERY else [int(word) for word in given.split(",")])
    except ValueError:
        raise PlanError(f"--spans must be different integers, separated by commas, or {EVERY}.") from None
    return dict.fromkeys(having, numbers)


def require_levels_alone(plan: SweepPlan) -> None:
    """Raise PlanError if the plan has a part that a sweep over RAID levels does not support."""
    if plan.levels is None:
        return
    if plan.saturation is not None or plan.curve is not None:
        raise PlanError(
            "A sweep over levels measures a matrix and cannot include a search.",
            hint="Remove [saturation] and [curve]. They can be used on an array from `raidbench array create`.",
        )
    if plan.features or any(setup.needs or setup.lacks for setup in plan.setups):
        raise PlanError("A sweep over levels cannot restart a host.", hint="Remove the features.")
    if plan.measure != plan.levels.role or any(setup.measure not in (None, plan.measure) for setup in plan.setups):
        raise PlanError(
            "A sweep over levels only measures the arrays that it creates.",
            hint=f'Set target = "{plan.levels.role}" under [measure], and remove `measure` from set-ups.',
        )


def with_levels(plan: SweepPlan, axis: LevelAxis) -> SweepPlan:
    """Return the plan with created arrays as its benchmark target.

    Raises PlanError when the plan already has a level axis.
    """
    if plan.levels is not None:
        raise PlanError("The plan already has an axis of levels.", hint="Change it in the plan file.")
    targets = {**plan.targets, plan.measure: ""}
    changed = replace(plan, levels=replace(axis, role=plan.measure), targets=targets, published=(), published_rows=None)
    require_levels_alone(changed)
    return changed


def with_drives(plan: SweepPlan, *, drives: str | None, members: int, pool: str) -> SweepPlan:
    """Return the plan with other drives for its arrays. Raises PlanError when the plan creates no arrays."""
    if plan.levels is None:
        raise PlanError("The plan creates no arrays.", hint="Specify the levels of the arrays with --level.")
    named = tuple(word.strip() for word in (drives or "").split(",") if word.strip())
    if bool(named) == bool(pool or members):
        raise PlanError("Use one of: --drives DRIVE,...; --members N; --members N with --pool SELECTION.")
    if pool and not members:
        raise PlanError("Set the number of drives from --pool with --members N.")
    if members and not (pool or plan.levels.pool):
        raise PlanError("--members N needs --pool SELECTION.")
    axis = replace(
        plan.levels,
        drives=named,
        members=members,
        members_of={},
        pool="" if named else pool or plan.levels.pool,
    )
    return replace(plan, levels=axis)
