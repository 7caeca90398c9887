"""The options of fio's job files: which are understood, which may be passed over, which are refused and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from app.engine.fio.fields import FIELDS
from app.engine.fio.job_values import parse_flag, parse_number
from backends.errors import InvalidValueError
from backends.text import clean

_PROGRAM = "it would run a program"
_TARGET = "the target is chosen in raidbench, never by a file"
ELSEWHERE = "it would read or write other files"
_ZONES = "raidbench measures no zoned disks: run the job with fio itself"
_SEARCH = "fio would change the load to meet a latency: hold the load with rate_iops, or sweep iodepth"
_CHARACTER_DEVICES = (
    "io_uring_cmd sends commands to NVMe character devices, which the guard does not judge: use ioengine=io_uring on"
    " the block device"
)

_REFUSED: Mapping[str, str] = {
    **dict.fromkeys(("exec_prerun", "exec_postrun", "exec_preinit", "trigger", "trigger_file"), _PROGRAM),
    **dict.fromkeys(("trigger_remote", "trigger_timeout"), _PROGRAM),
    **dict.fromkeys(("filename", "directory", "opendir", "filename_format", "nrfiles", "lockfile"), _TARGET),
    **dict.fromkeys(("read_iolog", "write_iolog", "merge_blktrace_file", "replay_redirect"), ELSEWHERE),
    **dict.fromkeys(("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"), ELSEWHERE),
    **dict.fromkeys(("verify_state_save", "verify_state_load", "mmap_file", "aux-path", "aux_path"), ELSEWHERE),
    "allow_mounted_write": "nothing mounted is ever written to",
    "allow_file_create": "a mistyped device name would become a file in memory",
    "include": ELSEWHERE,
    "kb_base": "sizes would mean something else",
    **dict.fromkeys(("read_beyond_wp", "max_open_zones", "job_max_open_zones", "ignore_zone_limits"), _ZONES),
    "max_latency": "fio would end the run at the first slow I/O: raidbench reports the slowest instead",
    "cmd_type": _CHARACTER_DEVICES,
    "unlink": "the target would be deleted",
    "unlink_each_loop": "the target would be deleted",
}
_REFUSED_STARTS = (
    ("zone", _ZONES),
    ("latency_", _SEARCH),
    ("write_", ELSEWHERE),
    ("trigger", _PROGRAM),
    ("verify", "raidbench measures, it does not verify"),
)
_SWITCHED_OFF: Mapping[str, str] = {"zonemode": "none", "zonesize": "0", "latency_target": "0", "max_latency": "0"}
"""fio's defaults of options that are refused with any other value."""
_NO_LATENCY = "latencies would be missing"
_REFUSED_ENGINES = ("exec", "external", "net", "netsplice", "cpuio", "libhdfs", "nbd", "http", "rbd", "rados")

PASSED_OVER: Mapping[str, str] = {  # option: what happens instead; "" if it makes no difference
    "description": "",
    "group_reporting": "",
    "thread": "",
    "randrepeat": "",
    "invalidate": "",
    "fallocate": "",
    "exitall": "",
    "exitall_on_error": "",
    "new_group": "",
    "create_serialize": "",
    "create_on_open": "",
    "overwrite": "",
    "disk_util": "",
    "clat_percentiles": "",
    "lat_percentiles": "",
    "slat_percentiles": "",
    "thinktime_blocks_type": "blocks are counted as they are issued",
    "iodepth_batch": "requests are submitted as fio does by default",
    "iodepth_batch_submit": "requests are submitted as fio does by default",
    "iodepth_batch_complete": "completions are collected as fio does by default",
    "iodepth_low": "the queue is kept full",
    "stonewall": "sections run one at a time anyway",
    "wait_for_previous": "sections run one at a time anyway",
    "startdelay": "a job starts at once",
    "loops": "a job runs by time",
    "filesize": "",
    "end_fsync": "",
    "softrandommap": "",
    "random_generator": "",
    **dict.fromkeys(_SWITCHED_OFF, ""),
}

ALIASES: Mapping[str, str] = {name: field.key for field in FIELDS for name in (field.fio, *field.aliases)}
"""fio's names for fields."""

LAST = ("rate_iops", "rate", "time_based")
"""Options that mean something else by what the others say."""

_BY_KEY = {field.key: field for field in FIELDS}


