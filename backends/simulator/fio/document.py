"""Builds the JSON document of fio 3.33 (`--output-format=json+`), with group reporting."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from backends.json_text import indented_json
from backends.simulator.fio.counters import RunCounters
from backends.simulator.fio.job import FioJob

VERSION = "fio-3.33"
"""Version that the simulated fio reports."""

Json = dict[str, Any]

_DEPTHS = ("1", "2", "4", "8", "16", "32", ">=64")
_NOTHING = RunCounters().json_entry(0, 0.0, 0)


def document(at: float, entries: Sequence[tuple[Json, Json]]) -> str:
    """Return the JSON text in fio's format: the outer `{` and `}` on lines of their own, everything else indented.

    `at`: seconds since the epoch. `entries`: results and disk utilisation of each target.
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
    read: RunCounters,
    write: RunCounters,
    trim: RunCounters,
    flushes: RunCounters,
    *,
    number: int,
    runtime: int,
    elapsed: float,
    left: float | None,
    core_percent: float,
    submit_ns: float,
    done: bool,
) -> Json:
    """Return the results of one section, with all its threads together, as group `number`.

    `runtime`: milliseconds since the start of the measured phase. `elapsed`: seconds since fio started. `left`: seconds
    until the section ends, or None if unknown. `core_percent`: processor time of all threads, 100 is one core.
    `submit_ns`: mean submission latency.
    """
    in_flight = 0 if done else job.depth * job.numjobs
    share = job.number("rwmixread", 50) / 100 if job.reads and job.writes else 1.0
    reading = int(in_flight * share) if job.reads else 0
    shares = core_percent / job.numjobs
    return {
        "jobname": job.name,
        "groupid": number,
        "error": 0,
        "eta": 0 if done else 2147483647 if left is None else int(left),
        "elapsed": int(elapsed) + 1,
        "job options": {"name": job.name, **job.options},
        "read": read.json_entry(runtime, submit_ns, reading) if job.reads else _NOTHING,
        "write": write.json_entry(runtime, submit_ns, in_flight - reading) if job.writes_data else _NOTHING,
        # fio waits for each trim, whatever the engine, so no trim counts as in flight.
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
    position = next((index for index, name in enumerate(_DEPTHS[:-1]) if depth <= int(name)), len(_DEPTHS) - 1)
    return {name: 100.0 if index == position else 0.0 for index, name in enumerate(_DEPTHS)}


def disk_entry(device: str, read: RunCounters, write: RunCounters, *, busy: float, elapsed: float) -> Json:
    """Return the utilisation of a disk. `busy`: share of time that it is busy, 0..1. `elapsed`: seconds since start."""
    return {
        "name": device,
        "read_ios": read.ios,
        "write_ios": write.ios,
        "read_merges": 0,
        "write_merges": 0,
        "read_ticks": int(read.total_ns / 1e6),
        "write_ticks": int(write.total_ns / 1e6),
        "in_queue": int((read.total_ns + write.total_ns) / 1e6),
        "util": round(min(100.0, busy * 100), 6) if elapsed >= 0.001 else 0.0,
    }
