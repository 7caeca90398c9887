"""Importer for fio job files, by an allow-list: nothing that runs a program or names another target gets through.

raidbench parses the text itself and never lets fio do it. `--readonly` does not keep `exec_prerun` from running, and
fio expands `$` and reads other files. Unknown options are refused, so a new dangerous option of fio is refused as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from app.core.fio import jobfile_options as rules
from app.core.fio.extra import EXTRA
from app.core.fio.job import InvalidJobError, Job
from app.core.fio.job_values import parse_flag
from app.core.fio.jobfile_options import SectionDraft
from app.core.fio.option_table import SHIPPED, OptionTable, option_names
from app.core.fio.option_values import split_by_direction
from app.core.fio.sections import JobSection, distinct_names, join_sections, merge_notes
from backends.errors import InvalidValueError, NotFoundError
from backends.text import clean
from backends.values import dataclass

_LARGEST_TEXT = 1 << 20
_LONGEST_LINE = 4096
_MOST_LINES = 10_000
_MOST_SECTIONS = 200
_SHOWN_PROBLEMS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedJob:
    """One section of a job file."""

    name: str
    """The section's name, without control characters."""
    job: Job
    """The job, as far as raidbench supports it."""
    notes: tuple[str, ...] = ()
    """Sentences about what was not imported."""
    names_runtime: bool = False
    """Whether the section sets its run time."""
    stonewall: bool = False
    """Whether the section waits until all sections above it have ended. It then also starts a new group of results."""
    new_group: bool = False
    """Whether the section starts a new group of results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The parsed sections of a job file."""

    jobs: tuple[ImportedJob, ...]
    """One or more sections, in the order of the file."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the sections. A repeated name gets a number."""
        return distinct_names([job.name for job in self.jobs])

    @property
    def combined_job(self) -> ImportedJob:
        """Return all sections as one job. Raises InvalidValueError for too many sections."""
        if len(self.jobs) == 1:
            return self.jobs[0]
        sections = [
            JobSection(name=name, job=job.job, waits=job.stonewall, new_group=job.new_group)
            for name, job in zip(self.names, self.jobs, strict=True)
        ]
        return ImportedJob(
            name=", ".join(self.names),
            job=join_sections(sections),
            notes=merge_notes([(name, job.notes) for name, job in zip(self.names, self.jobs, strict=True)]),
            names_runtime=all(job.names_runtime for job in self.jobs),
        )

    def section(self, name: str) -> ImportedJob:
        """Return the section of this name. Raises NotFoundError, which lists the names, if there is none."""
        for section_name, job in zip(self.names, self.jobs, strict=True):
            if section_name == name:
                return job
        raise NotFoundError(
            f"The job file has no section {clean(name, 80)}.", hint=f"Its sections are {', '.join(self.names)}."
        )


@dataclass(slots=True)
class _Section:
    name: str
    line: int
    options: dict[str, tuple[str, int]] = field(default_factory=dict)


def import_jobfile(content: str | bytes, table: OptionTable = SHIPPED) -> Imported:
    """Return the jobs of a `.fio` file; `table`: the options of the fio that will run them.

    Raises only InvalidValueError, which names each refused line with its reason.
    """
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # line ends of Windows and old Macs
    _require_text(text)
    problems: list[str] = []
    base, sections = _sections(text, problems)
    if not sections and not problems:
        raise InvalidValueError(
            "The file contains no job", hint="Start each job with its name in brackets: [randread]."
        )
    jobs: list[ImportedJob] = []
    for section in sections:
        above = base[section.name, section.line]
        # The section's own options come last, so they override options of [global] for the same field.
        options = {key: option for key, option in above.items() if key not in section.options} | {
            key: (_fill_blanks(key, value, above.get(key)), line) for key, (value, line) in section.options.items()
        }
        if (job := _job(section, options, table, problems)) is not None:
            jobs.append(job)
    if problems or not jobs:
        _raise_refusal(problems)
    return Imported(jobs=tuple(jobs))


def depends_on_fio(content: str | bytes) -> bool:
    """Return whether a job file has options that some fio versions lack, so that the installed fio must be queried."""
    names = option_names(content)
    return bool(names - SHIPPED.names) or not names.isdisjoint(EXTRA)


def _raise_refusal(problems: list[str]) -> None:
    unique = list(dict.fromkeys(problems)) or ["it contains no job"]
    more = f" (and {len(unique) - 1} more)" if len(unique) > 1 else ""
    raise InvalidValueError(
        f"The job file is not supported: {unique[0]}{more}",
        hint="Remove these lines from the file, or set up the job by hand.",
        evidence="\n".join(unique[:_SHOWN_PROBLEMS]),
    )


def _require_text(text: str) -> None:
    if "\0" in text:
        raise InvalidValueError("This is not a job file: it contains binary data")
    if len(text) > _LARGEST_TEXT:
        raise InvalidValueError("This is not a job file: it is longer than 1 MiB")
    lines = text.split("\n")
    if len(lines) > _MOST_LINES:
        raise InvalidValueError(f"This is not a job file: it has {len(lines)} lines")
    for number, line in enumerate(lines, 1):
        if len(line) > _LONGEST_LINE:
            raise InvalidValueError(f"This is not a job file: line {number} has {len(line)} characters")


