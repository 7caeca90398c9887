"""The choices of the Sweep screen: axes with their values, and the values that the user has ticked. No I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Literal

from app.core.changes.arrays.candidates import WantedArrays
from app.core.fio.job import Job
from app.core.fio.profiles import PROFILES, profile
from app.core.session.sweep_steps import Rank
from app.features.sweep.engine.targets import SettingOwner
from backends.array_planning import LEVELS, SPANNED, STRIPS, spans_that_fit
from backends.model import Level
from backends.raid import ARRANGEMENTS
from backends.settings import Effect, Reading, Risk, Setting, Span
from backends.sizes import exact_text
from backends.units import text_in_unit
from backends.values import dataclass
from widgets.text_utils.units import plural

Kind = Literal["array", "setting", "job", "measure"]
"""Kind of an axis: a property of arrays that the sweep creates, a setting, a job field, or an option of the
measurement.
"""

ROLE = "target"
"""Role that a plan made from the user's choices gives to its benchmark target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftValue:
    """A value that can be ticked."""

    value: str
    """The value as written in a plan."""
    label: str
    """The value for display."""
    now: bool = False
    """Whether it is the present value of the setting or of the job field."""
    risk: Risk = Risk.NONE
    """Risk of setting the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftAxis:
    """A setting, job field or other option, with the values that a sweep can compare."""

    kind: Kind
    """Kind of the axis."""
    name: str
    """Key of the setting, or name of the job field or option."""
    label: str
    """Name of the axis for display."""
    help: str = ""
    """Explanation in one or two sentences."""
    group: str = ""
    """Heading of the group in which the axis is listed."""
    values: tuple[DraftValue, ...] = ()
    """Values that the user can tick."""
    free: bool = False
    """Whether the user may also type other values."""
    unit: str = ""
    """Unit of the values that the user types; "" for none."""
    why_not: str = ""
    """Why no sweep can change the setting; "" if a sweep can."""

    @property
    def key(self) -> str:
        """Unique key of the axis, such as `setting:read_ahead`."""
        return f"{self.kind}:{self.name}"

    @property
    def single(self) -> bool:
        """Whether exactly one value of the axis is ticked at any time."""
        return self.kind == "measure" or self.key == CLEAN_AXIS


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The user's choices so far."""

    address: str
    """The benchmark target: an address, or the path of a scratch file."""
    job: Job
    """The job. It has the values of all job fields that no axis varies."""
    profile: str | None = None
    """Name of the job's profile; None for a custom job."""
    drives: tuple[str, ...] = ()
    """Addresses of drives for created arrays, which are then measured in place of `address`."""
    ticked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Ticked values by axis key."""

    @property
    def measured(self) -> str:
        """The benchmark target for display."""
        return f"arrays of {plural(len(self.drives), 'drive')}" if self.drives else self.address

    @property
    def arrays(self) -> tuple[object, ...]:
        """All choices that determine which arrays the sweep creates."""
        return (self.drives, *(self.ticked.get(key) for key in ARRAY_AXES))

    def over_arrays(self, wanted: WantedArrays) -> Draft:
        """Return the choices with a new benchmark target: arrays that the sweep creates from the drives in `wanted`."""
        kept = {key: values for key, values in self.ticked.items() if key.startswith(("job:", "measure:"))}
        kept.pop(LOAD_AXIS, None)
        kept[LEVEL_AXIS] = (wanted.level.value,)
        if wanted.strip_bytes is not None:
            kept[STRIP_AXIS] = (_strip_text(wanted.strip_bytes),)
        if wanted.spans is not None:
            kept[SPANS_AXIS] = (str(wanted.spans),)
        return replace(self, drives=wanted.drives, ticked=kept)

    def has(self, axis: DraftAxis, value: str) -> bool:
        """Return whether a value is ticked."""
        return value in self.ticked.get(axis.key, DEFAULTS.get(axis.key, ()))

    def chosen(self, axis: DraftAxis) -> tuple[str, ...]:
        """Return the ticked values of an axis, in the order in which the axis lists them."""
        ticked = self.ticked.get(axis.key, DEFAULTS.get(axis.key, ()))
        offered = [value.value for value in axis.values if value.value in ticked]
        return (*offered, *(value for value in ticked if value not in offered))

    def toggle(self, axis: DraftAxis, value: str) -> Draft:
        """Return the choices with a value ticked, or no longer ticked.

        On an axis on which only one value can be ticked, the value replaces the one ticked before.
        """
        if axis.single:
            values: tuple[str, ...] = (value,)
        elif self.has(axis, value):
            values = tuple(name for name in self.chosen(axis) if name != value)
        else:
            values = (*self.chosen(axis), value)
        rest = {key: kept for key, kept in self.ticked.items() if key != axis.key}
        return replace(self, ticked=rest | ({axis.key: values} if values else {}))

    @property
    def varies(self) -> bool:
        """Whether a sweep of these choices has values to compare, or a load to raise."""
        if self.drives and LEVEL_AXIS not in self.ticked:
            return False
        several = any(len(values) > 1 for key, values in self.ticked.items() if not key.startswith("measure:"))
        return several or self.ticked.get(LOAD_AXIS, DEFAULTS[LOAD_AXIS]) != DEFAULTS[LOAD_AXIS]


LEVEL_AXIS, SPANS_AXIS, LAYOUT_AXIS, STRIP_AXIS, CLEAN_AXIS = ARRAY_AXES = (
    "array:level",
    "array:spans",
    "array:layout",
    "array:strip",
    "array:assume_clean",
)
"""Keys of the axes that vary properties of created arrays."""

LOAD_AXIS = "measure:load"
"""Key of the axis that chooses whether a saturation search or a load curve follows the matrix."""

DEFAULTS: Mapping[str, tuple[str, ...]] = {
    CLEAN_AXIS: ("no",),
    LOAD_AXIS: ("",),
    "measure:repeats": ("3",),
    "measure:pairs": ("6",),
    "measure:rank": (Rank.IOPS.value,),
}
"""Values that are ticked by default, by axis key."""

_JOB_VALUES: Sequence[tuple[str, str, str, tuple[str, ...]]] = (
    ("bs", "Block size", "Bytes of one I/O.", ("512", "4k", "8k", "16k", "32k", "64k", "128k", "256k", "1M", "4M")),
    (
        "iodepth",
        "Queue depth",
        "I/Os that each job keeps in flight.",
        ("1", "2", "4", "8", "16", "32", "64", "128", "256", "512"),
    ),
    (
        "rwmixread",
        "Read share",
        "Percent of reads. A plain pattern becomes a mixed one; below 100 % the job also writes.",
        ("100", "90", "70", "50", "30", "0"),
    ),
    ("numjobs", "Jobs", "Number of parallel threads.", ("1", "2", "4", "8", "16")),
    ("rw", "Pattern", "Sequential or random, reads or writes.", ("read", "randread", "write", "randwrite", "randrw")),
)
_MEASURE_VALUES: Sequence[tuple[str, str, str, tuple[tuple[str, str], ...]]] = (
    (
        "repeats",
        "Runs of each",
        "Number of runs of each combination, in random order.",
        (("1", "1"), ("2", "2"), ("3", "3"), ("5", "5")),
    ),
    (
        "pairs",
        "Confirm winner",
        "Fresh pairs of the winner and its baseline, because the best of a screening is partly chance.",
        (("0", "no"), ("3", "3 pairs"), ("6", "6 pairs"), ("12", "12 pairs")),
    ),
    (
        "rank",
        "Best is",
        "Metric for the ranking.",
        (("iops", "IOPS"), ("bandwidth", "MiB/s"), ("p99", "p99")),
    ),
    (
        "load",
        "Raise the load",
        "After the runs, find the queue depth at saturation, or also the latency at rates up to saturation.",
        (("", "no"), ("saturation", "until it is saturated"), ("curve", "for the latency curve")),
    ),
)


def axes_of(holders: Sequence[SettingOwner], draft: Draft) -> tuple[DraftAxis, ...]:
    """Return all axes: created arrays, job fields, settings of the target and its queue, and measurement options."""
    texts = draft.job.texts()
    axes = _array_axes(draft)
    axes += [
        DraftAxis(
            kind="job",
            name=name,
            label=label,
            help=help,
            group="Job",
            values=_job_field_values(name, texts, values),
            free=name != "rw",
        )
        for name, label, help, values in _JOB_VALUES
    ]
    axes.append(_profile_axis(draft))
    keys: set[str] = set()
    for holder in holders:
        for key, setting in holder.settings.items():
            reading = holder.readings.get(key)
            if reading is not None and key not in keys:
                keys.add(key)
                axes.append(_setting_axis(setting, reading, f"Settings of {holder.target}"))
    axes += [
        DraftAxis(
            kind="measure",
            name=name,
            label=label,
            help=help,
            group="Measuring",
            values=tuple(DraftValue(value=value, label=text) for value, text in values),
        )
        for name, label, help, values in _MEASURE_VALUES
        if not (draft.drives and name == "load")  # a search needs an array that exists
    ]
    return tuple(axes)


def _array_axes(draft: Draft) -> list[DraftAxis]:
    if not draft.drives:
        return []
    group = f"Arrays of {plural(len(draft.drives), 'drive')}"
    levels = tuple(DraftValue(value=level.value, label=level.value, risk=Risk.DESTROYS_DATA) for level in LEVELS)
    count = len(draft.drives)
    fitting = sorted({spans for level in SPANNED for spans in spans_that_fit(level, count)})
    spans = tuple(
        DraftValue(value=str(number), label=f"{number} of {plural(count // number, 'drive')}") for number in fitting
    )
    layouts = tuple(DraftValue(value=f"{letter}2", label=f"2 {word} copies") for letter, word in ARRANGEMENTS.items())
    strips = tuple(DraftValue(value=_strip_text(size), label=exact_text(size)) for size in STRIPS)
    clean = (
        DraftValue(value="no", label="sync first"),
        DraftValue(value="yes", label="assume-clean, then written"),
    )
    axes = (
        (
            "level",
            "Level",
            "Each array is created on the same drives, measured and deleted again. All data on the drives is lost.",
            levels,
        ),
        (
            "spans",
            "Spans",
            "Spans of RAID 10, 50 and 60: one array for each valid number. Default: pairs for RAID 10, else two.",
            spans,
        ),
        (
            "layout",
            "Layout",
            "Layouts of an md RAID 10: one array each. Default: near copies.",
            layouts,
        ),
        (
            "strip",
            "Strip",
            "Strip sizes: one array for each level and strip size. Default: that of the controller or md.",
            strips,
        ),
        (
            "assume_clean",
            "Parity",
            "md: no resync; instead, overwrite the whole array to make parity correct, then check it.",
            clean,
        ),
    )
    return [
        DraftAxis(kind="array", name=name, label=label, help=help, group=group, values=values)
        for name, label, help, values in axes
        if values
    ]


def _strip_text(size: int) -> str:
    """Return a strip size as in a plan: `64k`."""
    return f"{size >> 10}k"


def _job_field_values(name: str, texts: Mapping[str, str], values: tuple[str, ...]) -> tuple[DraftValue, ...]:
    """Return the usual values of a job field, with the job's own value among them."""
    now = texts[name]
    if name == "rwmixread" and texts["rw"] not in ("rw", "randrw"):
        now = "0" if "write" in texts["rw"] else "100"
    listed = values if now in values or not now else (now, *values)
    return tuple(
        DraftValue(value=value, label=f"{value} %" if name == "rwmixread" else value, now=value == now)
        for value in listed
    )


