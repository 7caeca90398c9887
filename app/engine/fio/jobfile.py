"""Job files of fio, imported by an allow-list: nothing that runs a program or names another target gets through.

The text is parsed here, never by fio: `--readonly` does not keep `exec_prerun` from running, and fio expands `$`
and reads other files. What is not known is refused, so that a new dangerous option of fio is refused as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from app.engine.fio.fields import parse_flag, parse_number
from app.engine.fio.job import InvalidJobError, Job
from backends.errors import InvalidValueError
from backends.text import clean

_LARGEST_TEXT = 1 << 20
_LONGEST_LINE = 4096
_MOST_LINES = 10_000
_MOST_SECTIONS = 200
_SHOWN_PROBLEMS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedJob:
    """One section of a job file."""

    name: str
    """The section's name, cleaned."""
    job: Job
    """What it asks for, as far as raidbench does it."""
    notes: tuple[str, ...] = ()
    """Sentences about what was not taken over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A job file."""

    jobs: tuple[ImportedJob, ...]
    """At least one, in the file's order."""
    notes: tuple[str, ...] = ()
    """Sentences about the file as a whole."""


@dataclass(slots=True)
class _Section:
    name: str
    line: int
    options: dict[str, tuple[str, int]] = field(default_factory=dict)


_PROGRAM = "it would run a program"
_TARGET = "the target is chosen in raidbench, never by a file"
_ELSEWHERE = "it would read or write other files"