def _sections(
    text: str, problems: list[str]
) -> tuple[dict[tuple[str, int], dict[str, tuple[str, int]]], list[_Section]]:
    """Return the global options that apply to each section, and the sections in order.

    Each mapping of options has (value, line number) by option name. Adds a sentence to `problems` for each refused
    line.
    """
    shared: dict[str, tuple[str, int]] = {}
    above: dict[tuple[str, int], dict[str, tuple[str, int]]] = {}
    sections: list[_Section] = []
    current: dict[str, tuple[str, int]] | None = None
    for number, raw in enumerate(text.split("\n"), 1):
        # As in fio, ';' and '#' begin a comment, anywhere in a line.
        line = re.split("[;#]", raw, maxsplit=1)[0].strip()
        if not line:
            continue
        key, _, _ = line.partition("=")
        if ("$" in line or "`" in line) and key.strip() not in rules.TARGET_NAMES:
            problems.append(f"line {number}: $ and backtick are not supported: fio would expand them")
        elif line.startswith("["):
            name, bracket, rest = (part.strip() for part in line[1:].partition("]"))
            if not bracket or not name or rest:
                problems.append(f"line {number}: '{clean(line, 40)}' is not a section name in brackets")
                current = {}
            elif name.startswith("global"):  # fio, too, compares only these letters
                current = shared
            else:
                section = _Section(clean(name, 80), number)
                sections.append(section)
                above[section.name, number] = dict(shared)
                current = section.options
        elif re.match(r"include\s", line):
            problems.append(f"line {number}: include is not supported: {rules.ELSEWHERE}")
        elif current is None:
            problems.append(f"line {number}: '{clean(line, 40)}' comes before the first section")
        else:
            name, separator, value = line.partition("=")
            key = rules.ALIASES.get(name := name.strip(), clean(name, 40))
            if separator and value != value.lstrip() and not value.strip().isdecimal():
                problems.append(
                    f"line {number}: {key}: remove the blank after =, which fio takes as a part of the value"
                )
            if name in rules.OWN_NAMES:
                problems.append(f"line {number}: {name} is not supported: {SHIPPED.version} does not know it")
            if not separator and key not in rules.SWITCHES:
                problems.append(f"line {number}: fio requires a value for {name}")
            elif not rules.refusal_reason(key, value.strip()) and (
                wrong := rules.misspelling_reason(key, value.strip() if separator else "1")
            ):
                problems.append(f"line {number}: {rules.FIO_NAMES.get(key, key)}: {wrong}")
            # The last line for an option wins, even if it uses an alias.
            current[key] = (_fill_blanks(key, value.strip() if separator else "1", current.pop(key, None)), number)
    if len(sections) > _MOST_SECTIONS:
        raise InvalidValueError(f"The file contains {len(sections)} jobs, which is too many to choose from")
    return above, sections


_BY_DIRECTION = ("bs", "rate", "rate_iops")
"""Options that may have separate values for reads, writes and trims."""


def _fill_blanks(key: str, value: str, earlier: tuple[str, int] | None) -> str:
    """Return the value with its empty parts filled in from the option's `earlier` line, as fio does."""
    if earlier is None or key not in _BY_DIRECTION or "," not in value:
        return value
    try:
        return ",".join(
            part or before
            for part, before in zip(split_by_direction(value), split_by_direction(earlier[0]), strict=True)
        )
    except InvalidValueError:
        return value  # the parser of the option will refuse it


def _job(
    section: _Section, options: Mapping[str, tuple[str, int]], table: OptionTable, problems: list[str]
) -> ImportedJob | None:
    """Return the job of a section, or None if it is refused; the reasons are added to `problems`."""
    before = len(problems)
    draft = SectionDraft()
    where: dict[str, int] = {}
    for key, (value, number) in sorted(options.items(), key=lambda option: option[0] not in rules.FIRST):
        shown = rules.FIO_NAMES.get(key, key)
        if reason := rules.refusal_reason(key, value):
            problems.append(f"line {number}: {shown} is not supported: {reason}")
            continue
        try:
            applied = rules.apply_option(key, value, draft)
            if table.lacks(key) and (not applied or (table.installed and key in EXTRA)):
                problems.append(f"line {number}: {key} is not supported: {table.version} does not know it")
            elif not applied:
                problems.append(f"line {number}: {key} is not supported by raidbench")
            where |= dict.fromkeys(draft.texts.keys() - where.keys(), number)
        except InvalidValueError as error:
            problems.append(f"line {number}: {shown}: {error.message}")
    if len(problems) > before:
        return None
    try:
        names_runtime = rules.complete_draft(draft)
        job = Job.from_fields(draft.texts)
    except InvalidJobError as error:
        for field_key, sentence in error.fields.items():
            line = where.get(field_key) or options.get(field_key, ("", 0))[1]
            at = f"line {line}" if line else f"[{section.name}]"
            problems.append(f"{at}: {rules.FIO_NAMES.get(field_key, field_key)}: {sentence}")
        return None
    except InvalidValueError as error:
        problems.append(f"[{section.name}]: {error.message}")
        return None
    return ImportedJob(
        name=section.name,
        job=job,
        notes=tuple(dict.fromkeys(draft.notes)),
        names_runtime=names_runtime,
        stonewall=_is_set("stonewall", options),
        new_group=_is_set("new_group", options),
    )


def _is_set(key: str, options: Mapping[str, tuple[str, int]]) -> bool:
    """Return whether a fio flag is set. A value that is neither yes nor no counts as set."""
    try:
        return parse_flag(options.get(key, ("0", 0))[0])
    except InvalidValueError:
        return True
