"""Types of the fields of a job, and the parsers for their text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum

from app.core.fio.sizes import format_size, parse_size
from backends.errors import InvalidValueError
from backends.text import clean

Split = tuple[tuple[int, int], ...]
"""Block sizes with their percentages: ((512, 10), (4096, 90))."""

Span = tuple[int, int]
"""The smallest and the largest block size of a range."""


class Pattern(StrEnum):
    """Pattern of the I/O: fio's `rw`."""

    READ = "read"
    WRITE = "write"
    RANDREAD = "randread"
    RANDWRITE = "randwrite"
    READWRITE = "rw"
    RANDRW = "randrw"
    TRIM = "trim"
    RANDTRIM = "randtrim"
    TRIMWRITE = "trimwrite"
    RANDTRIMWRITE = "randtrimwrite"


class Engine(StrEnum):
    """fio's `ioengine`, limited to engines that measure a local device."""

    LIBAIO = "libaio"
    IO_URING = "io_uring"
    PSYNC = "psync"
    PVSYNC2 = "pvsync2"
    SYNC = "sync"
    POSIXAIO = "posixaio"

    @property
    def keeps_a_queue(self) -> bool:
        """Return whether one job can have more than one I/O in flight."""
        return self in (Engine.LIBAIO, Engine.IO_URING, Engine.POSIXAIO)


class Arrival(StrEnum):
    """Arrival times of rate-limited requests: fio's `rate_process`."""

    UNIFORM = "uniform"
    POISSON = "poisson"


class CpuPolicy(StrEnum):
    """How jobs share processors: fio's `cpus_allowed_policy`."""

    SHARED = "shared"
    SPLIT = "split"


class SyncMode(StrEnum):
    """fio's `sync`: how the target is opened for synchronous writes."""

    SYNC = "sync"
    DSYNC = "dsync"


class DedupeMode(StrEnum):
    """Source of duplicate blocks: fio's `dedupe_mode`."""

    REPEAT = "repeat"
    WORKING_SET = "working_set"


