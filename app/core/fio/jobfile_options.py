"""Rules for the options of fio job files: honoured, replaced with a note, or refused with a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field as field_of

from app.core.fio.extra import EXTRA
from app.core.fio.fields import FIELDS, FIELDS_BY_KEY, GROUPS, JobField
from app.core.fio.job import InvalidJobError
from app.core.fio.job_values import (
    format_flag,
    format_split,
    parse_flag,
    parse_microseconds,
    parse_number,
    parse_seconds,
)
from app.core.fio.option_table import SHIPPED
from app.core.fio.option_values import (
    SECOND,
    fill_shares,
    read_microseconds,
    read_number,
    read_percent,
    read_size,
    split_by_direction,
)
from app.core.fio.sizes import format_size
from app.core.session.results import DIRECTIONS
from backends.errors import InvalidValueError
from backends.text import clean
from backends.values import dataclass

_PROGRAM = "it would run a program"
_TARGET = "the target is chosen in raidbench, never by a file"
ELSEWHERE = "it would read or write other files"
_ZONES = "raidbench does not measure zoned disks; run the job with fio itself"
_SEARCH = "fio would vary the load to reach a latency; set a constant load with rate_iops, or sweep iodepth"
_CHARACTER_DEVICES = (
    "io_uring_cmd sends commands to NVMe character devices, which raidbench cannot check for use: use "
    "ioengine=io_uring on the block device"
)
_ENDURES = "results with failed I/Os are not valid"

_REFUSED: Mapping[str, str] = {
    **dict.fromkeys(("exec_prerun", "exec_postrun", "exec_preinit", "trigger", "trigger_file"), _PROGRAM),
    **dict.fromkeys(("trigger_remote", "trigger_timeout"), _PROGRAM),
    **dict.fromkeys(("opendir", "lockfile"), _TARGET),
    **dict.fromkeys(("read_iolog", "write_iolog", "merge_blktrace_file", "replay_redirect"), ELSEWHERE),
    **dict.fromkeys(("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"), ELSEWHERE),
    **dict.fromkeys(("verify_state_save", "verify_state_load", "mmap_file", "aux-path", "aux_path"), ELSEWHERE),
    **dict.fromkeys(("ignore_error", "continue_on_error"), _ENDURES),
    "allow_mounted_write": "raidbench never writes to a mounted device",
    "allow_file_create": "a mistyped device name would create a file in memory",
    "fill_device": "it would write until no space is left",
    "file_append": "it would make the target longer",
    "include": ELSEWHERE,
    "ioscheduler": "it would change a setting of the device",
    "kb_base": "sizes would have another meaning",
    **dict.fromkeys(("read_beyond_wp", "max_open_zones", "job_max_open_zones", "ignore_zone_limits"), _ZONES),
    "max_latency": "fio would end the run at the first slow I/O; raidbench reports the slowest I/O instead",
    "cmd_type": _CHARACTER_DEVICES,
    "pre_read": "it would fill the cache before the run reads",
    "stats": "nothing would be measured",
    "unlink": "the target would be deleted",
    "unlink_each_loop": "the target would be deleted",
}
_REFUSED_STARTS = (
    ("zone", _ZONES),
    ("latency_", _SEARCH),
    ("write_", ELSEWHERE),
    ("trigger", _PROGRAM),
    ("verify", "raidbench does not verify data"),
)
_NO_LATENCY = "latencies would be missing"
_REFUSED_ENGINES = ("exec", "external", "net", "netsplice", "cpuio", "libhdfs", "nbd", "http", "rbd", "rados")

HARMLESS: Mapping[str, str] = {
    **dict.fromkeys(("allow_mounted_write", "fill_device", "file_append", "pre_read"), "0"),
    **dict.fromkeys(("unlink", "unlink_each_loop", "gtod_reduce", "disable_lat", "disable_clat", "disable_slat"), "0"),
    **dict.fromkeys(("disable_bw_measurement", "max_latency", "latency_target", "rate_min", "rate_iops_min"), "0"),
    **dict.fromkeys(("verify", "fsync_on_close", "lockmem", "trim_percentage", "write_barrier", "flow"), "0"),
    **dict.fromkeys(("do_verify", "stats"), "1"),
    **dict.fromkeys(("continue_on_error", "zonemode", "unified_rw_reporting", "lockfile", "replay_skip"), "none"),
    "kb_base": "1024",
    "file_service_type": "roundrobin",
    "rw_sequencer": "sequential",
    "bs_unaligned": "0",
    "bs_is_seq_rand": "0",
    "offset_align": "0",
    "zonesize": "0",
}
"""Options that are refused unless they have fio's default value, each with that default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """An option that raidbench replaces with its own mechanism."""

    default: str = ""
    """fio's default value, for which the import needs no note; "" if every value needs one."""
    why: str
    """What raidbench does instead, as the end of a sentence."""