_REFUSED: Mapping[str, str] = {
    **dict.fromkeys(("exec_prerun", "exec_postrun", "exec_preinit", "trigger", "trigger_file"), _PROGRAM),
    **dict.fromkeys(("trigger_remote", "trigger_timeout"), _PROGRAM),
    **dict.fromkeys(("filename", "directory", "opendir", "filename_format", "nrfiles", "lockfile"), _TARGET),
    **dict.fromkeys(("read_iolog", "write_iolog", "merge_blktrace_file", "replay_redirect"), _ELSEWHERE),
    **dict.fromkeys(
        ("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "buffer_pattern"), _ELSEWHERE
    ),
    **dict.fromkeys(("verify_state_save", "verify_state_load", "mmap_file", "aux-path", "aux_path"), _ELSEWHERE),
    "allow_mounted_write": "nothing mounted is ever written to",
    "allow_file_create": "a mistyped device name would become a file in memory",
    "include": _ELSEWHERE,
    "kb_base": "sizes would mean something else",
    "unlink": "the target would be deleted",
    "unlink_each_loop": "the target would be deleted",
}
_REFUSED_STARTS = (("write_", _ELSEWHERE), ("trigger", _PROGRAM), ("verify", "raidbench measures, it does not verify"))
_NO_LATENCY = "latencies would be missing"
_REFUSED_ENGINES = ("exec", "external", "net", "netsplice", "cpuio", "libhdfs", "nbd", "http", "rbd", "rados")

_PASSED_OVER: Mapping[str, str] = {
    "description": "",
    "group_reporting": "",
    "thread": "",
    "randrepeat": "",
    "invalidate": "",
    "fallocate": "",
    "exitall": "",
    "exitall_on_error": "",
    "new_group": "",
    "refill_buffers": "",
    "scramble_buffers": "",
    "create_serialize": "",
    "create_on_open": "",
    "overwrite": "",
    "disk_util": "",
    "clat_percentiles": "",
    "percentile_list": "",
    "iodepth_batch": "requests are submitted as fio does by default",
    "iodepth_batch_submit": "requests are submitted as fio does by default",
    "iodepth_batch_complete": "completions are collected as fio does by default",
    "iodepth_low": "the queue is kept full",
    "stonewall": "sections run one at a time anyway",
    "wait_for_previous": "sections run one at a time anyway",
    "startdelay": "a job starts at once",
    "loops": "a job runs by time",
    "io_size": "a job runs by time",
    "number_ios": "a job runs by time",
    "filesize": "",
    "end_fsync": "",
    "softrandommap": "",
    "random_generator": "",
}

_ALIASES: Mapping[str, str] = {
    "readwrite": "rw",
    "blocksize": "bs",
    "bs": "bs",
    "ba": "blockalign",
    "timeout": "runtime",
    "ramp_time": "ramp",
    "io_limit": "io_size",
    "queue_depth": "iodepth",
}
_SIZES = ("bs", "blockalign", "size", "offset_increment")
_PLAIN = ("rw", "ioengine", "iodepth", "numjobs", "rwmixread", "rate_iops", "randseed", "fsync", "bssplit")


def import_jobfile(content: str | bytes) -> Imported:
    """The jobs of a `.fio` file.

    Raises InvalidValueError naming each refused line with its reason; never anything else.
    """
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
    _look_at(text)
    problems: list[str] = []
    base, sections = _sections(text, problems)
    if not sections and not problems:
        raise InvalidValueError("The file holds no job", hint="A job begins with its name in brackets: [randread].")
    jobs: list[ImportedJob] = []
    for section in sections:
        options = {**base[section.name, section.line], **section.options}
        if (found := _job(section, options, problems)) is not None:
            jobs.append(found)
    if problems or not jobs:
        _refuse(problems)
    notes: tuple[str, ...] = ()
    if len(jobs) > 1:
        notes = (f"The file holds {len(jobs)} jobs; fio would run them at once, raidbench runs one at a time",)
    return Imported(jobs=tuple(jobs), notes=notes)


def _refuse(problems: list[str]) -> None:
    unique = list(dict.fromkeys(problems)) or ["it holds no job"]
    more = f" (and {len(unique) - 1} more)" if len(unique) > 1 else ""
    raise InvalidValueError(
        f"The job file is refused: {unique[0]}{more}",
        hint="Take these lines out of the file, or set up the job by hand.",
        evidence="\n".join(unique[:_SHOWN_PROBLEMS]),
    )


def _look_at(text: str) -> None:
    if "\0" in text:
        raise InvalidValueError("This is not a job file: it holds binary data")
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
    """Sections in order, and for each the global options above it; both as key -> (value, line)."""
    shared: dict[str, tuple[str, int]] = {}
    above: dict[tuple[str, int], dict[str, tuple[str, int]]] = {}
    sections: list[_Section] = []
    current: dict[str, tuple[str, int]] | None = None
    for number, raw in enumerate(text.split("\n"), 1):
        # As fio does: a comment begins anywhere, with either character.
        line = re.split("[;#]", raw, maxsplit=1)[0].strip()
        if not line:
            continue
        if "$" in line or "`" in line:
            problems.append(f"line {number}: $ and backtick are refused, fio would expand them")
        elif line.startswith("["):
            name = line[1:].partition("]")[0].strip()
            if "]" not in line or not name:
                problems.append(f"line {number}: '{clean(line, 40)}' is not a section name in brackets")
                current = {}
            elif name.lower() == "global":
                current = shared
            else:
                section = _Section(clean(name, 80), number)
                sections.append(section)
                above[section.name, number] = dict(shared)
                current = section.options
        elif re.match(r"include\s", line):
            problems.append(f"line {number}: include is refused, {_ELSEWHERE}")
        elif current is None:
            problems.append(f"line {number}: '{clean(line, 40)}' stands before the first section")
        else:
            key, separator, value = line.partition("=")
            current[key.strip()] = (value.strip() if separator else "1", number)
    if len(sections) > _MOST_SECTIONS:
        raise InvalidValueError(f"The file holds {len(sections)} jobs, more than anyone can choose from")
    return above, sections


def _job(section: _Section, options: Mapping[str, tuple[str, int]], problems: list[str]) -> ImportedJob | None:
    """The job of a section; None with problems added if it is refused."""
    before = len(problems)
    texts: dict[str, str] = {}
    notes: list[str] = []
    where: dict[str, int] = {}
    for raw_key, (value, number) in options.items():
        key = _ALIASES.get(raw_key, raw_key)
        shown = clean(raw_key, 40)
        if reason := _refusal(key, value):
            problems.append(f"line {number}: {shown} is refused, {reason}")
        elif key in _PASSED_OVER:
            if why := _PASSED_OVER[key]:
                notes.append(f"{shown}={clean(value, 40)} was not taken over: {why}")
        else:
            try:
                if not _take(key, value, texts, notes):
                    problems.append(f"line {number}: {shown} is refused, raidbench does not know it")
                where |= dict.fromkeys(texts.keys() - where.keys(), number)
            except InvalidValueError as error:
                problems.append(f"line {number}: {shown}: {error.message}")
    if len(problems) > before:
        return None
    if "runtime" not in texts:
        notes.append("The file names no run time: 60 s were taken")
        texts["runtime"] = "60"
    texts.setdefault("ramp", "0")
    # fio's own defaults where they differ from ours.
    for key, default in (("direct", "no"), ("ioengine", "psync"), ("rw", "read"), ("norandommap", "no")):
        texts.setdefault(key, default)
    try:
        job = Job.from_fields(texts)
    except InvalidJobError as error:
        for field_key, sentence in error.fields.items():
            at = f"line {where[field_key]}" if field_key in where else f"[{section.name}]"
            problems.append(f"{at}: {field_key}: {sentence}")
        return None
    return ImportedJob(name=section.name, job=job, notes=tuple(dict.fromkeys(notes)))


def _refusal(key: str, value: str) -> str:
    """Why an option is refused; "" if it is not."""
    if key in _REFUSED:
        return _REFUSED[key]
    if key == "ioengine":
        engine = value.partition(":")[0].strip().lower()
        if engine in _REFUSED_ENGINES or "/" in value or ":" in value:
            return "this engine runs programs, loads code or leaves the machine"
    if key.startswith("disable_") or key == "gtod_reduce":
        return _NO_LATENCY
    return next((reason for start, reason in _REFUSED_STARTS if key.startswith(start)), "")


def _take(key: str, value: str, texts: dict[str, str], notes: list[str]) -> bool:
    """Put an option's meaning into `texts`; False if it is unknown. Raises InvalidValueError."""
    if key in _SIZES:
        if (size := _size(key, value)) is not None:
            texts[key] = size
    elif key in _PLAIN:
        texts[key] = value
    elif (special := _SPECIAL.get(key)) is not None:
        special(value, texts, notes)
    else:
        return False
    return True


def _size(key: str, value: str) -> str | None:
    """A size in fio's spelling; None for all of the target."""
    if key == "size" and value.strip() == "100%":
        return None
    if "%" in value:
        raise InvalidValueError(f"'{clean(value, 40)}' is a share of the target; give a size")
    parts = {part.strip() for part in value.split(",")}
    if len(parts) > 1:
        raise InvalidValueError("different sizes for reads and writes are not supported")
    if re.search(r"[kmgtp]ib", value, re.IGNORECASE):
        raise InvalidValueError(f"fio reads '{clean(value, 40)}' as powers of 1000; write 4k, 1M, 2G")
    return parts.pop()


def _direct(value: str, texts: dict[str, str], _notes: list[str]) -> None:
    texts["direct"] = "yes" if parse_flag(value) else "no"


def _buffered(value: str, texts: dict[str, str], _notes: list[str]) -> None:
    texts["direct"] = "no" if parse_flag(value) else "yes"


def _mix_write(value: str, texts: dict[str, str], _notes: list[str]) -> None:
    if (percent := parse_number(value)) > 100:
        raise InvalidValueError("a percentage, 0 to 100")
    texts["rwmixread"] = str(100 - percent)


def _no_map(value: str, texts: dict[str, str], _notes: list[str]) -> None:
    texts["norandommap"] = "yes" if parse_flag(value) else "no"


def _time_based(value: str, _texts: dict[str, str], notes: list[str]) -> None:
    if not parse_flag(value):
        notes.append("time_based=0 was not taken over: a job runs by time")


def _seconds(key: str) -> Callable[[str, dict[str, str], list[str]], None]:
    def take(value: str, texts: dict[str, str], notes: list[str]) -> None:
        if key == "runtime" and value.strip() == "0":
            notes.append("runtime=0 was not taken over: a job runs by time")
        else:
            texts[key] = value

    return take


def _offset(value: str, _texts: dict[str, str], _notes: list[str]) -> None:
    if value.strip() not in ("0", "0%"):
        raise InvalidValueError("raidbench works from the start of the target")


_SPECIAL: Mapping[str, Callable[[str, dict[str, str], list[str]], None]] = {
    "direct": _direct,
    "buffered": _buffered,
    "rwmixwrite": _mix_write,
    "norandommap": _no_map,
    "time_based": _time_based,
    "runtime": _seconds("runtime"),
    "ramp": _seconds("ramp"),
    "offset": _offset,
}
