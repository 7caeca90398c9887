"""Which runs stand on which side of a comparison, and whether they were measured in turn. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from app.engine.judge.stats import THRESHOLD_PERCENT
from app.engine.session.figures import RunStatus
from app.engine.session.looks import Look
from app.engine.session.state import RunRecord, Session
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """The runs of both sides."""

    a: tuple[RunRecord, ...]
    """What is compared with."""
    b: tuple[RunRecord, ...]
    """What is compared."""
    interleaved: bool
    """Whether a[i] and b[i] are a pair and the pairs were measured in turn."""
    alike: bool = False
    """Whether both are repeats of the same."""
    note: str = ""
    """Which runs these are, or why they are no pairs; a sentence."""
    looks: tuple[Look, ...] = ()
    """When the pairs were to be judged; none where no plan was made for them."""
    apart: bool = False
    """Whether they are of two sessions."""
    threshold: float = THRESHOLD_PERCENT
    """A difference within this many percent is none."""
    after: int = 0
    """How many of the last runs of a were measured after all of b, where the others came before; else 0."""


SUBJECT = (
    *("backing_file", "backing_inode", "backing_bytes", "size_bytes"),
    *("array_level", "array_members", "array_strip_bytes", "array_id"),
    *("controller", "controller_serial", "controller_firmware"),
    *("drive_model", "drive_serial", "drive_firmware"),
)
"""What of a run's provenance is the thing that was measured: another one under the same name is no repeat."""

Condition = tuple[str, tuple[tuple[str, str], ...], tuple[tuple[str, str], ...], tuple[str | None, ...]]


def condition(run: RunRecord) -> Condition:
    """What makes runs repeats of each other: target, job, every recorded setting, and the thing itself."""
    start = run.start
    # A scratch file is known by what lies beneath it: its name may be another one in each run.
    where = start.target if start.scratch is None else start.device or start.target
    subject = tuple(start.provenance.get(key) for key in SUBJECT)
    return where, tuple(sorted(start.job.items())), tuple(sorted(start.settings.items())), subject


def repeats(runs: Iterable[RunRecord]) -> dict[Condition, tuple[RunRecord, ...]]:
    """Whole runs by what was measured, in their order."""
    found: dict[Condition, tuple[RunRecord, ...]] = {}
    for run in runs:
        if run.figures.status is RunStatus.OK:
            found[condition(run)] = (*found.get(condition(run), ()), run)
    return found


def pairs_of(session: Session, experiment_id: str) -> Sides:
    """The whole pairs of an experiment; both sides may be empty."""
    found: dict[int, dict[str, RunRecord]] = {}
    for run in session.runs:
        mark = run.start.mark
        if mark is not None and mark.experiment == experiment_id and run.figures.status is RunStatus.OK:
            found.setdefault(mark.pair, {})[mark.letter] = run
    whole = [pair for _, pair in sorted(found.items()) if len(pair) == 2]
    record = session.experiment(experiment_id)
    return Sides(
        a=tuple(pair["A"] for pair in whole),
        b=tuple(pair["B"] for pair in whole),
        interleaved=True,
        looks=() if record is None else record.start.looks,
        threshold=(record and record.start.threshold_percent) or THRESHOLD_PERCENT,
    )


def sides_of(a: RunRecord, b: RunRecord, a_session: Sequence[RunRecord], b_session: Sequence[RunRecord]) -> Sides:
    """The sides that two runs stand for: the pairs of their experiment, or the repeats of each.

    `a_session` and `b_session` hold the runs of the session that each belongs to.
    """
    together = a_session is b_session or tuple(a_session) == tuple(b_session)
    if together and (pairs := _experiment(a, b, a_session)) is not None:
        return pairs
    if together and condition(a) == condition(b):
        return Sides(a=(a,), b=(b,), interleaved=False, alike=True)
    one, other = _alike(a, a_session), _alike(b, b_session)
    if len(one) == len(other) == 1:
        return Sides(a=one, b=other, interleaved=False, apart=not together)
    if together and (order := _in_turn(one, other)):
        return order
    if after := _after(one, other):
        ordered = tuple(sorted(one, key=lambda run: run.start.at))
        note = f"{_names(ordered[:-after])}, then {_names(other)}, then {_names(ordered[-after:])}."
        return Sides(a=ordered, b=other, interleaved=False, apart=not together, note=note, after=after)
    of_one, of_other = ("", "") if together else (" of the first session", " of the second")
    note = f"Not in turn: {_names(one)}{of_one} against {_names(other)}{of_other}."
    return Sides(a=one, b=other, interleaved=False, apart=not together, note=note)


def _experiment(a: RunRecord, b: RunRecord, runs: Sequence[RunRecord]) -> Sides | None:
    """The pairs of the experiment that both belong to; the letter of `a` first."""
    one, other = a.start.mark, b.start.mark
    if one is None or other is None or one.experiment != other.experiment or one.letter == other.letter:
        return None
    pairs = pairs_of(Session(runs=tuple(runs)), one.experiment)
    if not pairs.a:
        return None
    note = f"All {len(pairs.a)} pairs of the experiment {one.experiment}."
    first, second = (pairs.a, pairs.b) if one.letter == "A" else (pairs.b, pairs.a)
    return Sides(a=first, b=second, interleaved=True, note=note)


def _alike(run: RunRecord, runs: Sequence[RunRecord]) -> tuple[RunRecord, ...]:
    """The run with its repeats; itself at least, whole or not."""
    found = repeats(runs).get(condition(run), ())
    return found if run in found else (run,)


def _in_turn(a: tuple[RunRecord, ...], b: tuple[RunRecord, ...]) -> Sides | None:
    """Pairs of neighbours in time, if every run is in one and not always the same side came first."""
    letters: Mapping[str, str] = {run.id: "A" for run in a} | {run.id: "B" for run in b}
    timed = sorted((*a, *b), key=lambda run: run.start.at)
    if len(a) != len(b):
        return None
    pairs = list(zip(timed[::2], timed[1::2], strict=True))
    if any(letters[first.id] == letters[second.id] for first, second in pairs):
        return None
    if len({letters[first.id] for first, _ in pairs}) == 1:
        return None  # always A before B: a drift falls on one side
    ordered = [pair if letters[pair[0].id] == "A" else pair[::-1] for pair in pairs]
    return Sides(
        a=tuple(one for one, _ in ordered),
        b=tuple(other for _, other in ordered),
        interleaved=True,
        note=f"Measured in turn: {', '.join(run.id for run in timed)}.",
    )


def _after(a: tuple[RunRecord, ...], b: tuple[RunRecord, ...]) -> int:
    """How many of a were measured after all of b; 0 unless all others were measured before."""
    first, last = min(run.start.at for run in b), max(run.start.at for run in b)
    before, after = sum(run.start.at < first for run in a), sum(run.start.at > last for run in a)
    return after if before and before + after == len(a) else 0


def _names(runs: tuple[RunRecord, ...]) -> str:
    return ", ".join(run.id for run in runs)