TARGET_NAMES = ("filename", "directory", "filename_format")
"""Options that name the target; their values reach neither fio nor the filesystem."""
_CHOSEN = Replaced(why="the target is chosen in raidbench")
_LAID_OUT = "the target is laid out in full beforehand"
_NO_LOG = "raidbench keeps fio's output of each run, but no fio logs"
_ALWAYS = "raidbench shows the results of all jobs together, with its own percentiles of both latencies"

PASSED_OVER: Mapping[str, Replaced] = {
    "description": Replaced(why="it has no effect on the job"),
    **dict.fromkeys((*TARGET_NAMES, "unique_filename", "openfiles"), _CHOSEN),
    "name": Replaced(why="a run is named after its target"),
    "nrfiles": Replaced(default="1", why="raidbench measures one target with each job"),
    "group_reporting": Replaced(default="1", why=_ALWAYS),
    "thread": Replaced(default="1", why="raidbench runs all jobs as threads (thread=1)"),
    "fallocate": Replaced(default="native", why=f"fallocate=none, {_LAID_OUT}"),
    "overwrite": Replaced(default="0", why=_LAID_OUT),
    "create_serialize": Replaced(default="1", why=_LAID_OUT),
    "create_fsync": Replaced(default="1", why=_LAID_OUT),
    "create_on_open": Replaced(default="0", why=_LAID_OUT),
    "exitall": Replaced(default="0", why="each job runs to its own end (exitall=0)"),
    "exit_what": Replaced(default="group", why="each job runs to its own end (exitall=0)"),
    "exitall_on_error": Replaced(default="1", why="raidbench ends a run at its first error (exitall_on_error=1)"),
    "startdelay": Replaced(default="0", why="a job starts at once (startdelay=0)"),
    "disk_util": Replaced(default="1", why="raidbench measures the use of disks itself"),
    "clat_percentiles": Replaced(default="1", why=_ALWAYS),
    "lat_percentiles": Replaced(default="1", why=_ALWAYS),
    "slat_percentiles": Replaced(default="0", why=_ALWAYS),
    "significant_figures": Replaced(default="4", why="raidbench prints its own results"),
    "unit_base": Replaced(default="0", why="raidbench shows bytes"),
    "error_dump": Replaced(default="0", why="raidbench shows fio's errors itself"),
    **dict.fromkeys(("log_avg_msec", "log_entries", "log_hist_msec", "log_max_value"), Replaced(why=_NO_LOG)),
    **dict.fromkeys(("log_offset", "log_prio", "log_unix_epoch", "per_job_logs"), Replaced(why=_NO_LOG)),
    **dict.fromkeys(("bwavgtime", "iopsavgtime"), Replaced(default="500", why=_NO_LOG)),
}
"""Options that do not affect the measurement, or that raidbench must replace."""

BESIDE_OTHERS = frozenset(("new_group", "stonewall"))
"""Options that determine how a section follows the previous one. They are stored in the section, not in its job."""

FIO_ALIASES: Mapping[str, str] = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blockalign": "ba",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "io_limit": "io_size",
    "fill_fs": "fill_device",
    "fileoffset": "offset",
    "nr_files": "nrfiles",
    "timeout": "runtime",
    "iomem": "mem",
    "mem_align": "iomem_align",
    "ratemin": "rate_min",
    "ratecycle": "rate_cycle",
    "wait_for_previous": "stonewall",
    "disable_bw": "disable_bw_measurement",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
}
"""Aliases of fio's options, each with the name that fio's help lists."""

