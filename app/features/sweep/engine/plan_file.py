"""Parse sweep plans from strict TOML. Errors name the line, the key and the legal values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.core.analysis.stats import THRESHOLD_PERCENT
from app.core.session.sweep_steps import Rank, RateSeries, Saturation
from app.core.toml_table import TomlTable, read_toml, text_or_empty, whole_number
from app.features.sweep.engine import plan_values
from app.features.sweep.engine.builtin_plans import EARLIER, plan_files
from app.features.sweep.engine.plan import (
    FeaturePlan,
    JobAxis,
    PlanError,
    SettingAxis,
    SetUp,
    SkipRule,
    SweepPlan,
    Workload,
)
from app.features.sweep.engine.published_results import with_published
from app.features.sweep.engine.raid_level_axis import ROLE, is_level_axis, read_levels, require_levels_alone
from backends.did_you_mean import suggestion_hint
from backends.errors import NotFoundError
from backends.input_file import read_input
from backends.text import clean

_TABLES = (
    "targets",
    "measure",
    "job",
    "setup",
    "workload",
    "axis",
    "skip",
    "feature",
    "saturation",
    "curve",
    "published",
    "published_table",
)
_NONE: tuple[str, ...] = ()


def parse_plan(data: bytes, shown: str) -> SweepPlan:
    """Return the plan that a file contains; `shown` is the name of the file in messages. Raises PlanError when it is
    not valid.
    """
    return _Plan(read_toml(data, shown, "a plan", PlanError)).read()


def _has_fixed_rate(
    fields: Mapping[str, str], workloads: Sequence[Workload], axes: Sequence[SettingAxis | JobAxis]
) -> bool:
    """Return whether every combination has a fixed I/O rate. If so, cells are ranked by latency."""
    everywhere = fields.keys() | {axis.job for axis in axes if isinstance(axis, JobAxis)}
    return (
        all(everywhere & plan_values.RATES or workload.job.keys() & plan_values.RATES for workload in workloads)
        if workloads
        else bool(everywhere & plan_values.RATES)
    )


class _Plan:
    """Reads the tables of one plan file. It reads the targets first, because the other tables refer to them."""

    def __init__(self, top: TomlTable) -> None:
        top.require_keys("title", "about", *_TABLES)
        self._top = top
        targets = top.table("targets")
        self._targets = {role: targets.parse(role, text_or_empty, value) for role, value in targets.given.items()}
        self._over_arrays = [row for row in top.tables("axis") if is_level_axis(row)]
        if self._over_arrays:
            if ROLE in self._targets:
                raise targets.error(ROLE, f"{ROLE} is created by the axis of levels and has no address.")
            self._targets[ROLE] = ""

    def read(self) -> SweepPlan:
        top = self._top
        measure = top.table("measure")
        measure.require_keys("target", "repeats", "pairs", "rest", "rank", "threshold", "seed")
        features = {name: self._feature(name) for name in top.table("feature").given}
        setups = tuple(self._setup(row, features) for row in top.tables("setup"))
        self._require_setups(setups)
        workloads = tuple(self._workload(row) for row in top.tables("workload"))
        if len({workload.name for workload in workloads}) < len(workloads):
            raise top.error("workload", "every workload needs a unique name.")
        whole_job = top.table("job")
        whole_job.require_keys(*plan_values.JOB_KEYS)
        profile, fields = plan_values.job(whole_job)
        axes = tuple(self._axis(row) for row in top.tables("axis") if not is_level_axis(row))
        names_by_kind = {
            "setup": [setup.name for setup in setups],
            "workload": [workload.name for workload in workloads],
        }
        plan = SweepPlan(
            title=top.get("title", text_or_empty, ""),
            about=top.get("about", text_or_empty, ""),
            source=top.file.text,
            targets=self._targets,
            measure=self._benchmark_role(measure),
            repeats=measure.get("repeats", whole_number(1, 100), 3),
            pairs=measure.get("pairs", whole_number(0, 100), 6),
            rest=measure.get("rest", plan_values.seconds, 5),
            rank=measure.get(
                "rank", plan_values.rank, Rank.P99 if _has_fixed_rate(fields, workloads, axes) else Rank.IOPS
            ),
            threshold=measure.get("threshold", plan_values.share, THRESHOLD_PERCENT),
            seed=measure.get("seed", whole_number(0, 2**31), None),
            profile=profile,
            job=fields,
            setups=setups,
            workloads=workloads,
            axes=axes,
            levels=read_levels(self._over_arrays),
            skips=tuple(self._skip(row, names_by_kind) for row in top.tables("skip")),
            features=features,
            saturation=self._saturation(top.table("saturation")),
            curve=self._curve(top.table("curve")),
        )
        require_levels_alone(plan)
        return with_published(plan, top.tables("published"), top.table("published_table"))

    def _role(self, row: TomlTable, key: str, value: Any) -> str:
        role = row.parse(key, text_or_empty, value)
        return _require_known(row, key, role, self._targets, f"{key} is a role that is not in [targets]:")

    def _benchmark_role(self, measure: TomlTable) -> str:
        if "target" in measure.given:
            return self._role(measure, "target", measure.given["target"])
        if len(self._targets) == 1 or self._over_arrays:
            return ROLE if self._over_arrays else next(iter(self._targets))
        raise measure.error("", "the target to measure is missing.", 'Write target = "..." under [measure].')

    def _settings(self, row: TomlTable) -> tuple[tuple[str, str, str], ...]:
        """Return the settings in tables named after roles, such as `array = { read_ahead = "none" }`."""
        settings = []
        for role in self._targets:
            given = row.given.get(role, {})
            if not isinstance(given, dict):
                raise row.error(role, f"{role} must be a table of settings: {{ read_ahead = ... }}.")
            settings += [(role, key, row.parse(role, plan_values.as_text, value)) for key, value in given.items()]
        return tuple(settings)

    def _setup(self, row: TomlTable, features: Iterable[str]) -> SetUp:
        row.require_keys("name", "measure", "against", "needs", "lacks", *self._targets)
        settings = self._settings(row)
        needs, lacks = row.get("needs", plan_values.names, _NONE), row.get("lacks", plan_values.names, _NONE)
        for name in (*needs, *lacks):
            if name not in features:
                raise row.error("needs", f"the plan has no [feature.{clean(name, 40)}].")
        return SetUp(
            name=row.get("name", text_or_empty, "") or ", ".join(f"{key}={value}" for _, key, value in settings),
            settings=settings,
            measure=self._role(row, "measure", row.given["measure"]) if "measure" in row.given else None,
            against=row.get("against", text_or_empty, None),
            needs=needs,
            lacks=lacks,
        )

    def _workload(self, row: TomlTable) -> Workload:
        row.require_keys("name", *plan_values.JOB_KEYS)
        profile, fields = plan_values.job(row)
        name = row.get("name", text_or_empty, "") or profile or ""
        if not name:
            raise row.error("name", "every workload needs a unique name.")
        return Workload(name=name, profile=profile, job=fields)

    def _require_setups(self, setups: tuple[SetUp, ...]) -> None:
        setup_names = [setup.name for setup in setups]
        for row, up in zip(self._top.tables("setup"), setups, strict=True):
            if not up.name or setup_names.count(up.name) > 1:
                raise row.error("name", "every configuration needs a unique name.")
            if up.against is not None:
                _require_known(row, "against", up.against, setup_names, "`against` names an unknown configuration:")

    def _axis(self, row: TomlTable) -> SettingAxis | JobAxis:
        row.require_keys("target", "setting", "job", "values")
        given = row.parse("values", plan_values.values, row.given.get("values"))
        if "job" in row.given and "setting" not in row.given and "target" not in row.given:
            name = _require_known(
                row, "job", row.parse("job", text_or_empty, row.given["job"]), plan_values.JOB_KEYS, "unknown field"
            )
            for value in given:
                plan_values.check_job(row, name, value, "values")
            return JobAxis(job=name, values=given)
        if "setting" not in row.given or "job" in row.given:
            raise row.error("", "an axis is either a setting of a target or a field of the job.")
        only_role = next(iter(self._targets)) if len(self._targets) == 1 else ""
        return SettingAxis(
            target=self._role(row, "target", row.given.get("target", only_role)),
            setting=row.parse("setting", text_or_empty, row.given["setting"]),
            values=given,
        )

    def _skip(self, row: TomlTable, names_by_kind: dict[str, list[str]]) -> SkipRule:
        row.require_keys(
            "reason", "setup", "workload", "job", *(("level",) if self._over_arrays else ()), *self._targets
        )
        reason = row.get("reason", text_or_empty, "")
        if not reason:
            raise row.error("reason", "a reason is missing: reason = ...")
        named = {key: row.get(key, plan_values.names, _NONE) for key in names_by_kind}
        for key, given in named.items():
            for name in given:
                _require_known(row, key, name, names_by_kind[key], f"unknown {key}")
        fields = row.given.get("job", {})
        if not isinstance(fields, dict) or not all(key in plan_values.JOB_KEYS for key in fields):
            raise row.error("job", 'job must be a table of fields: { rw = "randwrite" }.')
        return SkipRule(
            reason=reason,
            setups=named["setup"],
            workloads=named["workload"],
            settings=self._settings(row),
            job={key: row.parse("job", plan_values.as_text, value) for key, value in fields.items()},
            levels=row.get(
                "level", lambda value: plan_values.levels(value if isinstance(value, list) else [value]), ()
            ),
        )

    def _feature(self, name: str) -> FeaturePlan:
        row = self._top.table("feature").table(name)
        row.require_keys("target", "simulated_key")
        return FeaturePlan(
            target=self._role(row, "target", row.given.get("target", "")),
            key=row.get("simulated_key", text_or_empty, None),
        )

    def _saturation(self, row: TomlTable) -> Saturation | None:
        if not {"saturation", "curve"} & {*self._top.given}:
            return None
        row.require_keys("p99", "within", "from", "to")
        limit = row.get("p99", plan_values.latency, None)
        within = row.get("within", plan_values.share, Saturation().within)
        if limit is not None and "within" in row.given:
            raise row.error("within", "a search is either for a p99 limit or for the plateau.")
        lowest, highest = row.get("from", whole_number(1, 65536), 1), row.get("to", whole_number(1, 65536), 1024)
        if lowest > highest:
            raise row.error("from", f"from is {lowest}, to is {highest}: from must not exceed to.")
        return Saturation(p99_ns=limit, within=within, lowest=lowest, highest=highest)

    def _curve(self, row: TomlTable) -> RateSeries | None:
        if "curve" not in self._top.given:
            return None
        row.require_keys("percents")
        if "p99" in self._top.table("saturation").given:
            raise row.error("", "the rates of a curve are percentages of the plateau: remove p99 from [saturation].")
        return RateSeries(percents=row.get("percents", plan_values.percents, RateSeries().percents))


def _require_known(row: TomlTable, key: str, name: str, choices: Iterable[str], problem: str) -> str:
    """Return `name` unchanged. Raises PlanError, with the message `problem`, when it is not one of the choices."""
    if name not in choices:
        raise row.error(
            key,
            f"{problem} {clean(name, 60)!r}.",
            suggestion_hint(name, choices, f"Available: {', '.join(choices) or 'none yet'}."),
        )
    return name


# -- built-in plans and plan files ------------------------------------------------------------------------------------

LARGEST = 1 << 20
"""Maximum size of a plan in bytes."""


def load_plan(name: str) -> SweepPlan:
    """Return a built-in plan by name, or the plan in a file.

    Raises NotFoundError when there is no such plan, PlanError when it cannot be read or is not valid.
    """
    shown = clean(name, 200)
    stem = name.removesuffix(".toml")
    builtin = None if "/" in name else plan_files().get(EARLIER.get(stem, stem))
    file = Path(name) if builtin is None or Path(name).is_file() else builtin
    try:
        data = read_input(file, LARGEST)
    except FileNotFoundError:
        hint = suggestion_hint(name, plan_files(), f"Specify a file, or one of: {', '.join(plan_files())}.")
        raise NotFoundError(f"Unknown plan {shown}.", hint=hint) from None
    except OSError as error:
        raise PlanError(f"Cannot read the plan {shown}: {error.strerror}.") from error
    plan = parse_plan(data, clean(str(file), 200))
    return plan if plan.title else replace(plan, title=clean(file.stem, 80))
