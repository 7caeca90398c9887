"""What tells groups of runs apart, in words: never a run's id where settings or jobs differ. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from app.engine.judge.comparison import varying
from app.engine.session.events import RunStarted
from app.engine.view.names import setting_words
from widgets.plain import units

_BACKEND = re.compile(r"^[a-z0-9_-]+:(?=.)")
_MOST = 3
"""Things that a name tells; more are counted."""


def job_words(start: RunStarted) -> str:
    """`4k random read, QD 64`: a job without what most have."""
    parts = start.title.split(" · ")
    return ", ".join([*parts[:2], *(part for part in parts[2:3] if part != "1 job")])


def what_of(start: RunStarted) -> str:
    """`4k random read, QD 64, /c0/v1`."""
    return f"{job_words(start)}, {short_target(start.target)}"


def short_target(target: str) -> str:
    """`/c0/v1` of `megaraid:/c0/v1`: as short as what it is still says."""
    return ", ".join(_BACKEND.sub("", each) for each in target.split(", "))


def names_of(starts: Sequence[RunStarted]) -> list[str]:
    """What each has that not all have: settings, then the job, the target, what lies beneath; at last when it was."""
    settings, jobs = _told([start.settings for start in starts]), _told([start.work for start in starts])
    targets = [start.target if len({one.target for one in starts}) > 1 else "" for start in starts]
    beneath, times = _told([start.provenance for start in starts]), [units.moment(start.at)[:19] for start in starts]
    for parts in (
        (settings,),
        (jobs,),
        (settings, jobs, targets),
        (settings, jobs, targets, beneath),
        (settings, times),
    ):
        names = [", ".join(filter(None, each)) for each in zip(*parts, strict=True)]
        if all(names) and len(set(names)) == len(names):
            return names
    return [start.id for start in starts]


def settings_of(starts: Sequence[RunStarted]) -> list[str]:
    """The settings of each that not all have."""
    return [name or "as it was" for name in _told([start.settings for start in starts])]


def _told(mappings: list[Mapping[str, str]]) -> list[str]:
    """What of each is not in all of them."""
    keys = varying(mappings)
    return [_listed([setting_words(key, texts[key]) for key in keys if texts.get(key)]) for texts in mappings]


def _listed(told: list[str]) -> str:
    if len(told) > _MOST:
        return f"{', '.join(told[: _MOST - 1])} and {len(told) - _MOST + 1} more"
    return ", ".join(told)
