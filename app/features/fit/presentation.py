"""The answer of `fit` in words and as JSON. No I/O."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from app.core.presentation.json_schema import Json, pick
from app.doors import FEATURES
from app.features.fit.assessment import FitCondition, FitResult, Obstacle
from app.features.fit.decision import SHARE, Estimate, FitAnswer, FitReason, LatencyJudgement
from app.features.fit.engine import FitPlan
from app.features.fit.profiles import Quantity
from app.features.fit.runs import FitRun
from backends.sizes import size_words
from backends.text import clean
from backends.topology import kernel_name
from widgets.text_utils import units
from widgets.text_utils.units import plural

_HEADS = {
    FitAnswer.YES: "YES: {folder} is fit for {title}.",
    FitAnswer.NO: "NO: {folder} is not fit for {title}.",
    FitAnswer.UNDECIDED: "NOT DECIDED: whether {folder} is fit for {title}.",
    FitAnswer.UNSAFE: "FAST, NOT SAFE: {folder} is fast enough for {title}, but a power loss can lose flushed data.",
}

_NAMES = {
    Quantity.FLUSH_P99: "p99 of a flush",
    Quantity.COMMITS: "commits a second",
    Quantity.IOPS: "I/Os a second",
    Quantity.MEAN: "mean latency",
    Quantity.BYTES: "sequential writes",
}

_BUSY_WORTH = 0.1
"""Share of the time for which other programs must keep a disk busy to be a likely cause."""

_OBSTACLES = {
    Obstacle.NO_LIMIT: "Say {question}. {here}",
    Obstacle.NOT_PRECONDITIONED: (
        "A new or trimmed drive is faster at first, and {title} writes for hours. `raidbench precondition` fills the"
        " drive, which destroys its data."
    ),
    Obstacle.FILESYSTEM: "{filesystem} is no local POSIX filesystem, which {title} needs.",
}

_LONGER = "`--for 15m` measures longer."

_REASONS = {
    FitReason.SCATTER: f"The values scatter too much: an interval contains its limit. {_LONGER}",
    FitReason.PAUSE: f"One pause was longer than {{title}} tolerates ({{pause}}). {_LONGER}",
    FitReason.SLOWED: f"The disk was slower at the end than before, as when a cache is full. {_LONGER}",
    FitReason.FEW: "There were too few flushes or runs to judge.",
}
"""What each reason means if it decides nothing."""


def plan_lines(plan: FitPlan) -> Iterator[str]:
    """Yield what will be measured, before it begins."""
    if plan.ready is None:
        return
    job = plan.ready.job
    yield f"{plan.profile.name}: {job.describe()}"
    yield (
        f"{plural(plan.runs, 'run')} of {job.runtime} s in {clean(plan.folder, 300)}, about"
        f" {units.duration(round(plan.planned_s))}. The scratch file of {size_words(plan.ready.size)} is removed"
        " afterwards."
    )
    if job.flushes:
        most = 11_000 * max(job.block_sizes) * job.runtime * plan.runs
        yield f"A fast flash drive (11,000 flushes a second) gets {size_words(most)} of writes."


def run_line(number: int, run: FitRun) -> str:
    """Return the values of one finished run. They are no answer: a single run says yes about disks that are not fit."""
    p99 = run.flush_histogram.percentile(99.0)
    flushes = f"p99 of a flush {units.latency(p99)}, {units.iops(run.flushes_per_s)} flushes/s, " if p99 else ""
    return (
        f"run {number}: {flushes}{units.iops(run.iops)} IOPS, {units.mib_per_s(run.bytes_per_s)} MiB/s, longest"
        f" {units.latency(run.longest_s * 1e9)}"
    )


def result_lines(plan: FitPlan, result: FitResult) -> Iterator[str]:
    """Yield the answer, its evidence, what it cannot have seen, and what to change."""
    yield _HEADS[result.answer].format(folder=clean(plan.folder, 300), title=result.profile.title)
    yield from (f"  {line}" for line in _evidence(plan, result))
    yield from (f"  {line}" for line in _changes(plan, result))


def _evidence(plan: FitPlan, result: FitResult) -> Iterator[str]:
    yield from _open_reasons(result)
    for condition in result.conditions:
        yield _condition_text(condition, result)
    if result.latency is not None:
        yield _stuck_text(result.latency)
    if result.profile.note:
        yield result.profile.note
    if result.runs and result.answer in (FitAnswer.YES, FitAnswer.UNSAFE):
        yield (
            f"Held for {result.seconds:.0f} s and {size_words(result.written)}. Pauses rarer than one in"
            f" {result.unseen_every_s:.0f} s, and a fast cache larger than {size_words(result.written)}, it cannot have"
            " seen."
        )
    busy = result.foundation.busy_share
    if busy is not None and plan.disk is not None:
        disk = kernel_name(plan.disk)
        yield f"Before the first run, other programs kept {disk} busy for {units.fraction(busy)} of the time."
    if result.runs:
        safety = result.foundation.safety
        yield f"Safe: {safety.safety.value}. {' '.join(safety.reasons)}"


def _open_reasons(result: FitResult) -> Iterator[str]:
    """Yield why the answer is not decided, and what would decide it."""
    profile = result.profile
    words = {
        "title": profile.title,
        "question": profile.question,
        "here": _here(result),
        "filesystem": result.foundation.unfit_filesystem,
        "pause": units.latency((profile.pause_s or 0) * 1e9),
    }
    if result.obstacle is not None:
        yield _OBSTACLES[result.obstacle].format(**words).rstrip()
    elif result.answer is FitAnswer.UNDECIDED:
        reasons = dict.fromkeys(reason for condition in result.conditions for reason in condition.judgement.reasons)
        yield from (_REASONS[reason].format(**words) for reason in reasons if reason in _REASONS)


def _here(result: FitResult) -> str:
    """Return what was measured, in the unit of the number that the user must say."""
    for quantity in (Quantity.COMMITS, Quantity.BYTES, Quantity.IOPS):
        if quantity in result.values and (quantity is Quantity.BYTES) == ("mbps" in result.profile.options):
            who = "one connection gets" if quantity is Quantity.COMMITS else "this folder gets"
            return f"Here {who} {_estimate_text(quantity, result.values[quantity])} {_NAMES[quantity]}."
    return ""


def _condition_text(condition: FitCondition, result: FitResult) -> str:
    limit = condition.limit
    bound = "at least " if limit.quantity.at_least else ""
    text = (
        f"{_NAMES[limit.quantity]} {_estimate_text(limit.quantity, condition.judgement.measured)}, limit "
        f"{bound}{_value_text(limit.quantity, limit.value)} ({limit.source}), {plural(result.runs, 'run')}"
    )
    judgement = condition.judgement
    if isinstance(judgement, LatencyJudgement) and FitReason.FEW not in judgement.reasons:
        text += f"; {_share_text(judgement.over)} of the flushes are over it"
    return text


def _stuck_text(latency: LatencyJudgement) -> str:
    return (
        f"stuck for {_share_text(latency.stuck)} of the time (limit {_percent(SHARE)}), longest pause"
        f" {units.latency(latency.longest_s * 1e9)}, {plural(latency.bursts, 'pause')} in {latency.seconds:.0f} s"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _share_text(share: Estimate) -> str:
    return f"{_percent(share.mean)} [{100 * share.low:.2g}, {100 * share.high:.2g}]"


def _estimate_text(quantity: Quantity, estimate: Estimate) -> str:
    low, high = _value_text(quantity, estimate.low), _value_text(quantity, estimate.high)
    return f"{_value_text(quantity, estimate.mean)} [{low}, {high}]"


def _value_text(quantity: Quantity, value: float) -> str:
    if value == float("inf"):
        return "unknown"
    match quantity:
        case Quantity.FLUSH_P99 | Quantity.MEAN:
            return units.latency(value * 1e9)
        case Quantity.BYTES:
            return f"{units.three(value / 1e6)} MB/s"
        case _:
            return units.iops(value)


def _changes(plan: FitPlan, result: FitResult) -> Iterator[str]:
    """Yield what to change."""
    yield from (f"Change: {clean(fix, 300)}" for fix in result.foundation.safety.fixes)
    if result.answer is not FitAnswer.NO:
        return
    if result.obstacle is Obstacle.FILESYSTEM:
        yield "Change: use a folder on a local disk."
        return
    disk = kernel_name(plan.disk) if plan.disk is not None else ""
    busy = result.foundation.busy_share
    if busy is not None and busy >= _BUSY_WORTH:
        yield f"Change: other programs use {disk}, so give {result.profile.title} a disk of its own."
    else:
        yield "Change: use another disk. No setting of raidbench is known to help."
    if disk and "observe" in FEATURES:
        yield f"Whether storage limits you now: raidbench observe {disk}"


def result_json(plan: FitPlan, result: FitResult) -> Json:
    """Return the answer as JSON. Times are in seconds, shares are 0..1, unknown values are null."""
    latency, safety = result.latency, result.foundation.safety
    return {
        "profile": result.profile.name,
        "folder": plan.folder,
        "verdict": result.answer.value,
        **pick(result, "obstacle"),
        "conditions": [
            {
                **pick(condition.limit, "quantity", "source"),
                "limit": condition.limit.value,
                **pick(condition.judgement, "verdict", "reasons"),
                "measured": _estimate_json(condition.judgement.measured),
            }
            for condition in result.conditions
        ],
        "measured": {quantity.value: _estimate_json(value) for quantity, value in result.values.items()},
        "p99": latency and _estimate_json(latency.measured),
        "over": latency and _estimate_json(latency.over),
        "stuck": latency and _estimate_json(latency.stuck),
        "bursts": latency and latency.bursts,
        "longest_s": latency and latency.longest_s,
        "reach": {"written_bytes": result.written, **pick(result, "seconds", "unseen_every_s")}
        if result.runs
        else None,
        **pick(result.foundation, "busy_share", "preconditioned"),
        "safety": {"state": safety.safety.value, **pick(safety, "reasons", "fixes")},
        "text": list(result_lines(plan, result)),
    }


def _estimate_json(estimate: Estimate) -> Json:
    return {**pick(estimate, "mean", "low"), "high": estimate.high if isfinite(estimate.high) else None}
