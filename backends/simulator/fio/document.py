"""One document of fio 3.33, `--output-format=json+`, grouped."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from backends.json_text import indented_json
from backends.simulator.fio.counters import RunCounters, unused_entry
from backends.simulator.fio.job import FioJob
from backends.values import dataclass

VERSION = "fio-3.33"
"""What it says it is."""

Json = dict[str, Any]

_DEPTHS = ("1", "2", "4", "8", "16", "32", ">=64")
_NOTHING = unused_entry()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """All that a document tells but the counters."""

    at: float
    """Seconds since the epoch."""
    runtime: float
    """Seconds since the job, or its measured phase, began."""
    elapsed: float
    """Seconds since fio began."""
    left: float | None
    """Seconds to its end, None while that is not known."""
    core_percent: float
    """Processor time of all jobs, 100 is one core."""
    submit_ns: float
    """Mean submission time."""
    device: str
    """Kernel name of the disk beneath."""
    busy: float
    """Share of time it works."""
    error: int = 0
    """errno."""


def document(at: float, entries: Sequence[tuple[Json, Json]]) -> str:
    """The text, as fio lays it out: `{` and `}` alone on their lines, all else indented.

    `at`: seconds since the epoch. `entries`: figures and disk of each target.
    """
    data = {
        "fio version": VERSION,
        "timestamp": int(at),
        "timestamp_ms": int(at * 1000),
        "time": time.strftime("%a %b %d %H:%M:%S %Y", time.gmtime(at)),
        "jobs": [figures for figures, _ in entries],
        "disk_util": [disk for _, disk in entries],
    }
    return indented_json(data, 2, " : ") + "\n"


def job_entry(
    job: FioJob,
    moment: Moment,
    read: RunCounters,
    write: RunCounters,
    trim: RunCounters,
    flushes: RunCounters,
    *,
    number: int,
    done: bool,
) -> Json:
    """The figures of one section, all of its threads together, as group `number`."""
    runtime = int(moment.runtime * 1000)
    in_flight = 0 if done else job.depth * job.numjobs
    share = job.number("rwmixread", 50) / 100 if job.reads and job.writes else 1.0
    reading = int(in_flight * share) if job.reads else 0
    shares = moment.core_percent / job.numjobs
    return {
        "jobname": job.name,
        "groupid": number,
        "error": moment.error,
        "eta": 0 if done else 2147483647 if moment.left is None else int(moment.left),
        "elapsed": int(moment.elapsed) + 1,
        "job options": {"name": job.name, **job.options},
        "read": read.json_entry(runtime, moment.submit_ns, reading) if job.reads else _NOTHING,
        "write": write.json_entry(runtime, moment.submit_ns, in_flight - reading) if job.writes_data else _NOTHING,
        # fio trims one after the other, whatever the engine: none is in flight.
        "trim": trim.json_entry(runtime, 0.0, 0) if job.trims else _NOTHING,
        "sync": {"total_ios": flushes.ios, "lat_ns": flushes.latency()},
        "job_runtime": runtime * job.numjobs,
        "usr_cpu": round(shares * 0.27, 6),
        "sys_cpu": round(shares * 0.73, 6),
        "ctx": (read.ios + write.ios) // 3,
        "majf": 0,
        "minf": 60 + 2 * job.depth,
        "iodepth_level": _depths(job.depth),
        "latency_depth": job.depth,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    }


def _depths(depth: int) -> Mapping[str, float]:
    at = next((index for index, name in enumerate(_DEPTHS[:-1]) if depth <= int(name)), len(_DEPTHS) - 1)
    return {name: 100.0 if index == at else 0.0 for index, name in enumerate(_DEPTHS)}


def disk_entry(moment: Moment, read: RunCounters, write: RunCounters) -> Json:
    """What fio says of the disk beneath."""
    elapsed = int(moment.elapsed * 1000)
    return {
        "name": moment.device,
        "read_ios": read.ios,
        "write_ios": write.ios,
        "read_merges": 0,
        "write_merges": 0,
        "read_ticks": int(read.total_ns / 1e6),
        "write_ticks": int(write.total_ns / 1e6),
        "in_queue": int((read.total_ns + write.total_ns) / 1e6),
        "util": round(min(100.0, moment.busy * 100), 6) if elapsed else 0.0,
    }