ALIASES: Mapping[str, str] = {
    **{field.fio: field.key for field in FIELDS},
    **FIO_ALIASES,
    "ba": "blockalign",
    "blockalign": "blockalign",
}
"""All names of options, each with the name that the tables of this module use."""

OWN_NAMES = frozenset(field.key for field in FIELDS) - SHIPPED.names
"""Names of raidbench's fields that are not options of fio."""

FIO_NAMES: Mapping[str, str] = {field.key: field.fio for field in FIELDS}
"""fio's name of each field, by key."""

SWITCHES = frozenset(
    (
        *("time_based", "exitall", "exitall_on_error", "stonewall", "new_group", "thread", "group_reporting"),
        *("zero_buffers", "refill_buffers", "norandommap", "hipri", "fixedbufs", "registerfiles", "sqthread_poll"),
    )
)
"""Options that fio accepts without a value. fio refuses a job file in which any other option has no value."""

FIRST = ("rw",)
"""Options to apply first, because they change the meaning of other options."""


@dataclass(slots=True)
class SectionDraft:
    """The options of a section as read so far."""

    texts: dict[str, str] = field_of(default_factory=dict)
    """Fields of the job, as text."""
    notes: list[str] = field_of(default_factory=list)
    """Sentences about what raidbench does differently."""
    extra: dict[str, str] = field_of(default_factory=dict)
    """Options that are passed on to fio, with their values."""
    loops: int = 1
    """Number of times that fio would run the job (`loops`)."""
    time_based: bool = False
    """Whether the job ends only by its run time."""
    names_a_file: bool = False
    """Whether the section names the file or device that all of its jobs use."""
    names_all: bool = False
    """Whether the section sets `size` to 100 %."""
    file_size: int | None = None
    """Size in bytes of the file that fio would create (`filesize`); None if the section does not set it."""

    @property
    def mixed(self) -> bool:
        """Return whether the section reads and writes."""
        return self.texts.get("rw", "read") in ("rw", "readwrite", "randrw")

    @property
    def trims_and_writes(self) -> bool:
        """Return whether each block is trimmed and then written."""
        return self.texts.get("rw", "read") in ("trimwrite", "randtrimwrite")

    @property
    def side(self) -> int:
        """Return the index of the section's direction in a value with parts for reads, writes and trims."""
        match self.texts.get("rw", "read"):
            case "trim" | "randtrim":
                return 2
            case "write" | "randwrite" | "trimwrite" | "randtrimwrite":  # a trimwrite counts as a write
                return 1
            case _:
                return 0


def refusal_reason(key: str, value: str) -> str:
    """Return why an option is refused; "" if it is not."""
    if _is_harmless(key, value):
        return ""
    if key in _REFUSED:
        return _REFUSED[key]
    if key == "ioengine":
        engine = value.partition(":")[0].strip().lower()
        if engine == "io_uring_cmd":
            return _CHARACTER_DEVICES
        if engine in _REFUSED_ENGINES or "/" in value or ":" in value:
            return "this engine runs programs, loads code or uses the network"
    if key.startswith("disable_") or key == "gtod_reduce":
        return _NO_LATENCY
    supported = key in EXTRA or key in FIELDS_BY_KEY or key in PASSED_OVER or key in BESIDE_OTHERS
    return "" if supported else next((reason for start, reason in _REFUSED_STARTS if key.startswith(start)), "")


def _is_harmless(key: str, value: str) -> bool:
    return key in HARMLESS and _same(value, HARMLESS[key])


