"""Reading a sweep's plan: strict TOML, errors name the line, the key and what is legal there."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from app.engine.session.sweep_steps import Rank, Saturation
from app.engine.sweep.plan import (
    FeaturePlan,
    JobAxis,
    PlanError,
    SettingAxis,
    SetUp,
    SkipRule,
    SweepPlan,
    Workload,
)
from app.engine.sweep.plan_values import JOB_FIELDS, PlanValues
from backends.text import clean

_NONE: tuple[str, ...] = ()
_TABLES = (
    "title",
    "about",
    "targets",
    "measure",
    "job",
    "setup",
    "workload",
    "axis",
    "skip",
    "feature",
    "saturation",
)


def parse_plan(data: bytes, shown: str) -> SweepPlan:
    """The plan that a file's bytes make; `shown` is its name in sentences. Raises PlanError."""
    try:
        text = data.decode("utf-8")
        table = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise PlanError(f"{shown} is not a plan: it is not text (byte {error.start}).") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise PlanError(f"{shown} is not valid TOML: {clean(str(error), 160) or 'nested too deeply'}.") from None
    return _PlanTables(shown, text).plan(table)


class _PlanTables(PlanValues):
    """Reads the tables of one file."""

    def plan(self, table: Mapping[str, Any]) -> SweepPlan:
        self.only("", table, _TABLES)
        targets = {role: self.text("targets", role, value) for role, value in self.table(table, "targets").items()}
        measure = self.table(table, "measure")
        self.only("measure", measure, ("target", "repeats", "pairs", "rest", "rank", "seed"))
        features = {name: self._feature(name, value, targets) for name, value in self.table(table, "feature").items()}
        setups = tuple(self._setup(at, row, targets, features) for at, row in enumerate(self.tables(table, "setup")))
        self._known_setups(setups)
        workloads = tuple(self._workload(at, row) for at, row in enumerate(self.tables(table, "workload")))
        if len({one.name for one in workloads}) < len(workloads):
            raise self.error("workload", "", "every workload needs a name of its own.")
        profile, job = self._job(self.table(table, "job"))
        return SweepPlan(
            title=self.get("", table, "title", self.text, ""),
            about=self.get("", table, "about", self.text, ""),
            source=self.source,
            targets=targets,
            measure=self._measured(measure, targets),
            repeats=self.get("measure", measure, "repeats", self.whole(1, 100), 3),
            pairs=self.get("measure", measure, "pairs", self.whole(0, 100), 6),
            rest=self.get("measure", measure, "rest", self.seconds, 5),
            rank=self.get("measure", measure, "rank", self.rank, Rank.IOPS),
            seed=self.get("measure", measure, "seed", self.whole(0, 2**31), None),
            profile=profile,
            job=job,
            setups=setups,
            workloads=workloads,
            axes=tuple(self._axis(at, row, targets) for at, row in enumerate(self.tables(table, "axis"))),
            skips=tuple(
                self._skip(at, row, targets, setups, workloads) for at, row in enumerate(self.tables(table, "skip"))
            ),
            features=features,
            saturation=self._saturation(table),
        )

    def _role(self, table: str, key: str, value: Any, targets: Mapping[str, str]) -> str:
        role = self.text(table, key, value)
        if role not in targets:
            roles = ", ".join(targets) or "none yet"
            raise self.error(
                table, key, f"{key} names no target of [targets]: {clean(role, 40)!r}.", f"There are: {roles}."
            )
        return role

    def _measured(self, measure: Mapping[str, Any], targets: Mapping[str, str]) -> str:
        if "target" in measure:
            return self._role("measure", "target", measure["target"], targets)
        if len(targets) == 1:
            return next(iter(targets))
        raise self.error("measure", "", "which target is to be measured?", 'Write target = "..." under [measure].')

    def _job(self, table: Mapping[str, Any]) -> tuple[str | None, dict[str, str]]:
        self.only("job", table, ("profile", *JOB_FIELDS))
        texts = {key: self.value("job", key, value) for key, value in table.items() if key != "profile"}
        self.check_fields("job", texts)
        profile = self.get("job", table, "profile", self.profile, None)
        return profile, texts

    def _settings(
        self, table: str, row: Mapping[str, Any], targets: Mapping[str, str]
    ) -> tuple[tuple[str, str, str], ...]:
        """Tables named after roles: `array = { read_ahead = "none" }`."""
        found = []
        for role in targets:
            given = row.get(role, {})
            if not isinstance(given, dict):
                raise self.error(table, role, f"{role} wants settings: {{ read_ahead = ... }}.")
            found += [(role, key, self.value(table, role, value)) for key, value in given.items()]
        return tuple(found)

    def _setup(
        self, at: int, row: Mapping[str, Any], targets: Mapping[str, str], features: Mapping[str, FeaturePlan]
    ) -> SetUp:
        table = f"setup.{at}"
        self.only(table, row, ("name", "measure", "against", "needs", "lacks", *targets))
        settings = self._settings(table, row, targets)
        needs = self.get(table, row, "needs", self.names, _NONE)
        lacks = self.get(table, row, "lacks", self.names, _NONE)
        for name in (*needs, *lacks):
            if name not in features:
                raise self.error(table, "needs", f"there is no [feature.{clean(name, 40)}] in this plan.")
        measure = row.get("measure")
        return SetUp(
            name=self.get(table, row, "name", self.text, "") or ", ".join(f"{k}={v}" for _, k, v in settings),
            settings=settings,
            measure=None if measure is None else self._role(table, "measure", measure, targets),
            against=self.get(table, row, "against", self.text, None),
            needs=needs,
            lacks=lacks,
        )

    def _workload(self, at: int, row: Mapping[str, Any]) -> Workload:
        table = f"workload.{at}"
        self.only(table, row, ("name", "profile", *JOB_FIELDS))
        texts = {key: self.value(table, key, value) for key, value in row.items() if key in JOB_FIELDS}
        self.check_fields(table, texts)
        profile = self.get(table, row, "profile", self.profile, None)
        name = self.get(table, row, "name", self.text, "") or profile or ""
        if not name:
            raise self.error(table, "name", "every workload needs a name of its own.")
        return Workload(name=name, profile=profile, job=texts)

    def _known_setups(self, setups: tuple[SetUp, ...]) -> None:
        names = [one.name for one in setups]
        for at, one in enumerate(setups):
            if not one.name or names.count(one.name) > 1:
                raise self.error(f"setup.{at}", "name", "every set-up needs a name of its own.")
            if one.against is not None and one.against not in names:
                sentence = f"against names no set-up: {clean(one.against, 60)!r}."
                raise self.error(f"setup.{at}", "against", sentence, f"There are: {', '.join(names)}.")

    def _axis(self, at: int, row: Mapping[str, Any], targets: Mapping[str, str]) -> SettingAxis | JobAxis:
        table = f"axis.{at}"
        self.only(table, row, ("target", "setting", "job", "values"))
        values = self.values(table, "values", row.get("values"))
        if "job" in row and "setting" not in row and "target" not in row:
            name = self.text(table, "job", row["job"])
            if name not in ("profile", *JOB_FIELDS):
                sentence = f"there is no field {clean(name, 40)!r}."
                raise self.error(table, "job", sentence, f"There are: profile, {', '.join(JOB_FIELDS)}.")
            for value in values:
                if name == "profile":
                    self.profile(table, "values", value)
                else:
                    self.check_fields(table, {name: value}, "values")
            return JobAxis(job=name, values=values)
        if "setting" not in row or "job" in row:
            raise self.error(table, "", "an axis is of a setting of a target, or of a field of the job.")
        role = next(iter(targets), "") if "target" not in row and len(targets) == 1 else row.get("target", "")
        return SettingAxis(
            target=self._role(table, "target", role, targets),
            setting=self.text(table, "setting", row["setting"]),
            values=values,
        )

    def _skip(
        self,
        at: int,
        row: Mapping[str, Any],
        targets: Mapping[str, str],
        setups: tuple[SetUp, ...],
        workloads: tuple[Workload, ...],
    ) -> SkipRule:
        table = f"skip.{at}"
        self.only(table, row, ("reason", "setup", "workload", "job", *targets))
        reason = self.get(table, row, "reason", self.text, "")
        if not reason:
            raise self.error(table, "reason", "say why it is left out: reason = ...")
        names = {
            key: self._named(table, key, row, known)
            for key, known in (
                ("setup", [each.name for each in setups]),
                ("workload", [each.name for each in workloads]),
            )
        }
        job = row.get("job", {})
        if not isinstance(job, dict) or not all(key in ("profile", *JOB_FIELDS) for key in job):
            raise self.error(table, "job", 'job wants fields: { rw = "randwrite" }.')
        return SkipRule(
            reason=reason,
            setups=names["setup"],
            workloads=names["workload"],
            settings=self._settings(table, row, targets),
            job={key: self.value(table, "job", value) for key, value in job.items()},
        )

    def _named(self, table: str, key: str, row: Mapping[str, Any], known: list[str]) -> tuple[str, ...]:
        """Names of set-ups or workloads, all of which there are."""
        names = self.get(table, row, key, self.names, _NONE)
        for name in names:
            if name not in known:
                raise self.error(
                    table, key, f"there is no {key} {clean(name, 60)!r}.", f"There are: {', '.join(known)}."
                )
        return names

    def _feature(self, name: str, value: Any, targets: Mapping[str, str]) -> FeaturePlan:
        table = f"feature.{name}"
        if not isinstance(value, dict):
            raise self.error("feature", name, f"feature wants tables: [feature.{clean(name, 40)}].")
        self.only(table, value, ("target", "simulated_key"))
        return FeaturePlan(
            target=self._role(table, "target", value.get("target", ""), targets),
            key=self.get(table, value, "simulated_key", self.text, None),
        )

    def _saturation(self, table: Mapping[str, Any]) -> Saturation | None:
        given = self.table(table, "saturation")
        if not given:
            return None
        self.only("saturation", given, ("p99", "from", "to"))
        limit = self.get("saturation", given, "p99", self.latency, None)
        if limit is None:
            raise self.error("saturation", "p99", 'name the limit: p99 = "2ms".')
        lowest = self.get("saturation", given, "from", self.whole(1, 65536), 1)
        highest = self.get("saturation", given, "to", self.whole(1, 65536), 1024)
        if lowest > highest:
            raise self.error("saturation", "from", f"from is {lowest}, to is {highest}.")
        return Saturation(p99_ns=limit, lowest=lowest, highest=highest)
