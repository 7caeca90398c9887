"""How a run stands, or stood, to the steady state rule, in words."""

from __future__ import annotations

from app.engine.session.figures import SteadyFigures
from widgets.plain import units


def steady_words(seen: SteadyFigures) -> str:
    """`steady: no, range 31 %, slope 12 % (round 7)`; `steady: round 3 of 5` before there is a window."""
    if seen.rounds < seen.window:
        return f"steady: round {seen.rounds} of {seen.window}"
    said = f"steady: {'yes' if seen.attained else 'no'}"
    if seen.range_share is None or seen.slope_share is None:
        return f"{said}, no I/O (round {seen.rounds})"
    limits = f"range {units.fraction(seen.range_share)}, slope {units.fraction(seen.slope_share)}"
    return f"{said}, {limits} (round {seen.rounds})"


def outcome_words(seen: SteadyFigures) -> str:
    """How a finished run stood to the rule: a clause."""
    limits = ""
    if seen.range_share is not None and seen.slope_share is not None:
        limits = f" (range {units.fraction(seen.range_share)}, slope {units.fraction(seen.slope_share)})"
    said = "steady" if seen.attained else "NOT STEADY"
    if seen.ended_early:
        return f"{said}, so ended early{limits}"
    if seen.capped:
        return f"{said} after {units.duration(seen.waited_s)} of waiting, measured anyway{limits}"
    if seen.waited_s:
        return f"{said} after {units.duration(seen.waited_s)}, then measured{limits}"
    return f"{said}{limits}"
