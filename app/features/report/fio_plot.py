"""Exports a session as files for fio-plot: the last JSON document of fio for each run, and logs of its intervals.

fio-plot (github.com/louwrentius/fio-plot, 1.1) reads a folder with `-i`. It distinguishes the runs in a folder only by
pattern, queue depth and number of jobs. Therefore runs that differ in anything else (target, block size, settings,
repeats) are in different folders.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.core.fio.document import FioDocument
from app.core.fio.run_phases import read_documents
from app.core.fio.sizes import parse_size
from app.core.presentation.raw_data import course_of, run_folder
from app.core.session.results import DIRECTIONS, DirectionSample, Phase, RunStatus, Sample
from app.core.session.state import RunRecord, Session
from app.features.report.csv import runs_csv
from backends.errors import InvalidValueError
from backends.json_text import rows, table
from backends.text import clean
from backends.values import dataclass

_NAME_FIELDS = ("rw", "iodepth", "numjobs")
_KIBI = 1024
_STEPS = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
_SHARES = (("latency_ns", 1, _STEPS), ("latency_us", 1000, _STEPS), ("latency_ms", 1_000_000, (*_STEPS, 2000)))
"""Latency tables in the output of fio: name, unit in ns, and upper limits of the rows (stat.c)."""
_SPECIAL = re.compile(r"[^A-Za-z0-9.]+")


_Interval = tuple[Sample, Mapping[tuple[str, str], float]]
"""A measured interval, and its mean latencies in nanoseconds by kind (`lat`, `clat`) and direction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunFiles:
    """A run, its folder in the export, and the names of its files there."""

    folder: str
    run: RunRecord

    @property
    def json(self) -> str:
        """Return the path of the file with fio's JSON document. It is named as bench-fio names it."""
        job = self.run.start.job
        return f"{self.folder}/{job['rw']}-{job['iodepth']}-{job['numjobs']}.json"

    def log(self, kind: str) -> str:
        """Return the path of a log file, named as bench-fio names it. `kind`: `iops`, `bw`, `lat` or `clat`."""
        job = self.run.start.job
        return f"{self.folder}/{job['rw']}-iodepth-{job['iodepth']}-numjobs-{job['numjobs']}_{kind}.1.log"


