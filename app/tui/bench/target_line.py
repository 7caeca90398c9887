"""The two lines at the head of the Bench screen: what is measured, and how. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.core.presentation.device import target_texts, telling_settings
from app.core.session.event_types import SteadyPlan
from app.core.session.events import RunTarget
from backends.model import Inventory

_JOIN = " · "


def target_line(inventory: Inventory, targets: Sequence[RunTarget], values: Mapping[str, str], *, wide: bool) -> str:
    """`ssd · raid5 · sdb · through · none · 64K`; where it is `wide` the settings are named.

    Of several, which are measured at the same time: `2 targets · ssd, vmstore · through, back`.
    """
    words = [target_texts(inventory, target.device, target.target) for target in targets]
    if len(words) > 1:
        words = [(f"{len(words)} targets", ", ".join(own for own, *_ in words))]
    return _JOIN.join((*words[0], *telling_settings(values, named=wide)))


def job_line(profile: str | None, title: str, plan: SteadyPlan | None) -> str:
    """The workload's name, the job, and what is done about the steady state."""
    named = f"{profile}: {title}" if profile else title
    text = "" if plan is None else plan.describe()
    return _JOIN.join(filter(None, (named, text)))
