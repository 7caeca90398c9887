"""What is known of several targets that are measured at the same time, as of one. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from app.engine.advisor.facts import Condition, Policy, RunFacts
from app.engine.advisor.gather import policies_of
from backends.model import Media
from backends.settings import Reading

T = TypeVar("T")

_BETWEEN = ", "


def together(known: Sequence[RunFacts]) -> RunFacts:
    """The facts of all: amounts add up, and of what differs from one to the other nothing is known."""
    first = known[0]
    if len(known) == 1:
        return first
    areas, takes = [one.area_bytes for one in known], [one.takes for one in known]
    written = {one.written for one in known}
    tasks = {task.kind: task for one in known for task in one.before.tasks}
    job = first.job
    if not job.sections:  # a job of several sections is refused on several targets
        job = replace(job, numjobs=job.numjobs * len(known))
    return replace(
        first,
        job=job,
        name=_BETWEEN.join(one.name for one in known),
        scratch=any(one.scratch for one in known),
        area_bytes=_sum(areas),
        written=False if False in written else _alike(list(written)),
        content=any(one.content for one in known),
        media=_alike([one.media for one in known]) or Media.UNKNOWN,
        physical_block=max(one.physical_block or 0 for one in known) or None,
        array=_alike([one.array for one in known]),
        cache_bytes=_alike([one.cache_bytes for one in known]),
        protection=_alike([one.protection for one in known]),
        front=_alike([one.front for one in known]),
        takes=_sum(takes),
        takes_why=f"its {len(known)} targets together" if None not in takes else "",
        before=Condition(tasks=tuple(tasks.values())),
    )


def policies_together(readings: Sequence[Mapping[str, tuple[str, Reading]]]) -> dict[str, Policy]:
    """Settings by key, as far as they are the same on all."""
    each = [policies_of(reading) for reading in readings]
    return {key: policy for key, policy in each[0].items() if all(one.get(key) == policy for one in each)}


def in_turn(each: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """By key, the texts of several targets in their order, once where they are alike."""
    keys = dict.fromkeys(key for one in each for key in one)
    return {key: _BETWEEN.join(dict.fromkeys(one[key] for one in each if key in one)) for key in keys}


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _alike(values: Sequence[T]) -> T | None:
    return values[0] if all(value == values[0] for value in values) else None