def fio_plot_files(session: Session, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the relative path and the text of each file of the export. `folder`: the folder of the session."""
    places = tuple(_run_files(session.runs))
    yield "README.txt", _readme(session, places)
    yield "runs.csv", runs_csv(session)
    for target in places:
        source = run_folder(target.run, folder)
        last, intervals = (None, []) if source is None else _read(source / "fio.out", target.run)
        if last is not None and not _has_unsteady_time(target.run):
            yield target.json, json.dumps(_with_job_options(last, target.run), indent=1) + "\n"
        for kind in ("iops", "bw", "lat", "clat"):
            rows = list(_rows(kind, intervals, _block(target.run)))
            if rows:
                yield target.log(kind), "\n".join(rows) + "\n"


def _run_files(runs: Sequence[RunRecord]) -> Iterator[_RunFiles]:
    """Yield each run that is exported, with its folder.

    Runs with equal conditions share a folder, except repeats that would have the same file name.
    """
    numbers: dict[tuple[object, ...], int] = {}
    taken: dict[tuple[object, ...], int] = {}
    for run in runs:
        start = run.start
        named = all(start.job.get(key) for key in _NAME_FIELDS)
        if run.figures.status is not RunStatus.OK or start.sections or not named:
            continue
        other = tuple(sorted((key, text) for key, text in start.job.items() if key not in _NAME_FIELDS))
        where = start.target if start.scratch is None else start.device or start.target
        condition = (where, other, tuple(sorted(start.settings.items())))
        number = numbers.setdefault(condition, len(numbers) + 1)
        name = tuple(start.job[key] for key in _NAME_FIELDS)
        taken[(condition, name)] = repeat = taken.get((condition, name), 0) + 1
        again = f"-run{repeat}" if repeat > 1 else ""
        mark = "SIMULATED-" if start.simulated else ""
        yield _RunFiles(folder=f"{mark}{number:02d}-{_slug(where)}-{_slug(start.job.get('bs', ''))}{again}", run=run)


def _has_unsteady_time(run: RunRecord) -> bool:
    """Return whether fio's totals of a run include time before the results became steady."""
    return run.figures.steady is not None and run.figures.steady.waited_s > 0


def _slug(text: str) -> str:
    return _SPECIAL.sub("-", text).strip("-.")[-40:] or "x"


def _read(raw: Path, run: RunRecord) -> tuple[Mapping[str, Any] | None, list[_Interval]]:
    """Return the last document in the recorded fio output of a run (None without one), and the run's measured
    intervals.
    """
    course = course_of(run)
    last: Mapping[str, Any] | None = None
    before: dict[tuple[str, str], tuple[float, int]] = {}
    intervals: list[_Interval] = []
    for data in read_documents(raw):
        last = data
        sums = _sums(data)
        sample, _ = course.add_document(FioDocument(data))
        if sample is not None and sample.phase is Phase.MEASURING:
            intervals.append((sample, _means(before, sums)))
        before = sums
    return last, intervals


def _sums(data: Mapping[str, Any]) -> dict[tuple[str, str], tuple[float, int]]:
    """Return the sum of latencies in ns and the number of I/Os over all jobs of a fio document, by kind (`lat`, `clat`)
    and direction.
    """
    sums: dict[tuple[str, str], tuple[float, int]] = {}
    for job in rows(data.get("jobs")):
        for direction in DIRECTIONS:
            for kind in ("lat", "clat"):
                times = table(table(job.get(direction)).get(f"{kind}_ns"))
                mean, count = times.get("mean"), times.get("N")
                if isinstance(mean, int | float) and isinstance(count, int):
                    total, number = sums.get((kind, direction), (0.0, 0))
                    sums[kind, direction] = (total + mean * count, number + count)
    return sums


def _means(
    before: Mapping[tuple[str, str], tuple[float, int]], now: Mapping[tuple[str, str], tuple[float, int]]
) -> dict[tuple[str, str], float]:
    """Return the mean latencies of the I/Os between two consecutive documents of fio, by kind (`lat`, `clat`) and
    direction. The parameters are the results of `_sums` for both.

    fio resets its counters after the ramp. If it did so between the documents, only the sums of the second count.
    """
    means = {}
    for key, (total, count) in now.items():
        old, number = before.get(key, (0.0, 0))
        if count < number:
            old, number = 0.0, 0
        if count > number:
            means[key] = max(0.0, (total - old) / (count - number))
    return means


def _rows(kind: str, intervals: Sequence[_Interval], block: int) -> Iterator[str]:
    """Yield the lines of a fio log. Each has the time in milliseconds, value, direction, block size and offset."""
    for interval, means in intervals:
        for number, name in enumerate(DIRECTIONS):
            sample = interval.side(name)
            value = None if sample is None else _value(kind, sample, means.get((kind, name)))
            if value is not None:
                yield f"{round(interval.at * 1000)}, {value}, {number}, {block}, 0"


def _value(kind: str, sample: DirectionSample, mean: float | None) -> int | None:
    match kind:
        case "iops":
            return round(sample.iops)
        case "bw":
            return round(sample.bytes_per_second / _KIBI)
        case _:
            return None if mean is None else round(mean)


def _with_job_options(document: Mapping[str, Any], run: RunRecord) -> Mapping[str, Any]:
    """Return the fio document with the job options and the latency distribution that fio-plot needs.

    Both are added because some versions of fio omit a part of them.
    """
    named = {key: run.start.job[key] for key in (*_NAME_FIELDS, "bs") if run.start.job.get(key)}
    completed = [
        {**_spread(FioDocument({"jobs": [job]})), **job, "job options": {**table(job.get("job options")), **named}}
        for job in rows(document.get("jobs"))
    ]
    return {**document, "jobs": completed}


def _spread(job: FioDocument) -> dict[str, dict[str, float]]:
    """Return the latency distribution of a job in fio's format, computed from its histograms."""
    counts = [part.histogram.counts for name in DIRECTIONS if (part := job.counters(name)) is not None]
    every = [(value, count) for part in counts for value, count in part.items()]
    total = sum(count for _, count in every) or 1
    table: dict[str, dict[str, float]] = {}
    low = 0
    for name, unit, limits in _SHARES:
        shares = {}
        for limit in limits:
            high = limit * unit
            shares[str(limit)] = round(sum(count for value, count in every if low <= value < high) / total * 100, 6)
            low = high
        table[name] = shares
    table["latency_ms"][f">={_SHARES[-1][2][-1]}"] = round(
        sum(count for value, count in every if value >= low) / total * 100, 6
    )
    return table


def _block(run: RunRecord) -> int:
    try:
        return parse_size(run.start.job.get("bs", ""))
    except InvalidValueError:
        return 0


def _readme(session: Session, places: Sequence[_RunFiles]) -> str:
    """Return the text of the README, which lists the runs in each folder and the commands that plot them."""
    rows = [f"Session {clean(session.id)} for fio-plot 1.1 or newer. All runs as a table: runs.csv.", ""]
    if any(location.run.start.simulated for location in places):
        rows += ["SIMULATED: not measured on hardware.", ""]
    sectioned = [run.id for run in session.runs if run.start.sections]
    if sectioned:
        rows += [f"Omitted, because they have several sections: {', '.join(sectioned)}.", ""]
    by_folder: dict[str, list[RunRecord]] = {}
    for location in places:
        by_folder.setdefault(location.folder, []).append(location.run)
    for folder, runs in by_folder.items():
        start = runs[0].start
        settings = ", ".join(f"{key}={text}" for key, text in start.settings.items())
        rows += [
            f"{folder}/",
            f"  target    {clean(start.target, 300)}",
            f"  runs      {', '.join(f'{run.id}: {clean(run.start.title, 200)}' for run in runs)}",
            f"  settings  {clean(settings, 2000) or 'not recorded'}",
            *(
                f"  no JSON for {run.id}: the totals of fio include the time before the results were steady"
                for run in runs
                if _has_unsteady_time(run)
            ),
            *dict.fromkeys(line for patterns in _patterns(runs) for line in _plot_commands(folder, *patterns)),
            "",
        ]
    return "\n".join(rows) + "\n"


def _patterns(runs: Sequence[RunRecord]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each pattern and number of jobs that occur in the runs of a folder, with the queue depths of these runs."""
    by_pattern: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        job = run.start.job
        by_pattern.setdefault((job["rw"], job["numjobs"]), []).append(job["iodepth"])
    for (pattern, jobs), depths in by_pattern.items():
        yield pattern, jobs, sorted(depths, key=int)


def _plot_commands(folder: str, pattern: str, jobs: str, depths: Sequence[str]) -> Iterator[str]:
    mixed = pattern in ("rw", "readwrite", "randrw")
    for direction in ("read", "write") if mixed else _directions(pattern):
        common = f'-i {folder} -T "{folder}" -r {pattern} -f {direction} -n {jobs}'
        yield f"  fio-plot {common} -d {' '.join(depths)} -l -o {pattern}-{direction}.png"
        yield f"  fio-plot {common} -d {depths[-1]} -g -t iops lat -o {pattern}-{direction}-time.png"


def _directions(pattern: str) -> tuple[str, ...]:
    """Return the directions of a pattern that fio-plot can draw. fio-plot does not support trims."""
    return ("write",) if "write" in pattern else () if "trim" in pattern else ("read",)