def refusal(key: str, value: str) -> str:
    """Why an option is refused; "" if it is not."""
    if value.strip() == _SWITCHED_OFF.get(key):
        return ""
    if key in _REFUSED:
        return _REFUSED[key]
    if key == "ioengine":
        engine = value.partition(":")[0].strip().lower()
        if engine == "io_uring_cmd":
            return _CHARACTER_DEVICES
        if engine in _REFUSED_ENGINES or "/" in value or ":" in value:
            return "this engine runs programs, loads code or leaves the machine"
    if key.startswith("disable_") or key == "gtod_reduce":
        return _NO_LATENCY
    return next((reason for start, reason in _REFUSED_STARTS if key.startswith(start)), "")


def take(key: str, value: str, texts: dict[str, str], notes: list[str]) -> bool:
    """Put an option's meaning into `texts`; False if it is unknown. Raises InvalidValueError."""
    if (special := _SPECIAL.get(key)) is not None:
        special(value, texts, notes)
    elif (field := _BY_KEY.get(key)) is None:
        return False
    elif field.is_size:
        if (size := _size(key, value)) is not None:
            texts[key] = size
    else:
        texts[key] = _flag_text(value) if field.is_flag else value
    return True


def _flag_text(value: str) -> str:
    return "yes" if parse_flag(value) else "no"


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


def _buffered(value: str, texts: dict[str, str], _notes: list[str]) -> None:
    texts["direct"] = "no" if parse_flag(value) else "yes"


def _mix_write(value: str, texts: dict[str, str], _notes: list[str]) -> None:
    if (percent := parse_number(value)) > 100:
        raise InvalidValueError("a percentage, 0 to 100")
    texts["rwmixread"] = str(100 - percent)


def _time_based(value: str, texts: dict[str, str], notes: list[str]) -> None:
    if parse_flag(value):
        for key in ("number_ios", "io_size"):
            if texts.pop(key, None) is not None:
                notes.append(f"{key} was not taken over: with time_based fio passes over it")
    elif not {"number_ios", "io_size"} & texts.keys():
        notes.append("time_based=0 was not taken over: a job runs by time")


def _runtime(value: str, texts: dict[str, str], notes: list[str]) -> None:
    if value.strip() == "0":
        notes.append("runtime=0 was not taken over: a job runs by time")
    else:
        texts["runtime"] = value


def _offset(value: str, _texts: dict[str, str], _notes: list[str]) -> None:
    if value.strip() not in ("0", "0%"):
        raise InvalidValueError("raidbench works from the start of the target")


_REPORTED = (50.0, 95.0, 99.0, 99.9, 99.99, 99.999, 99.9999)
"""Percentiles of every run, as far as its I/Os carry them."""


def _percentiles(value: str, _texts: dict[str, str], notes: list[str]) -> None:
    asked = value.split(":")
    if not all(re.fullmatch(r"\d{1,3}(\.\d{1,12})?", part.strip(), re.ASCII) for part in asked):
        raise InvalidValueError("percentiles are separated by colons: 99:99.9:99.99")
    if any(float(part) not in _REPORTED for part in asked):
        reported = ":".join(f"{percent:g}" for percent in _REPORTED)
        notes.append(f"percentile_list={clean(value, 80)} was not taken over: raidbench reports {reported}")


def _rate(key: str) -> Callable[[str, dict[str, str], list[str]], None]:
    """A rate for reads and writes; fio holds each of them by it, whatever their shares are."""

    def read(value: str, texts: dict[str, str], notes: list[str]) -> None:
        rates = [_BY_KEY[key].parse(part) for part in value.split(",") if part.strip()]
        if not rates:
            raise InvalidValueError("names no rate")
        reads, writes, trims = (
            rate if isinstance(rate, int) else 0 for rate in (rates[min(at, len(rates) - 1)] for at in range(3))
        )
        match texts.get("rw", "read"):
            case "rw" | "readwrite" | "randrw":
                share = round(100 * reads / max(1, reads + writes))
                texts |= {key: str(reads + writes), "rwmixread": str(share)}
                notes.append(f"{key}={clean(value, 40)} holds reads and writes each: {share} % of the I/Os are reads")
            case "write" | "randwrite" | "trimwrite" | "randtrimwrite":  # the trims follow the writes
                texts[key] = str(writes)
            case "trim" | "randtrim":
                texts[key] = str(trims)
            case _:
                texts[key] = str(reads)

    return read


_SPECIAL: Mapping[str, Callable[[str, dict[str, str], list[str]], None]] = {
    "buffered": _buffered,
    "rwmixwrite": _mix_write,
    "time_based": _time_based,
    "runtime": _runtime,
    "offset": _offset,
    "rate_iops": _rate("rate_iops"),
    "rate": _rate("rate"),
    "percentile_list": _percentiles,
}
