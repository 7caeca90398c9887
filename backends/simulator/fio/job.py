"""Parser for the fio job files that raidbench writes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from backends.simulator.queueing_model import IoPattern
from backends.sizes import read_size
from backends.values import dataclass

_QUEUES = ("libaio", "io_uring", "posixaio")


@dataclass(frozen=True, slots=True, kw_only=True)
class FioJob:
    """One section of a job file, with options from the command line."""

    name: str
    """Name of the section."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options as written in the file."""
    interval: float = 0.25
    """Seconds between two JSON documents."""
    readonly: bool = False
    """True if fio must refuse to write."""
    may_create: bool = False
    """True if fio may create the file."""

    def text(self, key: str, default: str = "") -> str:
        """Return the value of an option, or `default` if the job does not have it."""
        return self.options.get(key, default)

    def number(self, key: str, default: int = 0) -> int:
        """Return an option as an integer, or the default if it is not one."""
        word = self.options.get(key, "")
        return int(word) if word.isascii() and word.isdigit() else default

    @property
    def waits(self) -> bool:
        """True if the section starts after all sections above it have ended."""
        return self.text("stonewall", "0") != "0"

    @property
    def filename(self) -> str:
        r"""Path of the device or file, with `\:` unescaped."""
        return self.text("filename").replace(r"\:", ":")

    @property
    def reads(self) -> bool:
        """True if the job reads."""
        return self.text("rw", "read") in ("read", "randread", "rw", "readwrite", "randrw")

    @property
    def writes(self) -> bool:
        """True if the job writes or trims, so that fio refuses it in read-only mode."""
        return self.text("rw", "read") not in ("read", "randread")

    @property
    def trims(self) -> bool:
        """True if the job trims."""
        return "trim" in self.text("rw")

    @property
    def writes_data(self) -> bool:
        """True if the job writes, alone or after trims."""
        return self.writes and self.text("rw") not in ("trim", "randtrim")

    @property
    def runtime(self) -> float | None:
        """Maximum seconds of the measured phase, or None for a job that ends only after an amount of data."""
        return seconds(self.text("runtime")) if "runtime" in self.options else None

    def amount(self, region: int) -> int | None:
        """Return the bytes after which the job ends, or None if only time ends it. `region`: bytes of one pass."""
        if "time_based" in self.options:
            return None
        amount_bytes = (size(self.text("io_size")) or region) * max(1, self.number("loops", 1))
        number = self.number("number_ios")
        return int(min(number * self.mean_bytes, amount_bytes) if number else amount_bytes) * self.numjobs

    @property
    def ramp(self) -> float:
        """Ramp time in seconds."""
        return seconds(self.text("ramp_time", "0"))

    @property
    def numjobs(self) -> int:
        """Number of threads."""
        return max(1, self.number("numjobs", 1))

    @property
    def depth(self) -> int:
        """Requests in flight per thread. It is 1 for jobs that only trim, because fio waits for each trim."""
        waits = self.text("ioengine") not in _QUEUES or (self.trims and not self.writes_data)
        return 1 if waits else max(1, self.number("iodepth", 1))

    @property
    def rate_iops(self) -> int:
        """IOPS limit per thread, reads and writes together; 0 for no limit."""
        if pause := microseconds(self.text("thinktime")):
            return max(1, round(self.number("thinktime_blocks", 1) * 1e6 / pause))
        if self.side_rates != (None, None):
            return 0
        moved = sum(size(part) for part in self.text("rate").split(","))
        if moved:
            return max(1, round(moved / self.mean_bytes))
        rate = sum(size(part) for part in self.text("rate_iops").split(","))
        if self.text("rate_process") == "poisson":
            return rate
        # fio counts a larger block as several of the smallest blocks, so the rate falls with the mean size.
        return round(rate * min(block for block, _ in self.sizes) / self.mean_bytes)

    @property
    def side_rates(self) -> tuple[float | None, float | None]:
        """IOPS limits of reads and of writes, if exactly one of the two is limited; otherwise None for both."""
        for key, unit in (("rate_iops", 1.0), ("rate", self.mean_bytes)):
            limits = [size(limit) for limit in self.text(key).split(",")]
            if len(limits) > 1 and sum(limit > 0 for limit in limits[:2]) == 1:
                reads, writes = (limit * self.numjobs / unit if limit else None for limit in limits[:2])
                return reads, writes
        return None, None

    @property
    def flush_every(self) -> int:
        """Number of writes after which a thread flushes; 0 if it never does."""
        return self.number("fsync") or self.number("fdatasync")

    @property
    def mean_bytes(self) -> float:
        """Mean request size in bytes."""
        return sum(block * share for block, share in self.sizes)

    @property
    def sizes(self) -> tuple[tuple[int, float], ...]:
        """Block sizes in bytes with their shares."""
        split = self.text("bssplit")
        if not split and (span := self.text("bsrange")):
            least, _, most = span.partition("-")
            return ((size(least), 0.5), (size(most), 0.5))
        if not split:
            read, comma, write = self.text("bs", "4k").partition(",")
            share = self.number("rwmixread", 50) / 100
            return ((size(read), share), (size(write), 1 - share)) if comma else ((size(read), 1.0),)
        rows = [part.partition("/") for part in split.split(":")]
        return tuple((size(block), int(share or 0) / 100) for block, _, share in rows if int(share or 0))

    def workload(self, scheduler: str, tags: int, read_ahead_kb: int) -> IoPattern:
        """Return the job's I/O pattern for the load model."""
        pattern = self.text("rw", "read")
        share = 1.0 if not self.writes else 0.0 if not self.reads else self.number("rwmixread", 50) / 100
        rate = self.rate_iops
        depth = self.depth
        if self.text("direct", "1") == "0":
            # With buffered I/O each thread has one request in flight, and a stream has the kernel's read-ahead.
            ahead = read_ahead_kb * 1024 // max(1, self.sizes[0][0]) if pattern == "read" else 0
            depth = max(1, ahead)
        region = self.text("size")
        return IoPattern(
            read_share=share,
            sequential=pattern in ("read", "write", "rw", "readwrite", "trim", "trimwrite"),
            sizes=self.sizes,
            align=size(self.text("blockalign")) or None,
            depth=depth,
            jobs=self.numjobs,
            region_bytes=size(region),
            rate_iops=float(rate * self.numjobs) if rate else None,
            at_random=self.text("rate_process") == "poisson",
            scheduler=scheduler,
            tags=tags,
        )


