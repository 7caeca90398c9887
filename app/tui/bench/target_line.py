"""The two lines at the head of the Bench screen: what is measured, and how. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.core.presentation.device import settings_words, target_words
from app.core.session.event_types import SteadyPlan
from app.core.session.events import RunTarget
from backends.model import Inventory

_JOIN = " · "


def target_line(inventory: Inventory, targets: Sequence[RunTarget], values: Mapping[str, str], *, wide: bool) -> str:
    """`ssd · raid5 · sdb · through · none · 64K`; where it is `wide` the settings are named.

    Of several, which are measured at the same time: `2 targets · ssd, vmstore · through, back`.
    """
    parts = [target_words(inventory, target.device, target.target) for target in targets]
    if len(parts) > 1:
        parts = [(f"{len(parts)} targets", ", ".join(own for own, *_ in parts))]
    return _JOIN.join((*parts[0], *settings_words(values, named=wide)))


def job_line(profile: str | None, title: str, plan: SteadyPlan | None) -> str:
    """The workload's name, the job, and what is done about the steady state."""
    named = f"{profile}: {title}" if profile else title
    text = "" if plan is None else plan.describe()
    return _JOIN.join(filter(None, (named, text)))