def misspelling_reason(key: str, value: str) -> str:
    """Return why fio refuses a value that raidbench could read; "" if fio accepts it. No I/O."""
    name = FIO_NAMES.get(key, key)
    if not value:
        return f"fio requires a value for {name}"
    if key == "filesize" and value == "0":
        return "fio requires a size for a file"
    if _is_flag(key) and not re.fullmatch(r"0|1", value) and not (key in SWITCHES and value.isdecimal()):
        return f"fio does not accept '{clean(value, 40)}': use 0 or 1"
    field = FIELDS_BY_KEY.get(key)
    if field is not None and field.choices and value != value.lower():
        return f"fio does not accept '{clean(value, 40)}': use small letters"
    return ""


def _is_flag(key: str) -> bool:
    field = FIELDS_BY_KEY.get(key)
    if field is not None:
        return field.format is format_flag
    option = EXTRA.get(key)
    return key in SWITCHES or key in ("buffered", "unlink", "create_serialize") or bool(option and option.is_flag)


def apply_option(key: str, value: str, draft: SectionDraft) -> bool:
    """Store an option in `draft`; return False if it is unknown. Raises InvalidValueError for an illegal value."""
    if key in BESIDE_OTHERS or _is_harmless(key, value):
        return True
    if (special := _SPECIAL.get(key)) is not None:
        special(value, draft)
    elif (replaced := PASSED_OVER.get(key)) is not None:
        draft.names_a_file = draft.names_a_file or key == "filename"
        if not replaced.default or not _same(value, replaced.default):
            draft.notes.append(f"{key}={clean(value, 40)} was ignored: {replaced.why}")
    elif (option := EXTRA.get(key)) is not None:
        draft.extra[key] = option.read(value)
    elif (field := FIELDS_BY_KEY.get(key)) is None:
        return False
    else:
        _take_field(field, value, draft)
    return True


def _take_field(field: JobField, value: str, draft: SectionDraft) -> None:
    draft.texts.pop(field.key, None)
    if field.is_size:
        text = format_size(read_size(value))
    elif field.parse is parse_number:
        text = str(read_number(value))
    elif field.is_flag:
        text = "yes" if parse_flag(value) else "no"
    elif field.parse is parse_microseconds:
        text = f"{read_microseconds(value, bare='us')}us"
    elif field.parse is parse_seconds:
        text = _seconds(field, value, draft)
    elif field.parse(value) is None:
        return
    else:
        text = value
    if not (field.key in _NONE_IF_ZERO and re.fullmatch("0(us)?", text)):
        draft.texts[field.key] = text


_NONE_IF_ZERO = frozenset(
    (
        *("blockalign", "io_size", "number_ios", "size"),
        *("fsync", "fdatasync", "thinktime", "thinktime_blocks"),
    )
)
"""Fields for which fio takes 0 as "not set"."""


