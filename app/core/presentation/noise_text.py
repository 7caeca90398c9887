"""Texts about the noise of a target, and about the effects that pairs of runs on it can show. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from app.core.analysis.comparison import Comparison
from app.core.analysis.noise import SIZES, RunNoise, detectable_effect, noise_of_pairs, pairs_for
from app.core.analysis.pair_design import FEWEST_PAIRS, STANDARD
from app.core.presentation.json_schema import Json
from app.core.session.event_types import InterimAnalysis
from widgets.text_utils import units

_MOST = 50
"""Largest number of pairs that is shown exactly; of a larger number, the text says only that it is larger."""


def run_noise_text(noise: RunNoise) -> str:
    """Return a clause about the scatter of runs with the same configuration."""
    return f"Run-to-run noise here: {noise.percent:.1f} % ({units.plural(noise.runs, 'run')})"


def sizes_text(noise: RunNoise) -> str:
    """Return the number of pairs for effects of several sizes: `an effect of 5 % needs 7 pairs, 10 % needs 4 pairs`."""
    needed = ", ".join(f"{size:g} % {_pairs_needed_text(pairs_for(noise, size, _MOST))}" for size in SIZES)
    return f"an effect of {needed}"


def _pairs_needed_text(pairs: int | None) -> str:
    return f"needs more than {_MOST} pairs" if pairs is None else f"needs {units.plural(pairs, 'pair')}"


def cells_noise_text(noise: RunNoise, repeats: int, pairs: int) -> str:
    """Return clauses about a sweep: its noise, its runs per cell, and which effect its confirming pairs can show."""
    confirmed = (
        f"; the {units.plural(pairs, 'pair')} of the confirmation can show {detectable_effect(noise, pairs):.1f} %"
        if pairs >= FEWEST_PAIRS
        else ""
    )
    return f"{run_noise_text(noise)}, {units.plural(repeats, 'run')} per cell{confirmed}; {sizes_text(noise)}"


def null_texts(comparison: Comparison) -> Iterator[str]:
    """Yield sentences about an experiment with the same value on both sides: the noise, and a difference if any."""
    row = comparison.headline
    interval = None if row is None else row.interval
    noise = None if interval is None else noise_of_pairs(interval)
    if noise is None:
        yield "Too few pairs to estimate the run-to-run noise."
        return
    usual = STANDARD[-1]
    percent = detectable_effect(noise, usual.pairs, level=usual.level)
    yield (
        f"{run_noise_text(noise)}. The usual {usual.pairs} pairs can show a difference of {percent:.1f} % or "
        f"more; {sizes_text(noise)}."
    )
    if interval is not None and interval.excludes_zero and not interval.within(comparison.sides.threshold):
        yield (
            "Nothing was changed, but B differs from A. This happens by chance once in twenty times. If it "
            "happens again, a periodic disturbance of this machine is in step with the runs."
        )


def noise_json(noise: RunNoise | None, sights: Iterable[tuple[InterimAnalysis, float]] = ()) -> Json | None:
    """Return the noise, and the effects that pairs can show, as JSON; None without noise.

    `sights`: interim analyses of a plan, each with the effect in percent that it can show.
    """
    if noise is None:
        return None
    return {
        "sd_percent": noise.percent,
        "runs": noise.runs,
        "sees": [{"pairs": look.pairs, "percent": percent} for look, percent in sights],
        "pairs_for": [{"percent": size, "pairs": pairs_for(noise, size, _MOST)} for size in SIZES],
    }
