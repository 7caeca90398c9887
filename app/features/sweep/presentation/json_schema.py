"""A sweep as JSON of the command line; fields are only ever added. No I/O."""

from __future__ import annotations

from app.core.analysis.stats import THRESHOLD_PERCENT, LogMeanInterval, MeanInterval
from app.core.analysis.verdict import VerdictResult
from app.core.presentation.json_schema import Json, pick
from app.core.presentation.verdict_text import reason_text
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Design, SweepCell
from app.features.sweep.engine.cells import CellResult, LatencyFigure
from app.features.sweep.engine.load_curve import LoadCurve
from app.features.sweep.engine.results import Results
from app.features.sweep.engine.saturation import DepthPoint
from app.features.sweep.engine.verdicts import underpowered_setups
from app.features.sweep.presentation.arrays import making_json
from app.features.sweep.presentation.published_results import published_json
from app.features.sweep.presentation.sweep import cell_notes


def design_json(design: Design) -> Json:
    """Return the design of a sweep as JSON."""
    return {
        **pick(design, "title", "seed", "repeats", "pairs", "rank"),
        "threshold_percent": design.threshold_percent or THRESHOLD_PERCENT,
        "rule": design.rule,
        "blind": [pick(setups, "setups", "rounds", "enough") for setups in underpowered_setups(design)],
        "targets": dict(design.targets),
        "making": making_json(design),
        "seconds": design.seconds,
        "cells": [_cell(cell) for cell in design.cells],
        "steps": [pick(step, "number", "cell", "purpose", "round", "block") for step in design.steps],
        "skipped": [pick(cell, "row", "column", "reason") for cell in design.skipped],
        "before": [pick(original, "target", "key", "value") for original in design.originals],
        "destroys": [pick(destroy, "device", "name", "found") for destroy in design.destroys],
    }


_LATENCIES = {
    "mean": LatencyFigure.MEAN,
    "p50": LatencyFigure.P50,
    "p99": LatencyFigure.P99,
    "p99_9": LatencyFigure.P99_9,
}


def sweep_json(record: SweepRecord, results: Results, *, session: str) -> Json:
    """Return the progress and the results of a sweep as JSON."""
    end = record.end
    return {
        "session": session,
        **pick(record, "started", "pid"),
        "design": design_json(record.design),
        "done": record.done,
        "steps": len(record.steps),
        "result": None if end is None else end.result.value,
        "reason": None if end is None else end.reason or None,
        "left": [] if end is None else list(end.left),
        "damage": list(record.damage),
        "refused": [{"array": array, "reason": reason} for array, reason in record.refused.items()],
        "cells": [_result(cell) for cell in results.cells],
        "rankings": {
            column: [cell_result.cell.id for cell_result in results.ranking(column)] for column in results.columns
        },
        "pareto": [cell for front in results.fronts for cell in front],
        "leaders": [list(line) for line in results.leaders],
        "confirmations": [
            {
                "winner": confirmation.winner.id,
                "baseline": confirmation.baseline.id,
                "pairs": confirmation.pairs,
                "judgement": _judgement(confirmation.judgement),
            }
            for confirmation in results.confirmations
        ],
        "saturation": [
            {
                "row": search.cell.row,
                "workload": search.cell.column,
                "points": [_depth(point) for point in search.points],
                "best": None if search.best is None else search.best.depth,
                "iops": _spread(search.plateau),
            }
            for search in results.saturated
        ],
        "curves": [_curve(curve) for curve in results.load_curves],
        "published": published_json(results),
        "ended": [
            {**pick(end, "step", "result", "run", "again"), "reason": end.reason or None} for end in record.ended
        ],
    }


def _depth(point: DepthPoint) -> Json:
    tail = point.p99_ns
    return {
        "depth": point.depth,
        "iops": None if point.iops is None else point.iops.mean,
        "half": None if point.iops is None else point.iops.half,
        "p99_ns": None if tail is None else round(tail.mean),
        "p99_low_ns": None if tail is None else tail.low,
        "p99_high_ns": None if tail is None else tail.high,
        "runs": len(point.scores),
    }


def _curve(curve: LoadCurve) -> Json:
    knee = curve.knee
    return {
        "row": curve.cell.row,
        "workload": curve.cell.column,
        "job": dict(curve.cell.job),
        "points": [
            {
                **pick(point, "percent", "asked", "carried"),
                "runs": len(point.scores),
                "reached": _spread(point.iops),
                "latency_ns": {name: _interval(point.latency(figure)) for name, figure in _LATENCIES.items()},
            }
            for point in curve.points
        ],
        "knee": None
        if knee is None
        else {
            "iops": knee.rate,
            "low": knee.low,
            "high": knee.high,
            "latency_ns": knee.latency,
            "at_limit": knee.at_limit,
        },
    }


def _spread(mean: MeanInterval | None) -> Json | None:
    return None if mean is None else pick(mean, "mean", "half", "n")


def _interval(mean: LogMeanInterval | None) -> Json | None:
    return None if mean is None else pick(mean, "mean", "low", "high", "n")


def _cell(cell: SweepCell) -> Json:
    return {
        **pick(cell, "id", "row", "column"),
        "target": cell.where,
        "settings": [pick(setting, "target", "key", "value") for setting in cell.settings],
        "job": dict(cell.job),
        **pick(cell, "profile", "against", "block", "array"),
    }


def _result(cell_result: CellResult) -> Json:
    figure = cell_result.figure
    return {
        **pick(cell_result.cell, "id", "row", "column"),
        "runs": len(cell_result.scores),
        "values": [score.iops for score in cell_result.scores],
        "iops": cell_result.iops,
        "mean": None if figure is None else figure.mean,
        "half": None if figure is None else figure.half,
        "latency_ns": {"mean": cell_result.mean_ns, "p99": cell_result.p99_ns},
        "judgement": _judgement(cell_result.judgement),
        "failures": list(cell_result.failures),
        "notes": list(cell_notes(cell_result)),
    }


def _judgement(judgement: VerdictResult | None) -> Json | None:
    if judgement is None:
        return None
    interval = judgement.interval
    return {
        **pick(judgement, "verdict", "interleaved"),
        "reason": reason_text(judgement) or None,
        "percent": None if interval is None else interval.percent,
        "low": None if interval is None else interval.percent_low,
        "high": None if interval is None else interval.percent_high,
    }
