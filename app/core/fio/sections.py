"""Jobs of several sections: their phases and groups, and the fields of the combined job. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, field, fields, replace
from itertools import pairwise
from typing import Any

from app.core.fio.fields import FIELDS_BY_KEY
from app.core.fio.job import InvalidJobError, Job
from app.core.fio.job_values import Pattern, Split
from backends.errors import InvalidValueError
from backends.text import clean
from backends.values import dataclass

MOST_SECTIONS = 64
"""Maximum number of sections in one run, because fio repeats all of them in each document."""

_LONGEST_NAME = 80
_SHOWN_NAMES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSection:
    """One section of a job file."""

    name: str
    """The name, unique among the sections of the job."""
    job: Job
    """The job of the section."""
    waits: bool = False
    """Whether the section starts only when all sections above it have ended (`stonewall`)."""
    new_group: bool = False
    """Whether the section starts a group of results. A section that waits always starts one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionedJob(Job):
    """A job of several sections. `join_sections` creates it.

    A field has the value that all sections share. If they differ, it has the value that is correct for the combined
    job, or fio's default. The properties of `Job` take all `parts` into account. A safety property such as `writes` is
    true if it is true for one section.
    """

    sections: tuple[JobSection, ...] = field()
    """Two or more sections, in the order of the file."""

    def __post_init__(self) -> None:
        """Check the fields. Raises ValueError if a field was changed without the sections."""
        for key, value in _joined_fields(self.sections).items():
            if getattr(self, key) != value:
                raise ValueError(f"{key}: change each section of a job with several sections separately")

    @property
    def parts(self) -> tuple[Job, ...]:
        """Return the job of each section."""
        return tuple(section.job for section in self.sections)

    @property
    def reach(self) -> int | None:
        """Return the byte of the target at which the highest region ends; None if it depends on the target's size."""
        ends = [job.reach for job in self.parts]
        return None if None in ends else max(end for end in ends if end is not None)

    @property
    def shares(self) -> Split:
        """Return all block sizes with equal percentages, because a section's number of I/Os is not known in advance."""
        sizes = self.block_sizes
        return tuple((size, 100 // len(sizes) + (at < 100 % len(sizes))) for at, size in enumerate(sizes))

    def mean_size_of(self, direction: str) -> float:
        """Return the mean I/O size in bytes of the section with the smallest mean, in this direction."""
        return min(job.mean_size_of(direction) for job in self.parts)

    def smallest_of(self, direction: str) -> int:
        """Return the bytes of the smallest I/O of any section, in this direction."""
        return min(job.smallest_of(direction) for job in self.parts)

    @property
    def whole_rate_iops(self) -> int | None:
        """Return None: each section has its own limit."""
        return None

    @property
    def whole_rate(self) -> int | None:
        """Return None: each section has its own limit."""
        return None

    @property
    def queue(self) -> int:
        """Return the maximum number of I/Os in flight at the same time."""
        return max(sum(section.job.queue for section in phase) for phase in phases(self.sections))

    def describe(self) -> str:
        """Return a description of the job in one line: `3 sections: reader + writer, then check · 40 s`."""
        shown = self.sections[:_SHOWN_NAMES]
        names = ", then ".join(" + ".join(section.name for section in phase) for phase in phases(shown))
        more = len(self.sections) - len(shown)
        names += f" and {more} more" if more else ""
        seconds = f"{self.longest_s:.0f} s" if self.longest_s is not None else "no time limit"
        return f"{len(self.sections)} sections: {names} · {seconds}"

    def with_fields(self, texts: Mapping[str, str]) -> Job:
        """Return the job with these fields set in every section. Raises InvalidJobError, which names the section."""
        return change_sections(self, lambda job: (job.with_fields(texts), ()))[0]

    def texts(self) -> dict[str, str]:
        """Return the fields that all sections share and those of the combined job; "" for the other fields."""
        texts = [job.texts() for job in self.parts]
        shared = {key: text if all(record[key] == text for record in texts) else "" for key, text in texts[0].items()}
        combined = {key: getattr(self, key) for key in _OF_THE_WHOLE}
        return shared | {
            key: "" if value is None else FIELDS_BY_KEY[key].format(value) for key, value in combined.items()
        }


_OF_THE_WHOLE = ("rw", "runtime", "ramp", "size")
"""Fields that are reported for the combined job even if the sections differ."""


def join_sections(sections: Sequence[JobSection]) -> Job:
    """Return one job that combines these sections; for a single section, return its own job.

    Repeated names get a number.

    Raises InvalidValueError for no section or too many.
    """
    if not sections:
        raise InvalidValueError("A job needs at least one section")
    if len(sections) == 1:
        return sections[0].job
    if len(sections) > MOST_SECTIONS:
        raise InvalidValueError(
            f"The job has {len(sections)} sections, but at most {MOST_SECTIONS} can run together",
            hint="Run a single section: --section NAME.",
        )
    names = distinct_names([section.name for section in sections])
    named = tuple(replace(section, name=name) for section, name in zip(sections, names, strict=True))
    return SectionedJob(**_joined_fields(named), sections=named)


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the cleaned names; a name that occurs again gets a number: `reader`, `reader #2`."""
    cleaned = [clean(name, _LONGEST_NAME).strip() or "unnamed" for name in names]
    distinct: list[str] = []
    for name in cleaned:
        number, wanted = 1, name
        # A number must not produce the name of another section in the file, such as a later "reader #2".
        while wanted in distinct or (number > 1 and wanted in cleaned):
            number += 1
            wanted = f"{name} #{number}"
        distinct.append(wanted)
    return tuple(distinct)


def change_sections(job: Job, change: Callable[[Job], tuple[Job, Iterable[str]]]) -> tuple[Job, tuple[str, ...]]:
    """Return the job with every section changed, and the notes of all sections, each after the name of its section.

    A note that all sections share appears once, without a name. Raises the errors of `change`, with the name of the
    section in front.
    """
    if not job.sections:
        changed, notes = change(job)
        return changed, tuple(notes)
    sections: list[JobSection] = []
    notes_by_section: list[tuple[str, tuple[str, ...]]] = []
    for section in job.sections:
        changed, notes = _change_section(section.name, change, section.job)
        sections.append(replace(section, job=changed))
        notes_by_section.append((section.name, tuple(notes)))
    return join_sections(sections), merge_notes(notes_by_section)


def merge_notes(notes_by_section: Sequence[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Return the notes that all sections share, then the others, each after the name of its section."""
    shared = [note for note in notes_by_section[0][1] if all(note in notes for _, notes in notes_by_section)]
    named = [f"{name}: {note}" for name, notes in notes_by_section for note in notes if note not in shared]
    return (*shared, *named)


def _change_section(
    name: str, change: Callable[[Job], tuple[Job, Iterable[str]]], job: Job
) -> tuple[Job, Iterable[str]]:
    """Return the changed job of a section; errors get the name of the section in front."""
    try:
        return change(job)
    except InvalidJobError as error:
        raise InvalidJobError({key: f"{name}: {sentence}" for key, sentence in error.fields.items()}) from None
    except InvalidValueError as error:
        raise InvalidValueError(f"{name}: {error.message}", hint=error.hint) from None


def with_size(job: Job, size: int) -> Job:
    """Return the job, with `size` (in bytes) as the size of every section that sets none."""
    return change_sections(job, lambda part: (part if part.size_named else replace(part, size=size), ()))[0]


# -- phases and groups ------------------------------------------------------------------------------------------------


def phases(sections: Sequence[JobSection]) -> tuple[tuple[JobSection, ...], ...]:
    """Return the phases in order; the sections of a phase run at the same time."""
    return _split(sections, lambda section: section.waits)


def groups(sections: Sequence[JobSection]) -> tuple[tuple[JobSection, ...], ...]:
    """Return the groups of sections whose results fio adds up with `group_reporting`."""
    return _split(sections, lambda section: section.waits or section.new_group)


def _split(sections: Sequence[JobSection], begins: Callable[[JobSection], bool]) -> tuple[tuple[JobSection, ...], ...]:
    begins_at = [at for at, section in enumerate(sections) if at == 0 or begins(section)]
    return tuple(tuple(sections[start:end]) for start, end in pairwise([*begins_at, len(sections)]))


def phase_seconds(phase: Iterable[JobSection]) -> int | None:
    """Return the seconds of the longest section of a phase, ramp included; None if a section has no run time."""
    jobs = [section.job for section in phase]
    return max(job.ramp + job.runtime for job in jobs) if all(job.runtime for job in jobs) else None


def planned_starts(sections: Sequence[JobSection]) -> tuple[int | None, ...]:
    """Return the planned start of each section in seconds; None after a phase without a run time."""
    seconds: list[int | None] = []
    passed: int | None = 0
    for phase in phases(sections):
        seconds += [passed] * len(phase)
        length = phase_seconds(phase)
        passed = None if passed is None or length is None else passed + length
    return tuple(seconds)


# -- the combined job -----------------------------------------------------------------------------------------------


def _joined_fields(sections: Sequence[JobSection]) -> dict[str, Any]:
    """Return every field of the combined job."""
    usual = {
        field.name: field.default if field.default is not MISSING else None
        for field in fields(Job)
        if field.name != "sections"
    }
    jobs = [section.job for section in sections]
    joined = {key: _common_value([getattr(job, key) for job in jobs], default) for key, default in usual.items()}
    first = phases(sections)[0]
    sizes = [job.size for job in jobs]
    ramp = min(section.job.ramp for section in first)
    lengths = [phase_seconds(phase) for phase in phases(sections)]
    joined |= {
        "rw": _joint_pattern(jobs),
        "bs": min(size for job in jobs for size in job.block_sizes),
        "iodepth": max(job.iodepth for job in jobs),
        "numjobs": max(sum(section.job.numjobs for section in phase) for phase in phases(sections)),
        # Measuring begins with the first section that has no ramp left.
        "ramp": ramp,
        "runtime": 0 if None in lengths else sum(length for length in lengths if length is not None) - ramp,
        "size": None if None in sizes else max(size for size in sizes if size is not None),
        "direct": all(job.direct for job in jobs),
        "norandommap": all(job.norandommap for job in jobs),
    }
    return joined


def _common_value(values: Sequence[Any], default: Any) -> Any:
    return values[0] if all(value == values[0] for value in values) else default


def _joint_pattern(jobs: Sequence[Job]) -> Pattern:
    patterns = {job.rw for job in jobs}
    if len(patterns) == 1:
        return patterns.pop()
    reads, writes = any(job.reads for job in jobs), any(job.writes for job in jobs)
    if all(job.sequential for job in jobs):
        return Pattern.READWRITE if reads and writes else Pattern.WRITE if writes else Pattern.READ
    return Pattern.RANDRW if reads and writes else Pattern.RANDWRITE if writes else Pattern.RANDREAD
