"""Members that were read in turn, in words and rows: each against its siblings. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import fmean

from app.engine.judge.siblings import SiblingFigures
from app.engine.slowest import MemberPlan, MemberRead
from app.engine.view import schema
from app.engine.view.table import Align, Cell, Column, Row, Table, Tone
from backends.model import Drive
from backends.text import clean
from widgets.plain import units

COLUMNS = (
    Column(key="drive", title="drive"),
    Column(key="model", title="model", shrinks=True, priority=1),
    Column(key="latency", title="latency", align=Align.RIGHT),
    Column(key="slower", title="against the others", align=Align.RIGHT),
    Column(key="interval", title="interval", align=Align.RIGHT),
    Column(key="slow", title=""),
)


def siblings_table(plan: MemberPlan, reads: Sequence[MemberRead], figures: Sequence[SiblingFigures]) -> Table:
    """One row a member: with the figures the slowest first, before there are any what was read so far."""
    drives = {drive.device or "": drive for drive in plan.drives}
    if figures:
        return Table(columns=COLUMNS, rows=tuple(_judged(drives[one.name], one) for one in figures))
    return Table(columns=COLUMNS, rows=tuple(_so_far(drive, reads) for drive in plan.drives))


def _judged(drive: Drive, one: SiblingFigures) -> Row:
    tone = Tone.ATTENTION if one.is_slow else Tone.PLAIN
    return Row(
        key=one.name,
        cells=(
            one.name,
            clean(drive.model or "", 40),
            units.latency(one.value),
            Cell(f"{100 * one.slower:+.1f} %", tone),
            Cell(f"[{100 * one.low:+.1f}, {100 * one.high:+.1f}]", tone),
            Cell("slow", tone) if one.is_slow else "",
        ),
    )


def _so_far(drive: Drive, reads: Sequence[MemberRead]) -> Row:
    own = [log(one.latency_ns) for one in reads if one.device == drive.device]
    latency = units.latency(exp(fmean(own))) if own else ""
    times = f"read {units.plural(len(own), 'time')}" if own else ""
    return Row(key=drive.device or "", cells=(drive.device or "", clean(drive.model or "", 40), latency, times, "", ""))


def plan_words(plan: MemberPlan) -> str:
    """`4 drives in 5 rounds: 40 s of reading, gently.`"""
    gently = ", gently" if plan.gently else ""
    return f"{len(plan.drives)} drives in {plan.rounds} rounds: {units.duration(plan.seconds)} of reading{gently}."


def slowest_words(figures: Sequence[SiblingFigures]) -> str:
    """Which are slow, as a sentence."""
    names = ", ".join(one.name for one in figures if one.is_slow)
    return f"Slower than its siblings: {names}." if names else "None is slower than its siblings by more than chance."


def siblings_json(plan: MemberPlan, figures: Sequence[SiblingFigures]) -> list[schema.Json]:
    """The same as data."""
    drives = {drive.device: drive for drive in plan.drives}
    return [
        {
            "device": one.name,
            "target": str(drives[one.name].target),
            "latency_ns": one.value,
            "slower_percent": 100 * one.slower,
            "interval_percent": [100 * one.low, 100 * one.high],
            "slow": one.is_slow,
        }
        for one in figures
    ]