def _profile_axis(draft: Draft) -> DraftAxis:
    values = tuple(
        DraftValue(
            value=workload.name,
            label=workload.name,
            now=workload.name == draft.profile,
            risk=Risk.DESTROYS_DATA if workload.job.writes else Risk.NONE,
        )
        for workload in PROFILES.values()
    )
    return DraftAxis(
        kind="job", name="profile", label="Workload", help="Whole workloads by name.", group="Job", values=values
    )


def _setting_axis(setting: Setting, reading: Reading, group: str) -> DraftAxis:
    choices = tuple(
        DraftValue(value=choice.value, label=choice.label, now=choice.value == reading.now, risk=choice.risk)
        for choice in reading.choices
    )
    unit = (reading.span.unit if reading.span is not None else "") or setting.unit
    return DraftAxis(
        kind="setting",
        name=setting.key,
        label=setting.label,
        help=setting.explained,
        group=group,
        values=choices or _nearby_values(reading, reading.span, setting.risk, unit),
        free=not reading.choices,
        unit=unit,
        why_not=_why_not(setting, reading),
    )


def _why_not(setting: Setting, reading: Reading) -> str:
    if setting.secret or setting.effect in (Effect.REBOOT, Effect.RESET):
        return "it only takes effect after a restart"
    if reading.availability.why_not is not None:
        return reading.availability.why_not
    return "it cannot be read, so it could not be restored" if reading.now is None else ""


