"""Reading a sweep's plan: strict TOML, errors name the line, the key and what is legal there."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from app.engine.fio.fields import FIELDS, parse_seconds
from app.engine.fio.profiles import PROFILES
from app.engine.session.sweep_steps import Rank, Saturation
from app.engine.sweep.plan import (
    MOST_VALUES,
    FeaturePlan,
    JobAxis,
    PlanError,
    SettingAxis,
    SetUp,
    SkipRule,
    SweepPlan,
    Workload,
)
from app.engine.sweep.toml_lines import Lines
from backends.errors import InvalidValueError
from backends.text import clean

T = TypeVar("T")

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
_FIELDS = {one.key: one for one in FIELDS}


def parse_plan(data: bytes, shown: str) -> SweepPlan:
    """The plan that a file's bytes make; `shown` is its name in sentences. Raises PlanError."""
    try:
        text = data.decode("utf-8")
        table = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise PlanError(f"{shown} is not a plan: it is not text (byte {error.start}).") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise PlanError(f"{shown} is not valid TOML: {clean(str(error), 160) or 'nested too deeply'}.") from None
    return _Reader(shown, text).plan(table)


class _Reader:
    """Reads one file; knows its name and lines."""

    def __init__(self, shown: str, text: str) -> None:
        self._shown = shown
        self._text = text
        self._lines = Lines(text)

    def plan(self, table: Mapping[str, Any]) -> SweepPlan:
        legal = (
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
        self._only("", table, legal)
        targets = {role: self._text_of("targets", role, value) for role, value in self._table(table, "targets").items()}
        measure = self._table(table, "measure")
        self._only("measure", measure, ("target", "repeats", "pairs", "rest", "rank", "seed"))
        features = {name: self._feature(name, value, targets) for name, value in self._table(table, "feature").items()}
        setups = tuple(self._setup(at, row, targets, features) for at, row in enumerate(self._rows(table, "setup")))
        self._known_setups(setups)
        workloads = tuple(self._workload(at, row) for at, row in enumerate(self._rows(table, "workload")))
        if len({one.name for one in workloads}) < len(workloads):
            raise self._fail("workload", "", "every workload needs a name of its own.")
        profile, job = self._job(self._table(table, "job"))
        return SweepPlan(
            title=self._get("", table, "title", self._text_of, ""),
            about=self._get("", table, "about", self._text_of, ""),
            source=self._text,
            targets=targets,
            measure=self._measured(measure, targets),
            repeats=self._get("measure", measure, "repeats", self._whole(1, 100), 3),
            pairs=self._get("measure", measure, "pairs", self._whole(0, 100), 6),
            rest=self._get("measure", measure, "rest", self._seconds, 5),
            rank=self._get("measure", measure, "rank", self._rank, Rank.IOPS),
            seed=self._get("measure", measure, "seed", self._whole(0, 2**31), None),
            profile=profile,
            job=job,
            setups=setups,
            workloads=workloads,
            axes=tuple(self._axis(at, row, targets) for at, row in enumerate(self._rows(table, "axis"))),
            skips=tuple(
                self._skip(at, row, targets, setups, workloads) for at, row in enumerate(self._rows(table, "skip"))
            ),
            features=features,
            saturation=self._saturation(table),
        )

    def _fail(self, table: str, key: str, sentence: str, hint: str = "") -> PlanError:
        return PlanError(f"{self._shown}, line {self._lines.of(table, key)}: {sentence}", hint=hint)

    def _only(self, table: str, given: Mapping[str, Any], legal: tuple[str, ...]) -> None:
        for key in given:
            if key not in legal:
                where = f" in [{table.partition('.')[0]}]" if table else ""
                sentence = f"there is no key {clean(key, 40)!r}{where}."
                raise self._fail(table, key, sentence, f"The keys are: {', '.join(legal)}.")

    def _get(
        self, table: str, given: Mapping[str, Any], key: str, parse: Callable[[str, str, Any], T], default: T
    ) -> T:
        return parse(table, key, given[key]) if key in given else default

    def _table(self, given: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        found = given.get(key, {})
        if not isinstance(found, dict):
            raise self._fail("", key, f"{key} wants a table: [{key}].")
        return found

    def _rows(self, given: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
        found = given.get(key, [])
        if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            raise self._fail("", key, f"{key} wants tables: [[{key}]].")
        return found

    def _text_of(self, table: str, key: str, value: Any) -> str:
        if not isinstance(value, str):
            raise self._fail(table, key, f"{clean(key, 40)} wants a text in quotes.")
        return value.strip()

    def _value(self, table: str, key: str, value: Any) -> str:
        """A value of a setting or field, as text."""
        match value:
            case bool():
                return "yes" if value else "no"
            case int() | str():
                return str(value).strip()
            case _:
                raise self._fail(table, key, f"{clean(key, 40)} wants a text in quotes or a whole number.")

    def _values(self, table: str, key: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not 1 <= len(value) <= MOST_VALUES:
            raise self._fail(table, key, f"{key} wants a list of 1 to {MOST_VALUES} values.")
        texts = tuple(self._value(table, key, one) for one in value)
        if len(set(texts)) != len(texts):
            raise self._fail(table, key, f"{key} names a value twice.")
        return texts

    def _names(self, table: str, key: str, value: Any) -> tuple[str, ...]:
        many = value if isinstance(value, list) else [value]
        return tuple(self._text_of(table, key, one) for one in many)

    def _whole(self, minimum: int, maximum: int) -> Callable[[str, str, Any], int]:
        def parse(table: str, key: str, value: Any) -> int:
            if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
                raise self._fail(table, key, f"{key} wants a whole number from {minimum} to {maximum}.")
            return value

        return parse

    def _seconds(self, table: str, key: str, value: Any) -> int:
        try:
            return parse_seconds(self._value(table, key, value))
        except InvalidValueError as error:
            raise self._fail(table, key, f"{key}: {error.message}.", error.hint) from None

    def _rank(self, table: str, key: str, value: Any) -> Rank:
        try:
            return Rank(self._text_of(table, key, value))
        except ValueError:
            raise self._fail(table, key, f"{key} is one of {', '.join(Rank)}.") from None

    def _role(self, table: str, key: str, value: Any, targets: Mapping[str, str]) -> str:
        role = self._text_of(table, key, value)
        if role not in targets:
            roles = ", ".join(targets) or "none yet"
            raise self._fail(
                table, key, f"{key} names no target of [targets]: {clean(role, 40)!r}.", f"There are: {roles}."
            )
        return role

    def _measured(self, measure: Mapping[str, Any], targets: Mapping[str, str]) -> str:
        if "target" in measure:
            return self._role("measure", "target", measure["target"], targets)
        if len(targets) == 1:
            return next(iter(targets))
        raise self._fail("measure", "", "which target is to be measured?", 'Write target = "..." under [measure].')

    def _job(self, table: Mapping[str, Any]) -> tuple[str | None, dict[str, str]]:
        self._only("job", table, ("profile", *_FIELDS))
        texts = {key: self._value("job", key, value) for key, value in table.items() if key != "profile"}
        self._check_fields("job", texts)
        profile = self._get("job", table, "profile", self._profile, None)
        return profile, texts

    def _profile(self, table: str, key: str, value: Any) -> str | None:
        name = self._text_of(table, key, value)
        if name not in PROFILES:
            raise self._fail(
                table, key, f"there is no workload {clean(name, 40)!r}.", f"There are: {', '.join(PROFILES)}."
            )
        return name

    def _check_fields(self, table: str, texts: Mapping[str, str], key: str = "") -> None:
        for name, text in texts.items():
            try:
                if text or not _FIELDS[name].optional:
                    _FIELDS[name].parse(text)
            except InvalidValueError as error:
                raise self._fail(table, key or name, f"{name}: {error.message}.", error.hint) from None

    def _settings(
        self, table: str, row: Mapping[str, Any], targets: Mapping[str, str]
    ) -> tuple[tuple[str, str, str], ...]:
        """Tables named after roles: `array = { read_ahead = "none" }`."""
        found = []
        for role in targets:
            given = row.get(role, {})
            if not isinstance(given, dict):
                raise self._fail(table, role, f"{role} wants settings: {{ read_ahead = ... }}.")
            found += [(role, key, self._value(table, role, value)) for key, value in given.items()]
        return tuple(found)

    def _setup(
        self, at: int, row: Mapping[str, Any], targets: Mapping[str, str], features: Mapping[str, FeaturePlan]
    ) -> SetUp:
        table = f"setup.{at}"
        self._only(table, row, ("name", "measure", "against", "needs", "lacks", *targets))
        settings = self._settings(table, row, targets)
        needs = self._get(table, row, "needs", self._names, _NONE)
        lacks = self._get(table, row, "lacks", self._names, _NONE)
        for name in (*needs, *lacks):
            if name not in features:
                raise self._fail(table, "needs", f"there is no [feature.{clean(name, 40)}] in this plan.")
        measure = row.get("measure")
        return SetUp(
            name=self._get(table, row, "name", self._text_of, "") or ", ".join(f"{k}={v}" for _, k, v in settings),
            settings=settings,
            measure=None if measure is None else self._role(table, "measure", measure, targets),
            against=self._get(table, row, "against", self._text_of, None),
            needs=needs,
            lacks=lacks,
        )

    def _workload(self, at: int, row: Mapping[str, Any]) -> Workload:
        table = f"workload.{at}"
        self._only(table, row, ("name", "profile", *_FIELDS))
        texts = {key: self._value(table, key, value) for key, value in row.items() if key in _FIELDS}
        self._check_fields(table, texts)
        profile = self._get(table, row, "profile", self._profile, None)
        name = self._get(table, row, "name", self._text_of, "") or profile or ""
        if not name:
            raise self._fail(table, "name", "every workload needs a name of its own.")
        return Workload(name=name, profile=profile, job=texts)

    def _known_setups(self, setups: tuple[SetUp, ...]) -> None:
        names = [one.name for one in setups]
        for at, one in enumerate(setups):
            if not one.name or names.count(one.name) > 1:
                raise self._fail(f"setup.{at}", "name", "every set-up needs a name of its own.")
            if one.against is not None and one.against not in names:
                sentence = f"against names no set-up: {clean(one.against, 60)!r}."
                raise self._fail(f"setup.{at}", "against", sentence, f"There are: {', '.join(names)}.")

    def _axis(self, at: int, row: Mapping[str, Any], targets: Mapping[str, str]) -> SettingAxis | JobAxis:
        table = f"axis.{at}"
        self._only(table, row, ("target", "setting", "job", "values"))
        values = self._values(table, "values", row.get("values"))
        if "job" in row and "setting" not in row and "target" not in row:
            name = self._text_of(table, "job", row["job"])
            if name not in ("profile", *_FIELDS):
                sentence = f"there is no field {clean(name, 40)!r}."
                raise self._fail(table, "job", sentence, f"There are: profile, {', '.join(_FIELDS)}.")
            for value in values:
                if name == "profile":
                    self._profile(table, "values", value)
                else:
                    self._check_fields(table, {name: value}, "values")
            return JobAxis(job=name, values=values)
        if "setting" not in row or "job" in row:
            raise self._fail(table, "", "an axis is of a setting of a target, or of a field of the job.")
        role = next(iter(targets), "") if "target" not in row and len(targets) == 1 else row.get("target", "")
        return SettingAxis(
            target=self._role(table, "target", role, targets),
            setting=self._text_of(table, "setting", row["setting"]),
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
        self._only(table, row, ("reason", "setup", "workload", "job", *targets))
        reason = self._get(table, row, "reason", self._text_of, "")
        if not reason:
            raise self._fail(table, "reason", "say why it is left out: reason = ...")
        names = {
            key: self._named(table, key, row, known)
            for key, known in (
                ("setup", [each.name for each in setups]),
                ("workload", [each.name for each in workloads]),
            )
        }
        job = row.get("job", {})
        if not isinstance(job, dict) or not all(key in ("profile", *_FIELDS) for key in job):
            raise self._fail(table, "job", 'job wants fields: { rw = "randwrite" }.')
        return SkipRule(
            reason=reason,
            setups=names["setup"],
            workloads=names["workload"],
            settings=self._settings(table, row, targets),
            job={key: self._value(table, "job", value) for key, value in job.items()},
        )

    def _named(self, table: str, key: str, row: Mapping[str, Any], known: list[str]) -> tuple[str, ...]:
        """Names of set-ups or workloads, all of which there are."""
        names = self._get(table, row, key, self._names, _NONE)
        for name in names:
            if name not in known:
                raise self._fail(
                    table, key, f"there is no {key} {clean(name, 60)!r}.", f"There are: {', '.join(known)}."
                )
        return names

    def _feature(self, name: str, value: Any, targets: Mapping[str, str]) -> FeaturePlan:
        table = f"feature.{name}"
        if not isinstance(value, dict):
            raise self._fail("feature", name, f"feature wants tables: [feature.{clean(name, 40)}].")
        self._only(table, value, ("target", "simulated_key"))
        return FeaturePlan(
            target=self._role(table, "target", value.get("target", ""), targets),
            key=self._get(table, value, "simulated_key", self._text_of, None),
        )

    def _saturation(self, table: Mapping[str, Any]) -> Saturation | None:
        given = self._table(table, "saturation")
        if not given:
            return None
        self._only("saturation", given, ("p99", "from", "to"))
        limit = self._get("saturation", given, "p99", self._latency, None)
        if limit is None:
            raise self._fail("saturation", "p99", 'name the limit: p99 = "2ms".')
        lowest = self._get("saturation", given, "from", self._whole(1, 65536), 1)
        highest = self._get("saturation", given, "to", self._whole(1, 65536), 1024)
        if lowest > highest:
            raise self._fail("saturation", "from", f"from is {lowest}, to is {highest}.")
        return Saturation(p99_ns=limit, lowest=lowest, highest=highest)

    def _latency(self, table: str, key: str, value: Any) -> int:
        text = self._text_of(table, key, value).replace(" ", "")
        for unit, factor in (("ns", 1), ("us", 1000), ("µs", 1000), ("ms", 10**6), ("s", 10**9)):
            number = text.removesuffix(unit)
            if number != text:
                try:
                    nanoseconds = round(float(number) * factor)
                except (ValueError, OverflowError):
                    break
                if nanoseconds > 0:
                    return nanoseconds
                break
        raise self._fail(table, key, f'{key} wants a time with its unit: "500us", "2ms".')