def _seconds(field: JobField, value: str, draft: SectionDraft) -> str:
    """Return a time rounded up to whole seconds; add a note to `draft` if it had a fraction of a second."""
    microseconds = read_microseconds(value, bare="s")
    seconds = -(-microseconds // SECOND)
    if microseconds % SECOND:
        draft.notes.append(f"{field.fio}={clean(value, 40)} was changed to {seconds} s: raidbench uses whole seconds")
    return str(seconds)


def _same(value: str, default: str) -> bool:
    """Return whether a value is fio's default, in any spelling."""
    if default in ("0", "1"):
        try:
            return parse_flag(value) == parse_flag(default)
        except InvalidValueError:
            pass
    try:
        return read_number(value) == read_number(default)
    except InvalidValueError:
        return value == default


# -- options that set several fields, or differ from the field of the same name -------------------------------------


def _buffered(value: str, draft: SectionDraft) -> None:
    draft.texts["direct"] = "no" if parse_flag(value) else "yes"


def _mix_write(value: str, draft: SectionDraft) -> None:
    if (percent := read_number(value)) > 100:
        raise InvalidValueError("must be a percentage, 0 to 100")
    draft.texts["rwmixread"] = str(100 - percent)


def _time_based(value: str, draft: SectionDraft) -> None:
    draft.time_based = parse_flag(value)


def _loops(value: str, draft: SectionDraft) -> None:
    draft.loops = max(1, read_number(value))


_REPORTED = (50.0, 95.0, 99.0, 99.9, 99.99, 99.999, 99.9999)
"""Percentiles that every run reports if it has enough I/Os."""


def _percentiles(value: str, draft: SectionDraft) -> None:
    parts = value.split(":")
    if not all(re.fullmatch(r"\d{1,3}(\.\d{1,12})?", part.strip(), re.ASCII) for part in parts):
        raise InvalidValueError("percentiles must be separated by colons: 99:99.9:99.99")
    if any(float(part) not in _REPORTED for part in parts):
        reported = ":".join(f"{percent:g}" for percent in _REPORTED)
        draft.notes.append(f"percentile_list={clean(value, 80)} was ignored: raidbench reports {reported}")


def _file_size(value: str, draft: SectionDraft) -> None:
    draft.file_size = read_size(value) or None


def _position(key: str) -> Callable[[str, SectionDraft], None]:
    """Return a parser for a position or size on the target, in bytes or percent."""

    def read(value: str, draft: SectionDraft) -> None:
        for name in (key, f"{key}_percent"):
            draft.texts.pop(name, None)
        percent = read_percent(value)
        if percent is None:
            if number := read_size(value):
                draft.texts[key] = format_size(number)
        elif percent != (0 if key == "offset" else 100):
            draft.texts[f"{key}_percent"] = str(percent)
        if key == "size":
            draft.names_all = percent == 100

    return read


def _not_in_percent(key: str) -> Callable[[str, SectionDraft], None]:
    def read(value: str, draft: SectionDraft) -> None:
        if read_percent(value) is not None:
            raise InvalidValueError(f"'{clean(value, 40)}' is a share of the target: use a size instead")
        _take_field(FIELDS_BY_KEY[key], value, draft)

    return read


def _block_size(value: str, draft: SectionDraft) -> None:
    sizes = [read_size(part) if part else 4096 for part in split_by_direction(value)]
    read, write, trim = sizes
    if draft.trims_and_writes and trim != write:
        raise InvalidValueError("different block sizes for trims and writes are not supported")
    draft.texts.pop("bs_write", None)
    draft.texts["bs"] = format_size(sizes[draft.side])
    if draft.mixed and write != read:
        draft.texts["bs_write"] = format_size(write)


def _of_one_side(value: str, draft: SectionDraft) -> str:
    """Return the part of `value` that applies to the direction of the section.

    Raises InvalidValueError if that part is missing, or if reads and writes of a mixed job have different parts.
    """
    parts = split_by_direction(value)
    if draft.mixed and parts[0] != parts[1]:
        raise InvalidValueError("different mixes of block sizes for reads and writes are not supported")
    part = parts[draft.side]
    if not part:
        raise InvalidValueError(f"'{clean(value, 40)}' has no value for the direction of this job")
    return part


def _split(value: str, draft: SectionDraft) -> None:
    sizes: list[int] = []
    shares: list[int | None] = []
    for part in _of_one_side(value, draft).split(":"):
        size, _, percent = part.partition("/")
        sizes.append(read_size(size))
        shares.append(read_number(percent) if percent else None)
    draft.texts["bssplit"] = format_split(tuple(zip(sizes, fill_shares(shares), strict=True)))


def _range(value: str, draft: SectionDraft) -> None:
    first, mark, last = re.sub("[:-]", "-", _of_one_side(value, draft), count=1).partition("-")
    if not mark:
        raise InvalidValueError(f"'{clean(value, 40)}' is not a range of block sizes")
    least, most = sorted((read_size(first), read_size(last)))
    draft.texts["bsrange"] = f"{format_size(least)}-{format_size(most)}"


def _distribution(value: str, draft: SectionDraft) -> None:
    name, colon, rest = value.partition(":")
    if name == "zoned" and colon:
        if "," in rest:
            raise InvalidValueError("separate zones for reads and writes are not supported")
        zones = [zone.partition("/") for zone in rest.split(":")]
        shares = [read_number(zone[0]) for zone in zones]
        parts = fill_shares([read_number(zone[2]) if zone[2] else None for zone in zones])
        value = "zoned:" + ":".join(f"{share}/{part}" for share, part in zip(shares, parts, strict=True))
    _take_field(FIELDS_BY_KEY["random_distribution"], value, draft)


def _rate(key: str) -> Callable[[str, SectionDraft], None]:
    """Return a parser for the rate limit `key`. fio applies a single value to reads and to writes separately."""

    def read(value: str, draft: SectionDraft) -> None:
        for name in (key, f"{key}_read", f"{key}_write"):
            draft.texts.pop(name, None)
        rates = dict(
            zip(DIRECTIONS, (read_number(part) if part else 0 for part in split_by_direction(value)), strict=True)
        )
        if draft.trims_and_writes:  # trims and writes alternate, so the smaller limit applies to both
            rates["write"] = min((rates[name] for name in ("write", "trim") if rates[name]), default=0)
        names = DIRECTIONS[:2] if draft.mixed else DIRECTIONS[draft.side : draft.side + 1]
        for name in names:
            if rates[name]:
                draft.texts[f"{key}_{name}" if draft.mixed else key] = str(rates[name])

    return read


_SPECIAL: Mapping[str, Callable[[str, SectionDraft], None]] = {
    "buffered": _buffered,
    "rwmixwrite": _mix_write,
    "time_based": _time_based,
    "loops": _loops,
    "filesize": _file_size,
    "size": _position("size"),
    "offset": _position("offset"),
    "io_size": _not_in_percent("io_size"),
    "offset_increment": _not_in_percent("offset_increment"),
    "bs": _block_size,
    "bssplit": _split,
    "bsrange": _range,
    "random_distribution": _distribution,
    "rate_iops": _rate("rate_iops"),
    "rate": _rate("rate"),
    "percentile_list": _percentiles,
}


# -- options that depend on each other --------------------------------------------------------------------------------


def complete_draft(draft: SectionDraft) -> bool:
    """Fill in fio's defaults; return whether the job file sets a run time.

    Raises InvalidValueError if options conflict.
    """
    texts = draft.texts
    # fio's defaults where they differ from those of raidbench.
    for key, default in (("direct", "no"), ("ioengine", "psync"), ("rw", "read"), ("norandommap", "no")):
        texts.setdefault(key, default)
    _leave_out_idle(draft)
    _complete_end(draft)
    _complete_place(draft)
    _complete_rates(draft)
    if "thinktime_blocks" in texts:
        draft.extra.setdefault("thinktime_blocks_type", "complete")
    elif "thinktime" not in texts:
        draft.extra.pop("thinktime_blocks_type", None)
    passed_on = [f"{key}={value}" for key, value in sorted(draft.extra.items()) if value != EXTRA[key].default]
    if passed_on:
        texts["extra"] = " ".join(passed_on)
    return texts["runtime"] != "0"


def _leave_out_idle(draft: SectionDraft) -> None:
    """Remove options that have no effect in fio, such as options of [global] for jobs of another kind."""
    texts = draft.texts
    sequential = not texts["rw"].startswith("rand")
    reading = texts["rw"] in ("read", "randread")
    rated = any(key.startswith(("rate_iops", "rate")) for key in texts)
    idle = {
        **dict.fromkeys(("blockalign", "random_distribution", "percentage_random"), sequential and "random jobs"),
        **dict.fromkeys(("fsync", "fdatasync", "sync", *GROUPS["Written data"]), reading and "jobs that write"),
        "thinktime_blocks": "thinktime" not in texts and "jobs with a thinktime",
        "arrival": not rated and "jobs with a rate",
        "cpus_allowed_policy": "cpus_allowed" not in texts and "jobs with cpus_allowed",
    }
    for key, where in idle.items():
        if where and key in texts:
            draft.notes.append(f"{FIO_NAMES[key]}={clean(texts.pop(key), 40)} was ignored: it only affects {where}")


def _complete_end(draft: SectionDraft) -> None:
    """Set when the job ends: after its run time, or without time_based after the amount of I/O at which fio ends it."""
    texts = draft.texts
    texts.setdefault("ramp", "0")
    limit = texts.setdefault("runtime", "0")
    if draft.time_based and limit != "0":
        for key in ("number_ios", "io_size"):
            if texts.pop(key, None) is not None:
                draft.notes.append(f"{key} was ignored, as fio does with time_based")
        if draft.loops > 1:
            draft.notes.append(f"loops={draft.loops} was ignored, as fio does with time_based")
        return
    if draft.time_based:
        draft.notes.append("time_based has no effect without a run time: the job ends after its amount, as with fio")
    if "io_size" not in texts or draft.loops > 1:
        texts["passes"] = str(draft.loops)


def _complete_place(draft: SectionDraft) -> None:
    """Set the region of the target that is used.

    fio gives each job a region of this size, but raidbench divides one region among the jobs.
    """
    texts = draft.texts
    if draft.names_all and "passes" in texts and {"offset", "offset_percent"} & texts.keys():
        raise InvalidJobError({"size": "all of the target does not fit behind an offset: leave the size out"})
    if draft.file_size is not None:
        _complete_file(draft, draft.file_size)
    jobs = int(texts.get("numjobs", "1"))
    if jobs < 2 or jobs > 65536:
        texts.pop("offset_increment", None)
        return
    if not draft.names_a_file:
        draft.notes.append(
            f"Without filename fio gives each of the {jobs} jobs its own file: here all of them use the target"
        )
    step = read_size(texts.pop("offset_increment", "0"))
    if step or not texts["rw"].startswith("rand"):
        texts["offset_increment"] = format_size(step)
    if step and "size" in texts:
        texts["size"] = format_size(read_size(texts["size"]) + step * (jobs - 1))


def _complete_file(draft: SectionDraft, file_size: int) -> None:
    """Use `file_size` as the region, and a smaller `size` as the amount. Raises InvalidValueError for an offset."""
    texts = draft.texts
    if {"offset", "offset_percent", "size_percent"} & texts.keys():
        raise InvalidJobError(
            {"filesize": ("is not supported together with an offset or a share of the target: use a size")}
        )
    size = read_size(texts["size"]) if "size" in texts else file_size
    if size < file_size and texts["rw"].startswith("rand"):
        # fio draws random offsets from the complete file, and ends after `size` bytes.
        texts["size"] = format_size(file_size)
        if "passes" in texts and not {"io_size", "number_ios"} & texts.keys():
            texts["io_size"] = format_size(size)
        return
    texts["size"] = format_size(min(size, file_size))


def _complete_rates(draft: SectionDraft) -> None:
    """Convert IOPS limits: fio counts them in units of the smallest block, raidbench in I/Os."""
    texts = draft.texts
    for key in ("rate_iops", "rate"):
        both = [int(texts[f"{key}_{side}"]) for side in ("read", "write") if f"{key}_{side}" in texts]
        if len(both) == 2 and round(sum(both) * int(texts.get("rwmixread", "50")) / 100) == both[0]:
            texts[key] = str(sum(both))
            del texts[f"{key}_read"], texts[f"{key}_write"]
    if texts.get("arrival") == "poisson":
        return
    smallest, mean = _blocks(texts)
    if smallest == mean:
        return
    for key in ("rate_iops", "rate_iops_read", "rate_iops_write"):
        if key in texts:
            rate = max(1, round(int(texts[key]) * smallest / mean))
            draft.notes.append(
                f"fio counts {key.partition('_read')[0].partition('_write')[0]}={texts[key]} in units of the "
                f"smallest block, which is {rate} I/Os of these sizes per second"
            )
            texts[key] = str(rate)


def _blocks(texts: Mapping[str, str]) -> tuple[int, float]:
    """Return the smallest and the mean block size in bytes. They are equal if the job has a single block size."""
    if split := texts.get("bssplit"):
        parts = [
            (read_size(size), int(percent)) for size, _, percent in (part.partition("/") for part in split.split(":"))
        ]
        return min(size for size, _ in parts), sum(size * percent for size, percent in parts) / 100
    if span := texts.get("bsrange"):
        least, _, most = span.partition("-")
        return read_size(least), (read_size(least) + read_size(most)) / 2
    return 1, 1
