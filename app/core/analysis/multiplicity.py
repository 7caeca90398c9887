"""Many figures at once: what is shown of one of them when all are counted. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.core.analysis.pair_design import LEVEL
from app.core.analysis.reasons import Reason
from app.core.analysis.stats import holm
from app.core.analysis.verdict import Verdict, VerdictResult

BESIDE = 0.2
"""Of the level of the headline what all figures beside it share, so that the whole job stays at about that level."""


def correct_for_multiplicity(
    judgements: Sequence[VerdictResult | None], *, share: float = 1.0
) -> tuple[VerdictResult | None, ...]:
    """The same judgements; a difference that chance explains, given their number, is not decided any more.

    `share`: how much of the level the family has to itself.
    """
    family = [judgement for judgement in judgements if judgement is not None and judgement.interval is not None]
    if len(family) < 2:
        return tuple(judgements)
    adjusted = dict(
        zip(map(id, family), holm([judgement.interval.p for judgement in family if judgement.interval]), strict=True)
    )
    return tuple(
        _corrected(judgement, adjusted.get(id(judgement), 0.0) / share, len(family)) for judgement in judgements
    )


def _corrected(judgement: VerdictResult | None, p: float, count: int) -> VerdictResult | None:
    if judgement is None or not judgement.differs:
        return judgement
    level = LEVEL if judgement.interval is None else judgement.interval.level
    if p <= level:
        return judgement
    return replace(judgement, verdict=Verdict.NOT_DECIDED, reason=Reason.ONE_OF_MANY, figures=count)