_SECONDS = {"": 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_YES = dict.fromkeys(("1", "yes", "true", "on"), True) | dict.fromkeys(("0", "no", "false", "off"), False)
_ALIASES = {"readwrite": "rw", "linear": "uniform"}


def parse_seconds(text: str) -> int:
    """Return the seconds in `60`, `60s`, `5m` or `2h`. Raises InvalidValueError for any other text."""
    match = re.fullmatch(r"(\d{1,9})\s*([a-z]*)", text.strip().lower())
    if match is None or match[2] not in _SECONDS:
        raise InvalidValueError(f"'{clean(text, 40)}' is not a time in whole seconds", hint="Write 60, 60s, 5m or 2h.")
    return int(match[1]) * _SECONDS[match[2]]


def parse_number(text: str) -> int:
    """Return a whole number that is not negative. Raises InvalidValueError for any other text."""
    if not re.fullmatch(r"\d{1,18}", text.strip(), re.ASCII):
        raise InvalidValueError(f"'{clean(text, 40)}' is not a whole number")
    return int(text)


def parse_flag(text: str) -> bool:
    """Return the boolean of a yes or no in any usual spelling. Raises InvalidValueError for any other text."""
    flag = _YES.get(text.strip().lower())
    if flag is None:
        raise InvalidValueError(f"'{clean(text, 40)}' is not yes or no")
    return flag


def parse_yes_or_none(text: str) -> bool | None:
    """Return True for yes, or None for no, which is fio's default.

    Raises InvalidValueError for any other text.
    """
    return parse_flag(text) or None


def parse_no_or_none(text: str) -> bool | None:
    """Return False for no, or None for yes, which is fio's default.

    Raises InvalidValueError for any other text.
    """
    return None if parse_flag(text) else False


_SYNC = {"none": None, "0": None, "sync": SyncMode.SYNC, "1": SyncMode.SYNC, "dsync": SyncMode.DSYNC}


def parse_sync(text: str) -> SyncMode | None:
    """Return the mode of synchronous writes, or None for normal writes. Raises InvalidValueError for any other text."""
    word = text.strip().lower()
    if word not in _SYNC:
        raise InvalidValueError(
            f"'{clean(text, 40)}' is not a mode of synchronous writes", hint="Write sync, dsync or none."
        )
    return _SYNC[word]


_PATTERN = re.compile(r'(?:0[xX][0-9a-fA-F]+|-?\d{1,19}|%o|"[ !%&()+,./0-9:<=>@A-Z^_a-z{|}~-]*")+', re.ASCII)
_LONGEST_PATTERN = 512


def parse_buffer_pattern(text: str) -> str:
    """Return fio's `buffer_pattern`: numbers, strings in double quotes, or both.

    Raises InvalidValueError for any other text. A name in single quotes is refused, because fio would read that file.
    """
    pattern = text.strip()
    if "'" in pattern:
        raise InvalidValueError("a pattern in single quotes names a file, and fio would read other files")
    if len(pattern) > _LONGEST_PATTERN or not _PATTERN.fullmatch(pattern):
        raise InvalidValueError(
            f"'{clean(text, 40)}' is not a data pattern", hint='Write 0xdeadbeef, 1234 or "text" in double quotes.'
        )
    return pattern


def parse_split(text: str) -> Split:
    """Return `512/10:4k/90` as ((512, 10), (4096, 90)). Raises InvalidValueError for any other text."""
    if "," in text:
        raise InvalidValueError("different block sizes for reads and writes are not supported")
    parts: list[tuple[int, int]] = []
    for part in text.strip().split(":"):
        size, slash, percent = part.partition("/")
        if not slash or not percent.strip():
            raise InvalidValueError(
                f"'{clean(part, 40)}' is not a block size with its percentage",
                hint="Write size/percent separated by colons: 512/10:4k/60:64k/30.",
            )
        parts.append((parse_size(size), parse_number(percent)))
    return tuple(parts)


def parse_span(text: str) -> Span:
    """Return the block sizes in `4k-64k`. Raises InvalidValueError for any other text."""
    first, dash, last = text.strip().replace(":", "-").partition("-")
    if not dash:
        raise InvalidValueError(f"'{clean(text, 40)}' is not a range of block sizes", hint="Write 4k-64k.")
    return parse_size(first), parse_size(last)


def parse_arrival(text: str) -> Arrival | None:
    """Return the kind of arrivals; None for evenly spaced (fio's default). Raises InvalidValueError for other text."""
    value = one_of(Arrival, "a way for requests to arrive")(text)
    return Arrival.POISSON if value is Arrival.POISSON else None


def one_of(kind: type[StrEnum], description: str) -> Callable[[str], object]:
    """Return a parser that accepts only the values of `kind`, and raises InvalidValueError for any other text.

    `description`: name of such a value in the error message: `an I/O engine`.
    """

    def parse(text: str) -> object:
        word = text.strip().lower()
        try:
            return kind(_ALIASES.get(word, word))
        except ValueError:
            raise InvalidValueError(
                f"'{clean(text, 40)}' is not {description}", hint="One of " + ", ".join(kind) + "."
            ) from None

    return parse


_MICROSECONDS = {"": 1, "us": 1, "usec": 1, "ms": 1000, "msec": 1000, "s": 10**6, "sec": 10**6}


def parse_microseconds(text: str) -> int:
    """Return the microseconds in `500`, `500us`, `2ms` or `1s`. Raises InvalidValueError for any other text."""
    match = re.fullmatch(r"(\d{1,9})\s*([a-z]*)", text.strip().lower(), re.ASCII)
    if match is None or match[2] not in _MICROSECONDS:
        raise InvalidValueError(f"'{clean(text, 40)}' is not a short time", hint="Write 500us, 2ms or 1s.")
    return int(match[1]) * _MICROSECONDS[match[2]]


_NUMBER = r"\d{1,6}(?:\.\d{1,6})?"
_ZONE = r"\d{1,3}/\d{1,3}"
_DISTRIBUTION = re.compile(rf"(random)|(zipf|pareto|normal):({_NUMBER})|zoned:({_ZONE}(?::{_ZONE})*)", re.ASCII)
_RANGES: Mapping[str, tuple[str, Callable[[float], bool]]] = {
    "zipf": ("theta, above 0 and not 1", lambda value: 0 < value != 1),
    "pareto": ("a power between 0 and 1", lambda value: 0 < value < 1),
    "normal": ("a deviation of 0 to 100 percent", lambda value: 0 < value <= 100),
}


def parse_distribution(text: str) -> str | None:
    """Return fio's distribution of random I/Os, None for a uniform one. Raises InvalidValueError for illegal text."""
    spelling = "".join(text.lower().split())
    match = _DISTRIBUTION.fullmatch(spelling)
    if match is None:
        raise InvalidValueError(
            f"'{clean(text, 40)}' is not a distribution of random I/Os",
            hint="Write zipf:1.1, pareto:0.9, normal:20 or zoned:60/10:40/90 (% of the I/Os / % of the region).",
        )
    if match[1]:
        return None
    if match[2]:
        limits, holds = _RANGES[match[2]]
        if not holds(float(match[3])):
            raise InvalidValueError(f"{match[2]} needs {limits}")
        return spelling
    zones = [part.split("/") for part in match[4].split(":")]
    for index, name in enumerate(("I/Os", "the region")):
        total = sum(int(zone[index]) for zone in zones)
        if total != 100:
            raise InvalidValueError(f"the zones add up to {total} % of {name} instead of 100 %")
    return spelling


_RANGE = r"\d{1,4}(?:-\d{1,4})?"
_LIST = re.compile(rf"{_RANGE}(?:,{_RANGE})*", re.ASCII)


def parse_list(text: str) -> str:
    """Return processor or node numbers as a string without blanks, `0-3,8`. Raises InvalidValueError for other text."""
    numbers = "".join(text.split())
    wrong = not _LIST.fullmatch(numbers)
    if wrong or any(int(part.partition("-")[0]) > int(part.rpartition("-")[2]) for part in numbers.split(",")):
        raise InvalidValueError(f"'{clean(text, 40)}' is not a list of numbers", hint="Write 0-3,8.")
    return numbers


def parse_nodes(text: str) -> str:
    """Return NUMA node numbers as a string, such as `0-3,8`, or `all`. Raises InvalidValueError for any other text."""
    return "all" if text.strip().lower() == "all" else parse_list(text)


def parse_memory_policy(text: str) -> str:
    """Return fio's `numa_mem_policy`, such as `local` or `bind:0`. Raises InvalidValueError for any other text."""
    mode, colon, nodes = text.strip().lower().partition(":")
    if mode in ("default", "local") and not colon:
        return mode
    if mode == "prefer" and nodes.strip().isascii() and nodes.strip().isdigit():
        return f"prefer:{int(nodes)}"
    if mode in ("bind", "interleave") and colon:
        return f"{mode}:{parse_list(nodes)}"
    raise InvalidValueError(
        f"'{clean(text, 40)}' is not a NUMA memory policy", hint="Write local, prefer:0, bind:0 or interleave:0-1."
    )


def format_bytes(value: object) -> str:
    """Return a size as text that `parse_size` reads."""
    return format_size(value) if isinstance(value, int) else str(value)


def format_split(value: object) -> str:
    """Return block sizes as text that `parse_split` reads."""
    if not isinstance(value, tuple):
        return str(value)
    return ":".join(f"{format_size(size)}/{percent}" for size, percent in value)


def format_span(value: object) -> str:
    """Return a range of block sizes as text that `parse_span` reads."""
    return "-".join(format_size(size) for size in value) if isinstance(value, tuple) else str(value)


def format_flag(value: object) -> str:
    """Return yes or no."""
    return "yes" if value else "no"


def format_microseconds(value: object) -> str:
    """Return a short time as text that `parse_microseconds` reads: 2000 -> `2ms`."""
    if not isinstance(value, int):
        return str(value)
    unit = next((unit for unit in ("s", "ms") if value and value % _MICROSECONDS[unit] == 0), "us")
    return f"{value // _MICROSECONDS[unit]}{unit}"