def parse_jobs(text: str, args: Sequence[str]) -> tuple[FioJob, ...]:
    """Return the sections of a job file in order, with the options of the command line."""
    sections: list[tuple[str, dict[str, str]]] = []
    for row in text.splitlines():
        line = row.strip()
        if match := re.fullmatch(r"\[(.+)\]", line):
            sections.append((match[1], {}))
        elif line and not line.startswith((";", "#")) and sections:
            key, sign, value = line.partition("=")
            sections[-1][1][key.strip()] = value.strip() if sign else "1"
    shared = {key: value for name, options in sections if name == "global" for key, value in options.items()}
    intervals = [word.partition("=")[2] for word in args if word.startswith("--status-interval=")]
    match = re.fullmatch(r"(\d+)ms", intervals[0]) if intervals else None
    return tuple(
        FioJob(
            name=name,
            options=shared | options,
            interval=int(match[1]) / 1000 if match else 0.25,
            readonly="--readonly" in args,
            may_create="--allow_file_create=0" not in args,
        )
        for name, options in sections
        if name != "global"
    )


def size(text: str) -> int:
    """Return the bytes of `4k`, `1M` or `4096`; 0 if it is no size."""
    return read_size(text, bare="b") or 0


def seconds(text: str) -> float:
    """Return the seconds of `60s` or `60`; 0 if it is no time."""
    match = re.fullmatch(r"(\d+)s?", text.strip().lower())
    return float(match[1]) if match else 0.0


def microseconds(text: str) -> int:
    """Return the microseconds of `500us` or `2ms`; 0 if it is no time."""
    match = re.fullmatch(r"(\d+)(us|ms|s)?", text.strip().lower())
    return int(match[1]) * {"us": 1, "ms": 1000, "s": 10**6}[match[2] or "us"] if match else 0