def _nearby_values(reading: Reading, span: Span | None, risk: Risk, unit: str) -> tuple[DraftValue, ...]:
    """Return the present value of a setting, and legal values between a quarter and sixteen times the present value."""
    if span is None or reading.now is None or not reading.now.lstrip("-").isdigit():
        now_text = text_in_unit(reading.now or "", unit)
        return () if reading.now is None else (DraftValue(value=reading.now, label=now_text, now=True),)
    now = int(reading.now)
    wanted = {now, *(now * factor // 4 for factor in (1, 2, 8, 16, 64))}
    if now == 0:
        wanted |= {span.minimum, span.maximum}
    if span.maximum - span.minimum <= 8 * span.step:
        wanted |= set(range(span.minimum, span.maximum + 1, span.step))
    legal = [
        number
        for number in wanted
        if span.minimum <= number <= span.maximum and (number - span.minimum) % span.step == 0
    ]
    return tuple(
        DraftValue(value=str(number), label=text_in_unit(str(number), unit), now=number == now, risk=risk)
        for number in sorted({*legal, now})
    )


# -- the choices as the text of a plan file ---------------------------------------------------------------------------

_ALONE = {"": "One job", "saturation": "Saturation", "curve": "Throughput against latency"}
"""Titles of plans that compare no values, by the kind of search that they make ("" for none)."""


def plan_text(draft: Draft, axes: Sequence[DraftAxis]) -> str:
    """Return the text of a plan file for the choices."""
    varied = [(axis, values) for axis in axes if not axis.single and (values := draft.chosen(axis))]
    load = next(iter(draft.ticked.get(LOAD_AXIS, ())), "")
    title = " and ".join([axis.label for axis, values in varied if len(values) > 1] or [_ALONE[load]])
    lines = [
        f"title = {_text(f'{title} of {draft.measured}')}",
        "",
        *([] if draft.drives else ["[targets]", f"{ROLE} = {_text(draft.address)}", ""]),
        "[measure]",
        *([] if draft.drives else [f"target = {_text(ROLE)}"]),
    ]
    for axis in axes:
        if axis.kind == "measure" and axis.key != LOAD_AXIS and (chosen := draft.chosen(axis)):
            lines.append(f"{axis.name} = {_text(chosen[0]) if axis.name == 'rank' else chosen[0]}")
    lines += ["", "[job]", *_job_lines(draft, {axis.name for axis, _ in varied if axis.kind == "job"})]
    lines += _array_lines(draft) if draft.drives else []
    for axis, values in varied:
        if axis.kind == "array":
            continue
        whose = [f"job = {_text(axis.name)}"]
        if axis.kind == "setting":
            whose = [f"target = {_text(ROLE)}", f"setting = {_text(axis.name)}"]
        lines += ["", "[[axis]]", *whose, f"values = [{', '.join(map(_text, values))}]"]
    lines += ["", f"[{load}]"] if load else []
    return "\n".join(lines) + "\n"


def _array_lines(draft: Draft) -> list[str]:
    """Return the lines of the plan file about the arrays that the sweep creates."""
    lists = [("values", draft.ticked.get(LEVEL_AXIS, ())), ("drives", draft.drives)]
    if strips := draft.ticked.get(STRIP_AXIS):
        lists.append(("strip", strips))
    if Level.RAID10.value in draft.ticked.get(LEVEL_AXIS, ()) and (layouts := draft.ticked.get(LAYOUT_AXIS)):
        lists.append(("layout", layouts))
    spanned = any(level in SPANNED for level in draft.ticked.get(LEVEL_AXIS, ()))
    spans = draft.ticked.get(SPANS_AXIS, ()) if spanned else ()
    numbers = [f"spans = [{', '.join(sorted(spans, key=int))}]"] if spans else []
    clean = ["assume_clean = true"] if draft.ticked.get(CLEAN_AXIS) == ("yes",) else []
    rows = [f"{name} = [{', '.join(map(_text, values))}]" for name, values in lists]
    return ["", "[[axis]]", 'array = "level"', *rows, *numbers, *clean]


def _job_lines(draft: Draft, varied: set[str]) -> list[str]:
    """Return the lines of the plan file about the job: its profile, the fields that differ from it, run time and ramp.

    If an axis varies the workload, these are only the run time and the ramp.
    """
    base = profile(draft.profile).job if draft.profile is not None else Job()
    texts, plain = draft.job.texts(), base.texts()
    fields = {key: text for key, text in texts.items() if text != plain[key] and key not in varied}
    lines = []
    if "profile" in varied:
        fields = {key: texts[key] for key in ("runtime", "ramp")}
    elif draft.profile is not None:
        lines.append(f"profile = {_text(draft.profile)}")
    if "rwmixread" in varied and not varied & {"rw", "profile"} and not draft.job.mixed:
        fields["rw"] = "randrw" if texts["rw"].startswith("rand") else "rw"
    fields |= {key: texts[key] for key in ("runtime", "ramp")}
    return [*lines, *(f"{key} = {_text(text)}" for key, text in fields.items())]


def _text(value: str) -> str:
    """Return `value` as a quoted TOML string."""
    return json.dumps(value, ensure_ascii=False)
