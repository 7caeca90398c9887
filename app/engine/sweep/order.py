"""The order of the steps and the pauses before them: slow settings change least, all else is drawn at random. Pure.

Cells that share every slow setting and feature are a block. Within a block every repeat is a round that visits all of
its cells, in an order drawn anew: what was measured is judged by the orders that could have been drawn, and the same
order backwards would be none of its own.
Blocks cannot be measured in turn; where several differ by slow settings, what they are compared with is measured once
more at their end (A B A).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from app.engine.measure.idle_wait import drawn_pause
from app.engine.session.sweep_steps import Assignment, Design, Purpose, Step, SweepCell

_T = TypeVar("_T")

_Block = tuple[tuple[str, ...], tuple[Assignment, ...]]
"""Features and slow settings."""


def arrange(
    cells: Sequence[SweepCell], originals: Sequence[Assignment], *, repeats: int, seed: int
) -> tuple[tuple[SweepCell, ...], tuple[Step, ...]]:
    """The cells with the number of their block, and the steps."""
    random = Random(seed)
    blocks = _ordered(cells, tuple(one for one in originals if one.slow), random)
    numbers = {block: number for number, block in enumerate(blocks)}
    placed = tuple(replace(cell, block=numbers[_block(cell)]) for cell in cells)
    steps: list[Step] = []
    number = 0
    stage: tuple[str, ...] | None = None
    begun = 0
    for at, block in enumerate(blocks):
        if block[0] != stage:
            stage, begun = block[0], at
        inside = [cell for cell in placed if cell.block == at]
        steps += _rounds(inside, Purpose.SCREEN, repeats, number, random, len(steps))
        number += 1
        last = at + 1 == len(blocks) or blocks[at + 1][0] != stage
        if last and at > begun:
            again = _compared(placed, begun, at)
            steps += _rounds(again, Purpose.BASELINE, repeats, number, random, len(steps))
            number += 1
    return placed, tuple(steps)


def mirrored(draw: Callable[[], list[_T]], rounds: int, begun: Sequence[_T] = ()) -> Iterator[list[_T]]:
    """Rounds of which every second is the one before backwards: a drift falls on all alike, where nothing is judged.

    `begun` is the first of them where that is done already; it is not returned.
    """
    row = list(begun)
    for turn in range(bool(begun), rounds):
        row = row[::-1] if turn % 2 else draw()
        yield row


def pause_before(step: Step, cell: SweepCell, design: Design) -> float:
    """Seconds of quiet before the run of a step; the same after a crash as before."""
    return drawn_pause(Random(f"{design.seed} pause {step.number}"), design.rest, measured_seconds(cell))


def measured_seconds(cell: SweepCell) -> float:
    """How long a run of it takes, its ramp included."""
    return float(cell.job.get("ramp", 0)) + float(cell.job.get("runtime", 0))


def _block(cell: SweepCell) -> _Block:
    return cell.needs, tuple(one for one in cell.settings if one.slow)


def _ordered(cells: Iterable[SweepCell], present: tuple[Assignment, ...], random: Random) -> list[_Block]:
    """What needs no feature first; of each stage what others are compared with, then the rest as drawn."""
    known = {cell.id: cell for cell in cells}
    blocks = list(dict.fromkeys(_block(cell) for cell in known.values()))
    compared = [_block(known[cell.against]) for cell in known.values() if cell.against is not None]
    random.shuffle(blocks)
    return sorted(
        blocks,
        key=lambda block: (len(block[0]), block[0], block not in compared, block[1] != present),
    )


def _compared(cells: Sequence[SweepCell], first: int, last: int) -> list[SweepCell]:
    """Cells of the first block that cells of other blocks up to the last are compared with."""
    wanted = {cell.against for cell in cells if first < cell.block <= last}
    return [cell for cell in cells if cell.id in wanted and cell.block == first]


def _rounds(
    cells: Sequence[SweepCell], purpose: Purpose, repeats: int, block: int, random: Random, before: int
) -> list[Step]:
    """All set-ups as drawn, and all workloads of each as drawn, anew in each round."""
    steps: list[Step] = []
    for turn in range(1, repeats + 1):
        for cell in _drawn(cells, random):
            number = before + len(steps) + 1
            steps.append(Step(number=number, cell=cell.id, purpose=purpose, round=turn, block=block))
    return steps


def _drawn(cells: Sequence[SweepCell], random: Random) -> list[SweepCell]:
    rows = list(dict.fromkeys(cell.row for cell in cells))
    random.shuffle(rows)
    visited: list[SweepCell] = []
    for row in rows:
        inside = [cell for cell in cells if cell.row == row]
        random.shuffle(inside)
        visited += inside
    return visited
