"""Every sentence about a comparison, as one table that a person can read: sentences.txt, beside this file.

Written anew with `--snapshot-update`, after a look at what changed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from app.cli.render import table_lines
from app.core.analysis.comparison import Comparison, compare, compare_experiment
from app.core.analysis.drift import DriftPattern, RunPattern
from app.core.analysis.pair_design import STANDARD, one_look
from app.core.analysis.stored_verdicts import verdicts_of
from app.core.presentation.comparison import ab_headings, comparison_table
from app.core.presentation.comparison_text import (
    caveat_texts,
    comparison_sentence,
    disturbance_text,
    experiment_end_text,
    interim_text,
)
from app.core.presentation.table import Cell
from app.core.session.event_types import InterimAnalysis
from app.core.session.events import ExperimentEnded, RunEnded
from app.core.session.results import Advice, DirectionStats, LatencyStats, RunResult, RunStatus
from app.core.session.state import RunRecord, Session, replay
from tests.case_loop import loop_over
from tests.core import sessions
from tests.core.presentation.test_comparison import FAR, FASTER, OPEN, SAME, SLOWER, measured

Pairs = tuple[tuple[float, float], ...]


class Table(SingleFileSnapshotExtension):
    """One file of plain text."""

    _write_mode = WriteMode.TEXT
    _file_extension = "txt"

    @classmethod
    def dirname(cls, *, test_location: object) -> str:
        return str(Path(__file__).parent)

    @classmethod
    def get_snapshot_name(cls, *, test_location: object, index: object = 0) -> str:
        return "sentences"


# -- sides that are made by hand --------------------------------------------------------------------------------------


def experiment(session: Session) -> Comparison:
    both = compare_experiment(session, "e1")
    assert both is not None
    return both


def ab(
    pairs: Pairs,
    *,
    looks: tuple[InterimAnalysis, ...] = (),
    threshold: float | None = None,
    setting: tuple[str, str, str, str] | None = None,
    job: dict[str, str] | None = None,
    figures: Callable[[float], RunResult] | None = None,
    advice: dict[str, Advice] | None = None,
) -> Session:
    """An A/B of these figures; `setting`: key, label and both values; `figures`: what a run measured."""
    session = measured(*pairs, looks=looks)
    start = replace(session.experiments[0].start, threshold_percent=threshold)
    if setting is not None:
        key, label, a, b = setting
        start = replace(start, key=key, label=label, a=a, b=b)
    runs = []
    for run in session.runs:
        assert run.end is not None
        mark = run.start.mark
        assert mark is not None
        value = pairs[mark.pair - 1][mark.letter == "B"]
        found = run.figures if figures is None else figures(value)
        found = replace(found, advice=tuple(one for name, one in (advice or {}).items() if name == run.id))
        runs.append(
            replace(run, start=replace(run.start, job=job or run.start.job), end=replace(run.end, figures=found))
        )
    return replace(session, experiments=(replace(session.experiments[0], start=start),), runs=tuple(runs))


def direction(iops: float, *, bs: int = 4096, **latency: float) -> DirectionStats:
    times = LatencyStats(**{"mean": 1e6, "p50": 900_000, "p99": 2_000_000, **latency})  # type: ignore[arg-type]
    return DirectionStats(
        iops=iops,
        bytes_per_second=iops * bs,
        total_ios=int(iops * 60),
        total_bytes=int(iops * 60 * bs),
        runtime_s=60.0,
        latency_ns=times,
    )


def flushed(latency: float) -> RunResult:
    return RunResult(
        status=RunStatus.OK, write=direction(5000.0), sync=direction(5000.0, mean=latency, p50=900, p99=2000)
    )


def held(latency: float) -> RunResult:
    return RunResult(status=RunStatus.OK, read=direction(2000.0, p99=latency))


def large(iops: float) -> RunResult:
    return RunResult(status=RunStatus.OK, read=direction(iops, bs=1 << 20))


def mixed(iops: float) -> RunResult:
    read, write = direction(iops * 0.7), direction(iops * 0.3)
    return RunResult(status=RunStatus.OK, read=read, write=write)


def written(iops: float) -> RunResult:
    return RunResult(status=RunStatus.OK, write=direction(iops)) if iops else RunResult(status=RunStatus.OK)


def runs(*made: tuple[float, dict[str, str]], first: int = 1, **more: object) -> tuple[RunRecord, ...]:
    """One after another: IOPS and settings of each."""
    events = [sessions.started()]
    for at, (iops, settings) in enumerate(made):
        name = f"r{first + at}"
        events += sessions.run(name, iops=iops, settings=settings, at=1003.0 + at, **more)  # type: ignore[arg-type]
    return replay(events).runs


A, B = {"read_ahead_kb": "128"}, {"read_ahead_kb": "4096"}
OTHER = {**B, "scheduler": "none", "nr_requests": "64"}
HERE = {"kernel": "6.1.0", "backing_inode": "8:1:7"}


def of(found: tuple[RunRecord, ...], second: int, **more: object) -> Comparison:
    return compare(found[0], found[second], found, found, **more)  # type: ignore[arg-type]


def apart(a: tuple[RunRecord, ...], b: tuple[RunRecord, ...], *other: tuple[RunRecord, ...]) -> Comparison:
    return compare(a[0], b[0], a, b, names=("S1/r1", "S2/r1"), earlier=other)


def without_writes() -> Comparison:
    """A run that reads beside one that writes."""
    one, other = runs((1000, A), (1000, B))
    assert isinstance(other.end, RunEnded)
    return compare(one, replace(other, end=replace(other.end, figures=written(1000.0))), (), ())


def two_engines() -> Comparison:
    found = runs((1000, A), (800, B), (801, B), (1001, A), (999, A), (799, B))
    made = [
        replace(run, start=replace(run.start, job={**run.start.job, "ioengine": "psync"}))
        if run.start.settings == B
        else run
        for run in found
    ]
    return compare(made[0], made[1], made, made)


# -- the table --------------------------------------------------------------------------------------------------------

CACHE = ("read_ahead", "Read-ahead", "none", "read-ahead")
LARGEST = ("max_sectors_kb", "Largest request", "1280", "16")
REBUILD = Advice(key="background-task", message="Background work.", about=("rebuild",))
GOVERNOR = Advice(key="governor", message="powersave")
NINETY_NINE = (InterimAnalysis(pairs=3, level=0.01),)
SIX = tuple((1000.0 + at % 3, 800.0 + at % 2) for at in range(6))
EVEN = tuple((1000.0 + at * 5 % 7, 1000.0 + (at * 3 + 2) % 7) for at in range(20))
TEN = tuple((1000.0 + 13 * (at % 2), 1000.0 + 13 * (at // 2 % 2)) for at in range(10))
LONG = tuple((1000.0 + at % 3, 1000.0 + (-1) ** at * 40 + at % 2) for at in range(6))
NOISE = ((1000.0, 30.0), (20.0, 900.0), (1000.0, 10.0))
HUGE = ((1000.0, 151_000.0), (1001.0, 152_000.0), (999.0, 151_500.0))

EXPERIMENTS: dict[str, Session] = {
    "faster": ab(FASTER),
    "slower": ab(SLOWER),
    "slower, the value says what the setting is": ab(SLOWER, setting=CACHE),
    "the other way round": ab(SLOWER, setting=("read_ahead", "Read-ahead", "read-ahead", "none")),
    "no difference": ab(SAME),
    "no difference, the value says what the setting is": ab(SAME, setting=CACHE),
    "not decided": ab(OPEN),
    "by as little as": ab(((1000, 1020), (1000, 1030), (1000, 1025))),
    "one pair": ab(SLOWER[:1]),
    "two pairs": ab(SLOWER[:2]),
    "before its look": ab(SLOWER, looks=STANDARD),
    "at its first look": ab(SIX, looks=STANDARD),
    "no difference at the third look": ab(TEN, looks=STANDARD),
    "a look of 99 %": ab(SLOWER, looks=NINETY_NINE),
    "a look of 95 %": ab(SLOWER, looks=one_look(3)),
    "a threshold of its own": ab(SLOWER, threshold=6.0),
    "no difference within a threshold of its own": ab(((1000, 1030), (1001, 1031), (999, 1029)), threshold=6.0),
    "a pair far off": ab(FAR),
    "a pair far off that turns it": ab((*((1000 + at % 3, 1030 + at % 2) for at in range(11)), (1000, 600))),
    "a rebuild": ab(SLOWER, advice={"r3": REBUILD}),
    "a governor": ab(SLOWER, advice={f"r{at}": GOVERNOR for at in range(1, 7)}),
    "zero on one side": ab(((1000, 0), (1001, 0), (999, 0))),
    "zero on the first side": ab(((0, 1000), (0, 1001), (0, 999))),
    "zero in one run": ab(((1000, 800), (1001, 0), (999, 798))),
    "zero in all six runs of one side": ab(tuple((1000.0 + at, 0.0) for at in range(6)), looks=STANDARD),
    "zero in one run of six": ab((*SIX[:5], (1000.0, 0.0)), looks=STANDARD),
    "zero in one run of each side": ab((*SIX[:4], (1000.0, 0.0), (0.0, 800.0)), looks=STANDARD),
    "zero in three runs of one side": ab((*SIX[:3], *[(1000.0, 0.0)] * 3), looks=STANDARD),
    "three slow runs on one side": ab((*EVEN[:17], *[(1000.0, 100.0)] * 3), looks=one_look(20)),
    "two slow runs on one side": ab((*EVEN[:4], *[(1000.0, 100.0)] * 2), looks=STANDARD),
    "three slow runs on both sides": ab((*EVEN[:17], *[(1000.0, 100.0)] * 2, (100.0, 1000.0)), looks=one_look(20)),
    "zero on both sides": ab(((0, 0), (0, 0), (0, 0))),
    "no figures at all on one side": ab(((1000, 0), (1001, 0), (999, 0)), figures=written),
    "huge": ab(HUGE),
    "tiny": ab(((0.2, 0.18), (0.201, 0.179), (0.199, 0.181))),
    "nearly nothing left": ab(((1e6, 3), (1.01e6, 3), (0.99e6, 3))),
    "too noisy": ab(NOISE),
    "flushes": ab(((4000, 10_100), (4010, 10_150), (3990, 10_120)), figures=flushed, setting=LARGEST),
    "flushes, lower": ab(((10_100, 4000), (10_150, 4010), (10_120, 3990)), figures=flushed, setting=LARGEST),
    "a held rate": ab(
        ((2e6, 3e6), (2.01e6, 3.02e6), (1.99e6, 2.98e6)), figures=held, job={"rw": "randread", "rate_iops": "100"}
    ),
    "large blocks": ab(SLOWER, figures=large, job={"rw": "read", "bs": "1m"}),
    "reads and writes": ab(SLOWER, figures=mixed, job={"rw": "randrw", "bs": "4k"}),
}

COMPARISONS: dict[str, Callable[[], Comparison]] = {
    "two single runs": lambda: of(runs((1000, A), (800, B)), 1),
    "two single runs of other jobs": lambda: compare(
        runs((1000, A))[0], runs((800, A), first=2, job={"rw": "randread", "bs": "8k"})[0]
    ),
    "groups": lambda: of(runs(*[(1000, A)] * 3, (800, B), (801, B), (799, B)), 3),
    "groups, one of two runs": lambda: of(runs(*[(1000, A)] * 3, (800, B), (801, B)), 3),
    "groups that differ in three settings": lambda: of(runs(*[(1000, A)] * 3, *[(800, OTHER)] * 3), 3),
    "in turn": lambda: of(runs((1000, A), (800, B), (801, B), (1001, A), (999, A), (799, B)), 1),
    "between two measurements of the first": lambda: of(
        runs((1000, A), (1001, A), (800, B), (801, B), (799, B), (999, A), (1000, A)), 2
    ),
    "repeats": lambda: of(runs((1000, A), (1050, A)), 1),
    "repeats with something else beneath": lambda: of(
        (*runs((1000, A), provenance=HERE), *runs((1050, A), first=2, provenance={**HERE, "turbo": "off"})), 1
    ),
    "two sessions": lambda: apart(
        runs(*[(1000, A)] * 3, provenance=HERE), runs(*[(1050, A)] * 3, provenance={**HERE, "kernel": "6.8.0"})
    ),
    "two sessions and five others": lambda: apart(
        runs(*[(1000, A)] * 3, provenance=HERE),
        runs((1050, A), (1051, A), (1049, A), provenance=HERE),
        *(runs((iops, A), provenance=HERE) for iops in (1000, 1020, 980, 1010, 990)),
    ),
    "one side has no such figure": without_writes,
    "two I/O engines": two_engines,
    "a run that was stopped, on another target": lambda: compare(
        runs((1000, A), status=RunStatus.STOPPED)[0], runs((800, B), first=2, target="block:sdb")[0]
    ),
}


def told(title: str, comparison: Comparison) -> Iterator[str]:
    yield f"== {title}"
    yield comparison_sentence(comparison)
    yield from (f"  - {words}" for words in caveat_texts(comparison))


def ended(session: Session) -> str:
    both = experiment(session)
    over = ExperimentEnded(at=1.0, id="e1", status=RunStatus.OK, restored=True, verdicts=verdicts_of(both))
    return experiment_end_text(over)


def table_of(title: str, session: Session) -> Iterator[str]:
    yield f"== {title}"
    yield from table_lines(comparison_table(experiment(session), *ab_headings(session.experiments[0])))


def everything() -> Iterator[str]:
    """The whole table."""
    yield "EXPERIMENTS"
    for title, session in EXPERIMENTS.items():
        yield from told(title, experiment(session))
    yield ""
    yield "COMPARISONS"
    for title, made in COMPARISONS.items():
        yield from told(title, made())
    yield ""
    yield "ON THE WAY"
    for pairs in (SIX[:1], SIX[:3], SIX, LONG, (*LONG, *LONG), (*LONG, *LONG, *LONG, *LONG[:2])):
        yield f"{len(pairs)} pairs of a plan: {interim_text(ab(pairs, looks=STANDARD), 'e1') or 'nothing'}"
    yield ""
    yield "IN THE LOG"
    yield from (f"{title}: {ended(session) or 'nothing'}" for title, session in EXPERIMENTS.items())
    yield ""
    yield "WHAT THE RUNS DID BY THEMSELVES"
    yield from (disturbance_text(DriftPattern(pattern=pattern, size=4.2)) for pattern in RunPattern)
    yield ""
    yield "TABLES"
    yield from table_of("one size of blocks", ab(SLOWER))
    yield from table_of(
        "several sizes of blocks", ab(SLOWER, job={"rw": "randread", "bs": "4k", "bssplit": "4k/50:8k"})
    )
    yield from table_of("reads and writes", EXPERIMENTS["reads and writes"])
    yield from table_of("flushes", EXPERIMENTS["flushes"])
    yield from table_of("zero on one side", EXPERIMENTS["zero on one side"])
    yield from table_of("too noisy", EXPERIMENTS["too noisy"])
    yield from table_of("before its look", EXPERIMENTS["before its look"])


@functools.cache
def lines() -> tuple[str, ...]:
    """Return the whole table, whose hundred comparisons are computed once."""
    return tuple(everything())


def test_all_sentences_are_those_of_the_table(snapshot: SnapshotAssertion) -> None:
    assert "".join(f"{line.rstrip()}\n" for line in lines()) == snapshot(extension_class=Table)


# -- what no sentence may say -----------------------------------------------------------------------------------------


@functools.cache
def sentences() -> tuple[str, ...]:
    return tuple(line for line in lines() if line and not line.startswith("=="))


WRONG = (
    r"(\b\w[\w-]+\b) \1\b",
    r"\d{4,}\.\d %",
    r"-100\.0",
    r"\.\.",
    r"[;:,] \.| ,",
    r"\bnan\b|\binf\b",
)
"""A word twice, percent by the ten thousand, nothing left, full stops, signs without words between, no figure."""


@pytest.mark.parametrize("wrong", WRONG)
def test_no_sentence_stammers_or_has_absurd_figures(wrong: str) -> None:
    assert [line for line in sentences() if re.search(wrong, line, re.IGNORECASE)] == []


@loop_over("session", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_what_the_sentence_says_is_what_the_table_says(session: Session) -> None:
    both = experiment(session)
    row = comparison_table(both).rows[0]
    assert both.headline is not None
    word = row.cells[-1].text if isinstance(row.cells[-1], Cell) else row.cells[-1]
    said = word.partition(",")[0]
    assert {"refused": "no verdict"}.get(said, said) in comparison_sentence(both).lower()
