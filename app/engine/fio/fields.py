"""The fields of a job, declared once: form, command line, sweep axis and job file import read this table."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from app.engine.fio.sizes import format_size, parse_size
from backends.errors import InvalidValueError
from backends.text import clean

Split = tuple[tuple[int, int], ...]
"""Block sizes with their percentages: ((512, 10), (4096, 90))."""


class Pattern(StrEnum):
    """fio's `rw`, without the trims: a trim destroys data and measures no transfer."""

    READ = "read"
    WRITE = "write"
    RANDREAD = "randread"
    RANDWRITE = "randwrite"
    READWRITE = "rw"
    RANDRW = "randrw"


class Engine(StrEnum):
    """fio's `ioengine`, those that measure a local device."""

    LIBAIO = "libaio"
    IO_URING = "io_uring"
    PSYNC = "psync"
    PVSYNC2 = "pvsync2"
    SYNC = "sync"
    POSIXAIO = "posixaio"

    @property
    def keeps_a_queue(self) -> bool:
        """Whether one job can have more than one I/O in flight."""
        return self in (Engine.LIBAIO, Engine.IO_URING, Engine.POSIXAIO)


class Arrival(StrEnum):
    """When requests of a held rate come: fio's `rate_process`."""

    UNIFORM = "uniform"
    POISSON = "poisson"


_SECONDS = {"": 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_YES = {
    "1": True,
    "yes": True,
    "true": True,
    "on": True,
    "0": False,
    "no": False,
    "false": False,
    "off": False,
}
_ALIASES = {"readwrite": "rw", "linear": "uniform"}


def parse_seconds(text: str) -> int:
    """Whole seconds meant by `60`, `60s`, `5m`, `2h`. Raises InvalidValueError."""
    match = re.fullmatch(r"(\d{1,9})\s*([a-z]*)", text.strip().lower())
    if match is None or match[2] not in _SECONDS:
        raise InvalidValueError(f"'{clean(text, 40)}' is not a time in whole seconds", hint="Write 60, 60s, 5m or 2h.")
    return int(match[1]) * _SECONDS[match[2]]


def parse_number(text: str) -> int:
    """A whole number, not negative. Raises InvalidValueError."""
    if not re.fullmatch(r"\d{1,18}", text.strip(), re.ASCII):
        raise InvalidValueError(f"'{clean(text, 40)}' is not a whole number")
    return int(text)


def parse_flag(text: str) -> bool:
    """Yes or no in any usual spelling. Raises InvalidValueError."""
    flag = _YES.get(text.strip().lower())
    if flag is None:
        raise InvalidValueError(f"'{clean(text, 40)}' is neither yes nor no")
    return flag


def parse_split(text: str) -> Split:
    """`512/10:4k/90` as ((512, 10), (4096, 90)). Raises InvalidValueError."""
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


def parse_arrival(text: str) -> Arrival | None:
    """When requests come; None for fio's default, evenly. Raises InvalidValueError."""
    found = _one_of(Arrival, "a way for requests to arrive")(text)
    return Arrival.POISSON if found is Arrival.POISSON else None


def _one_of(kind: type[StrEnum], what: str) -> Callable[[str], object]:
    def parse(text: str) -> object:
        word = text.strip().lower()
        try:
            return kind(_ALIASES.get(word, word))
        except ValueError:
            raise InvalidValueError(
                f"'{clean(text, 40)}' is not {what}", hint="One of " + ", ".join(kind) + "."
            ) from None

    return parse


@dataclass(frozen=True, slots=True, kw_only=True)
class JobField:
    """One field of a job: its name on the command line, its words, how it is read and written."""

    key: str
    """Name of the attribute of `Job`; `--rate-iops` on the command line is `rate_iops` here."""
    label: str
    """What a form shows before it."""
    help: str
    """One sentence."""
    parse: Callable[[str], object]
    """Text to value. Raises InvalidValueError."""
    format: Callable[[object], str] = str
    """Value to text that `parse` reads back."""
    choices: tuple[str, ...] = ()
    """All values there are; empty for free text."""
    optional: bool = False
    """Whether an empty text is a value (None)."""


def _size_text(value: object) -> str:
    return format_size(value) if isinstance(value, int) else str(value)


def _split_text(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    return ":".join(f"{format_size(size)}/{percent}" for size, percent in value)


FIELDS: tuple[JobField, ...] = (
    JobField(
        key="rw",
        label="Pattern",
        help="Sequential or random, reads, writes or both.",
        parse=_one_of(Pattern, "an I/O pattern"),
        choices=tuple(Pattern),
    ),
    JobField(key="bs", label="Block size", help="Bytes of one I/O: 4k, 1M.", parse=parse_size, format=_size_text),
    JobField(
        key="bssplit",
        label="Block size mix",
        help="Several block sizes with their percentages, instead of one: 512/10:4k/60:64k/30.",
        parse=parse_split,
        format=_split_text,
        optional=True,
    ),
    JobField(
        key="blockalign",
        label="Alignment",
        help="Random offsets are multiples of it; fio's default is the smallest block size.",
        parse=parse_size,
        format=_size_text,
        optional=True,
    ),
    JobField(key="iodepth", label="Queue depth", help="I/Os each job keeps in flight.", parse=parse_number),
    JobField(key="numjobs", label="Jobs", help="Threads doing the same at once.", parse=parse_number),
    JobField(
        key="rwmixread",
        label="Read share",
        help="Percent of reads when reading and writing.",
        parse=parse_number,
    ),
    JobField(key="runtime", label="Run time", help="Measured seconds, after the ramp.", parse=parse_seconds),
    JobField(key="ramp", label="Ramp", help="Seconds of warm-up that do not count.", parse=parse_seconds),
    JobField(
        key="size",
        label="Region",
        help="Use only this much of the target, from its start; empty for all of it.",
        parse=parse_size,
        format=_size_text,
        optional=True,
    ),
    JobField(
        key="ioengine",
        label="I/O engine",
        help="How requests reach the kernel.",
        parse=_one_of(Engine, "an I/O engine raidbench uses"),
        choices=tuple(Engine),
    ),
    JobField(
        key="direct",
        label="Direct I/O",
        help="Go past the page cache; without it memory is measured.",
        parse=parse_flag,
        format=lambda value: "yes" if value else "no",
        choices=("yes", "no"),
    ),
    JobField(
        key="rate_iops",
        label="IOPS limit",
        help="Hold every job at this many I/Os per second, reads and writes together; empty for as fast as it goes.",
        parse=parse_number,
        optional=True,
    ),
    JobField(
        key="arrival",
        label="Arrivals",
        help="When the requests of a held rate come: evenly, or at random as from many users (Poisson).",
        parse=parse_arrival,
        choices=tuple(Arrival),
        optional=True,
    ),
    JobField(
        key="offset_increment",
        label="Stream distance",
        help="How far apart jobs start; empty to share the target out between sequential jobs.",
        parse=parse_size,
        format=_size_text,
        optional=True,
    ),
    JobField(
        key="norandommap",
        label="No random map",
        help="Draw random blocks without remembering them; the map of an 8 TiB array takes 270 MB.",
        parse=parse_flag,
        format=lambda value: "yes" if value else "no",
        choices=("yes", "no"),
    ),
    JobField(
        key="randseed",
        label="Random seed",
        help="Same seed, same blocks; empty for other blocks in each run.",
        parse=parse_number,
        optional=True,
    ),
    JobField(
        key="fsync",
        label="Flush every",
        help="An fsync after so many writes, as databases do; empty for none.",
        parse=parse_number,
        optional=True,
    ),
)
"""In the order a form shows them."""
