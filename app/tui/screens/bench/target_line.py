"""The two lines at the head of the Bench screen: what is measured, and how. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from app.engine.session.steady import SteadyPlan
from app.engine.view.target import settings_words, target_words
from backends.model import Inventory

_JOIN = " · "


def target_line(inventory: Inventory, device: str | None, name: str, values: Mapping[str, str], *, wide: bool) -> str:
    """`ssd · raid5 · sdb · through · none · 64K`; where it is `wide` the settings are named."""
    return _JOIN.join((*target_words(inventory, device, name), *settings_words(values, named=wide)))


def job_line(profile: str | None, title: str, plan: SteadyPlan | None) -> str:
    """The workload's name, the job, and what is done about the steady state."""
    named = f"{profile}: {title}" if profile else title
    words = "" if plan is None else plan.describe()
    return _JOIN.join(filter(None, (named, words)))
