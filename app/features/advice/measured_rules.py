"""Advice rules about the reliability of the results. They need the results of the run so far."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, fsum

from app.core.benchmark.conditions.facts import RunFacts
from app.core.fio.steady_state import RANGE_SHARE, SLOPE_SHARE, judge_rounds
from app.core.session.event_types import ROUND_S, WINDOW
from app.core.session.results import Advice
from app.features.advice.job_rules import ENOUGH_S, sync_depth
from widgets.text_utils import units

CORE_FULL = 95.0
"""If fio uses at least this percentage of a core per job, the CPU and not the device is the bottleneck."""

HOST_FULL = 95.0
"""If the CPUs of the host are at least this busy in percent, they are the bottleneck."""

ENOUGH_IOS = 10_000
"""Number of I/Os needed for a p99.9: ten of them must be slower than it."""

LONG_STEADY = 5
"""Advice is given if a run took at least this many times as long as its results needed to become steady."""

DEPTH_OFF = 0.2
"""Advice is given if the I/Os in flight deviate from the requested depth by more than this share."""

RATE_OFF = 0.05
"""Advice is given if the reached rate is below the requested rate by more than this share."""

QUEUE_FULL = 0.5
"""If on average more than this share of a queue is in use, it is full at times."""

MIB = 1 << 20

LEFT_S = 600.0
"""Ending a run early is advised only if it saves at least this number of seconds."""


def fio_cpu_bound(facts: RunFacts) -> Advice | None:
    """Return advice if fio uses its cores completely: one core per job."""
    done = facts.measured
    if done is None or done.cpu.fio_percent_of_core is None:
        return None
    jobs = min(facts.job.numjobs, facts.cores) if facts.cores else facts.job.numjobs
    per_job = done.cpu.fio_percent_of_core / jobs
    if per_job < CORE_FULL:
        return None
    who = "its one job" if facts.job.numjobs == 1 else f"each of its {facts.job.numjobs} jobs"
    room = f" (the host has {facts.cores} CPUs)" if facts.cores > facts.job.numjobs else ""
    return Advice(
        key="fio-cpu-bound",
        message=f"fio uses {units.percent(per_job)} of a core for {who}. The run measures the CPU, not the device.",
        do=f"Raise numjobs{room} and divide the queue depth between the jobs.",
    )


def host_cpu_bound(facts: RunFacts) -> Advice | None:
    """Return advice if the host has no idle CPU time."""
    done = facts.measured
    if done is None or done.cpu.host_percent is None or done.cpu.host_percent < HOST_FULL:
        return None
    return Advice(
        key="host-cpu-bound",
        message=f"The CPUs of the host are {units.percent(done.cpu.host_percent)} busy. The device waits for them.",
        do="Stop other programs, or measure with larger blocks or fewer jobs.",
    )


def few_ios(facts: RunFacts) -> Advice | None:
    """Return advice if there were too few I/Os for the percentiles."""
    done = facts.measured
    if done is None or not done.ended or not done.seconds:
        return None
    counts = [
        (count, name)
        for count, name in ((done.reads, "reads"), (done.writes, "writes"), (done.trims, "trims"))
        if count
    ]
    if not counts or min(counts)[0] >= ENOUGH_IOS:
        return None
    count, name = min(counts)
    needed = ceil(ENOUGH_IOS / count * done.seconds)
    lost = "p99.9" if count >= ENOUGH_IOS // 10 else "p99 and p99.9"
    return Advice(
        key="few-ios",
        message=f"{count:,} {name} are too few for {lost}. A percentile needs at least ten I/Os beyond it.",
        do=f"At this rate, {ENOUGH_IOS:,} I/Os take {units.duration(needed)}.",
    )


def depth_not_kept(facts: RunFacts) -> Advice | None:
    """Return advice if the average number of I/Os in flight differs from the requested depth.

    The average is IOPS times mean latency (Little's law).
    """
    job, done = facts.job, facts.measured
    if (
        done is None
        or done.in_flight is None
        or job.has_rate
        or job.thinktime is not None
        or sync_depth(facts) is not None
    ):
        return None
    if abs(done.in_flight / job.queue - 1) <= DEPTH_OFF:
        return None
    return Advice(
        key="depth-not-kept",
        message=f"On average {done.in_flight:.3g} I/Os were in flight (IOPS times mean latency), but {job.queue}"
        " were requested.",
        do="The results apply to the actual depth. If fio is the bottleneck, raise numjobs; otherwise lower the"
        " queue depth.",
    )


def rate_not_held(facts: RunFacts) -> Advice | None:
    """Return advice if the requested rate was not reached, or if requests had to wait in the queue of fio.

    The latencies do not include that waiting time.
    """
    job, done = facts.job, facts.measured
    if done is None or not done.ended or not done.seconds or not job.has_rate:
        return None
    # fio applies the rate to trims and writes separately if a job alternates between them, so count one of the two.
    ios = done.reads + (done.writes or done.trims)
    moved = done.read_bytes + (done.written_bytes or done.trimmed_bytes)
    rate = job.whole_rate
    job_rate, came, unit = (job.whole_rate_iops, ios, "IOPS") if rate is None else (rate / MIB, moved / MIB, "MiB/s")
    asked, reached = (job_rate or 0) * job.numjobs, came / done.seconds
    if reached < asked * (1 - RATE_OFF):
        shortfall = f"{asked:.5g} {unit} were requested, but {reached:.5g} {unit} were reached"
    elif done.in_flight is not None and done.in_flight > job.queue * QUEUE_FULL:
        shortfall = f"On average {done.in_flight:.3g} of {job.queue} places in the queue were used"
    else:
        return None
    return Advice(
        key="rate-not-held",
        message=f"{shortfall}. Requests waited in the queue of fio; the latencies do not include this time.",
        do="Lower the rate, or raise the queue depth.",
    )


def not_steady(facts: RunFacts) -> Advice | None:
    """Return advice if the results are not steady.

    During the run, only the last rounds are judged; after the run, the whole measured time is.
    """
    done = facts.measured
    if done is None:
        return None
    rounds = merge_rounds(done.rounds) if done.ended else done.rounds
    result = judge_rounds(rounds)
    if result.steady or result.range_share is None or result.slope_share is None:
        return None
    when = f"over the {units.duration(done.seconds)} of the run" if done.ended else f"over the last {ENOUGH_S} s"
    return Advice(
        key="not-steady",
        message=f"The results are not steady {when}: the rounds differ by {units.fraction(result.range_share)} of their"
        f" mean (limit: {units.fraction(RANGE_SHARE)}), and the trend is {units.fraction(result.slope_share)} (limit:"
        f" {units.fraction(SLOPE_SHARE)}).",
        do="Lengthen the ramp. On flash, first write the whole area once or twice.",
    )


def long_steady(facts: RunFacts) -> Advice | None:
    """Return advice if the results have been steady for so long that the run can end, or could have ended earlier."""
    done = facts.measured
    if done is None or len(done.rounds) < WINDOW:
        return None
    at = steady_after(done.rounds)
    if at is None:
        return None
    if not done.ended:
        if done.left is None or done.left < LEFT_S:
            return None
        return Advice(
            key="long-steady",
            message=f"The results have been steady since {units.duration(at)}, and {units.duration(done.left)} of"
            " the run are left.",
            do="Stop the run; its results are kept.",
        )
    if done.seconds < max(LONG_STEADY * at, LEFT_S + at):
        return None
    return Advice(
        key="long-steady",
        message=f"The results were steady after {units.duration(at)}, but the run took {units.duration(done.seconds)}.",
        do="Use the time for repeated runs: one long run does not show the run-to-run noise.",
    )


def steady_after(rounds: Sequence[float]) -> float | None:
    """Return the time in seconds after which all windows of rounds were steady; None if the last one is not steady."""
    since: int | None = None
    for end in range(WINDOW, len(rounds) + 1):
        if not judge_rounds(rounds[:end]).steady:
            since = None
        elif since is None:
            since = end
    return None if since is None else float(since * ROUND_S)


def merge_rounds(rounds: Sequence[float]) -> tuple[float, ...]:
    """Return the rounds merged into `WINDOW` longer rounds of equal length. Surplus rounds at the start are dropped."""
    length = len(rounds) // WINDOW
    if length < 1:
        return tuple(rounds)
    start = len(rounds) - length * WINDOW
    return tuple(fsum(rounds[at : at + length]) / length for at in range(start, len(rounds), length))
