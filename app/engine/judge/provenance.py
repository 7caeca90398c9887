"""What two sides came from beside their settings, and how far sessions of the same lie apart. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import expm1

from app.engine.judge.grouping import SUBJECT, Sides, condition, repeats
from app.engine.judge.later import apart
from app.engine.judge.stats import Spread, geometric_mean
from app.engine.session.state import RunRecord
from widgets.plain import units

_MOST_NAMED = 6
_OF_SCHEDULER = ("queue_iosched_", "member_queue_iosched_")
"""Knobs of one scheduler: another one has others, which says no more than that it is another one."""

_WORDS = {
    "backing_file": "path of the backing file",
    "backing_inode": "inode of the backing file",
    "backing_bytes": "size of the backing file",
    "size_bytes": "size",
    "boot_id": "boot",
    "cpu": "processor",
    "cores": "number of processors",
    "memory_bytes": "memory",
    "numa_node": "NUMA node",
    "pci": "PCI address",
    "pcie_link": "PCIe link",
    "pcie_link_max": "best PCIe link",
    "irq_affinity": "IRQ affinity",
}
"""Keys in words where their own are none."""

Differences = tuple[tuple[str, str | None, str | None], ...]


def differences(sides: Sides) -> Differences:
    """What is not the same on both: key, value of the first, of the second; what was measured first, the boot last.

    A side whose runs disagree has several values.
    """
    known = [[run.provenance for run in runs] for runs in (sides.a, sides.b)]
    keys = dict.fromkeys(key for side in known for run in side for key in run)
    found = []
    for key in sorted(
        keys, key=lambda key: SUBJECT.index(key) if key in SUBJECT else len(SUBJECT) + (key == "boot_id")
    ):
        a, b = ({run.get(key) for run in side} for side in known)
        one, other = _shown(a), _shown(b)
        if a != b and not (key.startswith(_OF_SCHEDULER) and None in (one, other)):
            found.append((key, one, other))
    return tuple(found)


def _shown(values: set[str | None]) -> str | None:
    return " or ".join(sorted(filter(None, values))) or None


def sentences(sides: Sides, differing: Differences) -> Iterator[str]:
    """What is to be known before the figures of two sessions, or of runs that were not made of the same.

    Of runs made in turn nothing: what moved along with the tried value is told of the experiment.
    """
    if sides.interleaved:
        return
    if sides.apart:
        yield "Two sessions, not in turn."
    if sides.apart and not all(run.start.provenance for run in (*sides.a, *sides.b)):
        yield "An earlier version measured one of them, and kept little of what it was measured on."
    if differing:
        yield f"What differs beside settings and job: {_named([key for key, _, _ in differing])}."
    elif sides.apart:
        yield "Nothing that was recorded differs beside settings and job."


def words_of(key: str) -> str:
    """What a fact beneath a run is called in a sentence: `path of the backing file`."""
    return _WORDS.get(key) or key.replace("_", " ")


def _named(keys: Sequence[str]) -> str:
    words = [words_of(key) for key in keys]
    more = len(words) - _MOST_NAMED
    return ", ".join(words) if more <= 0 else f"{', '.join(words[:_MOST_NAMED])} and {more} more"


def between_sessions(
    run: RunRecord, sessions: Sequence[Sequence[RunRecord]], value: Callable[[RunRecord], float | None]
) -> Spread | None:
    """How far sessions in which the same was measured lie apart, as logarithms of their means; None of too few."""
    groups = (repeats(runs).get(condition(run), ()) for runs in sessions)
    measured = [[found for one in group if (found := value(one))] for group in groups]
    return apart([geometric_mean(values) for values in measured if values and min(values) > 0])


def between_words(seen: Spread) -> str:
    """`In 5 earlier sessions the same scattered by 3.1 % from one to the next.`: their standard deviation."""
    percent = expm1(seen.sd or 0.0) * 100
    return f"In {units.plural(seen.n, 'earlier session')} the same scattered by {percent:.1f} % from one to the next."
