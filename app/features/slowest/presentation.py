"""The plan and the results of `slowest` as sentences, as a table and as JSON. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import fmean

from app.core.analysis.slow_member import MemberComparison
from app.core.presentation import json_schema
from app.core.presentation.table import Align, Cell, Column, Row, Table, Tone
from app.features.slowest import engine
from app.features.slowest.engine import WORTH_SHOWING, MemberPlan, MemberRead, hung_members
from backends.model import Drive
from backends.text import clean
from widgets.text_utils import units

COLUMNS = (
    Column(key="drive", title="drive"),
    Column(key="model", title="model", shrinks=True, priority=1),
    Column(key="latency", title="latency", align=Align.RIGHT),
    Column(key="slower", title="vs. the others", align=Align.RIGHT),
    Column(key="interval", title="interval", align=Align.RIGHT),
    Column(key="slow", title=""),
)


def members_table(plan: MemberPlan, reads: Sequence[MemberRead], figures: Sequence[MemberComparison]) -> Table:
    """Return a table with one row per member: hung members first, then the others from the slowest to the fastest.

    Without comparisons (`figures`), the rows show the readings so far.
    """
    drives = {drive.device or "": drive for drive in plan.drives}
    hung = hung_members(reads)
    if figures:
        rows = (
            *(_hung_row(drives[node]) for node in hung),
            *(_compared_row(drives[comparison.name], comparison) for comparison in figures),
        )
        return Table(columns=COLUMNS, rows=rows)
    rows = tuple(_hung_row(drive) if drive.device in hung else _read_row(drive, reads) for drive in plan.drives)
    return Table(columns=COLUMNS, rows=rows)


def _hung_row(drive: Drive) -> Row:
    answer = Cell(f"over {engine.ANSWER_S:.0f} s", Tone.ATTENTION)
    return _row(drive, answer, "", "", Cell("hung", Tone.ATTENTION))


def _compared_row(drive: Drive, comparison: MemberComparison) -> Row:
    tone = Tone.ATTENTION if comparison.is_slow else Tone.PLAIN
    return _row(
        drive,
        units.latency(comparison.value),
        Cell(f"{100 * comparison.slower:+.1f} %", tone),
        Cell(f"[{100 * comparison.low:+.1f}, {100 * comparison.high:+.1f}]", tone),
        Cell("slow", tone) if comparison.is_slow else "",
    )


def _read_row(drive: Drive, reads: Sequence[MemberRead]) -> Row:
    latencies = [log(read.latency_ns) for read in reads if read.device == drive.device and read.latency_ns is not None]
    latency = units.latency(exp(fmean(latencies))) if latencies else ""
    times = f"read {units.plural(len(latencies), 'time')}" if latencies else ""
    return _row(drive, latency, times, "", "")


def _row(drive: Drive, *cells: str | Cell) -> Row:
    node = drive.device or ""
    return Row(key=node, cells=(node, clean(drive.model or "", 40), *cells))


def plan_text(plan: MemberPlan) -> str:
    """Return sentences about a plan (`4 drives in 5 rounds: 40 s of reading.`) and about what it can detect."""
    limited = " at a limited rate" if plan.gently else ""
    length = f"{len(plan.drives)} drives in {plan.rounds} rounds: {units.duration(plan.seconds)} of reading{limited}."
    return f"{length} {power_text(plan)}"


def power_text(plan: MemberPlan) -> str:
    """Return sentences about the difference that a plan can detect, and how many rounds a smaller one needs."""
    shown = f"In at least 8 of 10 cases, this finds a member that is {100 * plan.detectable_share:.0f} % slower."
    if plan.detectable_share <= WORTH_SHOWING:
        return shown
    worth = f"{100 * WORTH_SHOWING:.0f} %"
    if plan.rounds_needed is None:
        return f"{shown} A difference of {worth} cannot be detected with these drives."
    return f"{shown} Detecting a difference of {worth} takes {plan.rounds_needed} rounds."


def slowest_text(reads: Sequence[MemberRead], figures: Sequence[MemberComparison]) -> str:
    """Return sentences that name the hung and the slow members."""
    hung, slow = hung_members(reads), [comparison.name for comparison in figures if comparison.is_slow]
    lines = [hung_text(hung)] if hung else []
    if slow:
        lines.append(f"Slower than the others: {', '.join(slow)}.")
    elif figures:
        lines.append("No member is significantly slower than the others.")
    elif hung:
        lines.append("Not enough data to compare the other members.")
    return " ".join(lines)


def hung_text(nodes: Sequence[str]) -> str:
    """Return a sentence that names hung members."""
    return f"Hung (no response to a read within {engine.ANSWER_S:.0f} s): {', '.join(nodes)}."


def members_json(
    plan: MemberPlan, reads: Sequence[MemberRead], figures: Sequence[MemberComparison]
) -> list[json_schema.Json]:
    """Return the members as JSON: hung members first, then the others, slowest first if they could be compared."""
    drives = {drive.device or "": drive for drive in plan.drives}
    hung, judged = hung_members(reads), {comparison.name: comparison for comparison in figures}
    rest = judged or [node for node in drives if node not in hung]
    return [_json(node, drives[node], judged.get(node), hung=node in hung) for node in (*hung, *rest)]


def _json(node: str, drive: Drive, comparison: MemberComparison | None, *, hung: bool) -> json_schema.Json:
    return {
        "device": node,
        "target": str(drive.target),
        "latency_ns": None if comparison is None else comparison.value,
        "slower_percent": None if comparison is None else 100 * comparison.slower,
        "interval_percent": None if comparison is None else [100 * comparison.low, 100 * comparison.high],
        "slow": None if comparison is None else comparison.is_slow,
        "hung": hung,
    }
