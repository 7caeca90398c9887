"""Runs against which nothing is to be said, and what differs from them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.core.benchmark.conditions.facts import Condition, Geometry, MeasuredSoFar, Policy, RunFacts
from app.core.fio.job import Job
from app.core.session.results import Advice
from app.features.advice.rules import advise
from backends.model import Level, Media

K, M, G = 1 << 10, 1 << 20, 1 << 30

BLAMELESS = RunFacts(
    job=Job.from_fields({"rw": "randread", "bs": "4k", "iodepth": "32"}),
    name="/dev/sdb",
    area_bytes=400 * G,
    media=Media.SSD,
    physical_block=4096,
    memory_bytes=64 * G,
    cores=16,
    governors={"performance": 16},
    queue_limit=256,
    queue_limit_source="queue_depth",
)
"""A run on an SSD with a filesystem."""

RAID5 = Geometry(level=Level.RAID5, strip_bytes=64 * K, data_drives=22)
"""Article B: 23 members."""


def run(*, job: dict[str, str] | None = None, **changes: Any) -> RunFacts:
    """The blameless run with another job or other facts."""
    facts = replace(BLAMELESS, **changes)
    return replace(facts, job=Job.from_fields(job or {}, facts.job))


def over(**changes: Any) -> MeasuredSoFar:
    """A minute, measured and over."""
    base = MeasuredSoFar(ended=True, seconds=60.0, reads=5_000_000, read_bytes=5_000_000 * 4096, rounds=(85e3,) * 6)
    return replace(base, **changes)


def going(**changes: Any) -> MeasuredSoFar:
    """A run that goes on."""
    return replace(over(), ended=False, left=10.0, **changes)


def set_to(
    value: str, *, in_force: str | None = None, key: str = "write_cache", label: str = "Write cache"
) -> Condition:
    """One policy of the array."""
    return Condition(policies={key: Policy(label=label, now=value, effective=in_force, why="the battery failed")})


def keys(facts: RunFacts) -> list[str]:
    """Of all advice."""
    return [advice.key for advice in advise(facts)]


def said(facts: RunFacts, key: str) -> Advice:
    """The advice of that key."""
    found = [advice for advice in advise(facts) if advice.key == key]
    assert found, f"no {key} among {keys(facts)}"
    return found[0]
