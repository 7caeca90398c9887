"""Order the steps and draw the pauses: slow settings change as rarely as possible, everything else is random. No I/O.

Cells with the same slow settings and features form a block. Within a block, every repeat is a round that visits all
cells of the block in a new random order. The permutation test of the verdicts counts all orders that could have been
drawn, so each round is drawn independently, and not as the reverse of another. Blocks cannot be interleaved. If several
blocks differ by slow settings, the baseline cells are measured again at the end (A B A).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from app.core.benchmark.idle_wait import random_pause
from app.core.session.sweep_steps import Assignment, Design, Purpose, Step, SweepArrays, SweepCell

_T = TypeVar("_T")

_Block = tuple[tuple[str, ...], tuple[Assignment, ...]]
"""Features and slow settings of a block."""


def arrange(
    cells: Sequence[SweepCell], originals: Sequence[Assignment], *, repeats: int, seed: int
) -> tuple[tuple[SweepCell, ...], tuple[Step, ...]]:
    """Return the cells with their block numbers filled in, and the steps in their order."""
    random = Random(seed)
    blocks = _order_blocks(cells, tuple(original for original in originals if original.slow), random)
    numbers = {block: number for number, block in enumerate(blocks)}
    numbered = tuple(replace(cell, block=numbers[_block(cell)]) for cell in cells)
    steps: list[Step] = []
    number = 0
    stage: tuple[str, ...] | None = None
    first_block = 0
    for at, block in enumerate(blocks):
        if block[0] != stage:
            stage, first_block = block[0], at
        block_cells = [cell for cell in numbered if cell.block == at]
        steps += _rounds(block_cells, Purpose.SCREEN, repeats, number, random, len(steps))
        number += 1
        last = at + 1 == len(blocks) or blocks[at + 1][0] != stage
        if last and at > first_block:
            baselines = _baseline_cells(numbered, first_block, at)
            steps += _rounds(baselines, Purpose.BASELINE, repeats, number, random, len(steps))
            number += 1
    return numbered, tuple(steps)


ArrayUse = tuple[str, int, int, str | None]
"""Purpose, block, round and array id of a step. One array is created for all steps with the same value."""


def array_use_of(step: Step, cell: SweepCell, making: SweepArrays) -> ArrayUse:
    """Return the use for which the array of a step is created. Consecutive steps with the same use share an array."""
    turn = step.round if step.purpose is Purpose.SCREEN and not making.once else 0
    return step.purpose.value, step.block, turn, cell.array


def arrays_in_order(steps: Sequence[Step], cells: Mapping[str, SweepCell], making: SweepArrays) -> list[str]:
    """Return the ids of the arrays in the order of their creation. An array that is created again is listed again."""
    uses = [array_use_of(step, cells[step.cell], making) for step in steps]
    return [use[3] for before, use in zip((None, *uses), uses, strict=False) if use != before and use[3]]


def arrange_arrays(
    cells: Sequence[SweepCell], *, repeats: int, seed: int, once: bool
) -> tuple[tuple[SweepCell, ...], tuple[Step, ...]]:
    """Return the cells and the steps of a sweep that creates its own arrays.

    In each round, every array is created in random order, and all its cells are measured while it exists. With `once`,
    each array is created once for all rounds. Then the first one, which is the baseline, is created again at the end.
    """
    random = Random(seed)
    arrays = list(dict.fromkeys(cell.array for cell in cells))
    steps: list[Step] = []
    if not once:
        numbered = tuple(replace(cell, block=0) for cell in cells)
        for turn in range(1, repeats + 1):
            random.shuffle(arrays)
            for array in arrays:
                for cell in _shuffle([cell for cell in numbered if cell.array == array], random):
                    number = len(steps) + 1
                    steps.append(Step(number=number, cell=cell.id, purpose=Purpose.SCREEN, round=turn, block=0))
        return numbered, tuple(steps)
    first, *others = arrays
    random.shuffle(others)
    numbers = {array: number for number, array in enumerate((first, *others))}
    numbered = tuple(replace(cell, block=numbers[cell.array]) for cell in cells)
    for array, number in numbers.items():
        array_cells = [cell for cell in numbered if cell.array == array]
        steps += _rounds(array_cells, Purpose.SCREEN, repeats, number, random, len(steps))
    baselines = _baseline_cells(numbered, 0, len(arrays) - 1)
    steps += _rounds(baselines, Purpose.BASELINE, repeats, len(arrays), random, len(steps))
    return numbered, tuple(steps)


def mirrored_rounds(draw: Callable[[], list[_T]], rounds: int, begun: Sequence[_T] = ()) -> Iterator[list[_T]]:
    """Yield `rounds` rounds. `draw` returns a round in random order; every second round is the reverse of the previous
    one, so that drift affects all values alike.

    Do not use it for rounds on which verdicts are based. `begun` is a first round that is already done; it is not
    yielded.
    """
    row = list(begun)
    for turn in range(bool(begun), rounds):
        row = row[::-1] if turn % 2 else draw()
        yield row


def pause_before(step: Step, cell: SweepCell, design: Design) -> float:
    """Return the pause in seconds before the run of a step. It is random, but the same after a crash as before it."""
    return random_pause(Random(f"{design.seed} pause {step.number}"), design.rest, measured_seconds(cell))


def measured_seconds(cell: SweepCell) -> float:
    """Return the length of a run in seconds, including its ramp."""
    return float(cell.job.get("ramp", 0)) + float(cell.job.get("runtime", 0))


def _block(cell: SweepCell) -> _Block:
    return cell.needs, tuple(setting for setting in cell.settings if setting.slow)


def _order_blocks(cells: Iterable[SweepCell], present: tuple[Assignment, ...], random: Random) -> list[_Block]:
    """Return the blocks of the cells in the order in which they are measured.

    Blocks that need fewer features come first. Among blocks with the same features, baseline blocks come first, then
    those with the present slow settings (`present`). Otherwise, the order is random.
    """
    by_id = {cell.id: cell for cell in cells}
    blocks = list(dict.fromkeys(_block(cell) for cell in by_id.values()))
    compared = [_block(by_id[cell.against]) for cell in by_id.values() if cell.against is not None]
    random.shuffle(blocks)
    return sorted(
        blocks,
        key=lambda block: (len(block[0]), block[0], block not in compared, block[1] != present),
    )


def _baseline_cells(cells: Sequence[SweepCell], first: int, last: int) -> list[SweepCell]:
    """Return the cells in the block with number `first` that are baselines of cells in later blocks, up to number
    `last`.
    """
    wanted = {cell.against for cell in cells if first < cell.block <= last}
    return [cell for cell in cells if cell.id in wanted and cell.block == first]


def _rounds(
    cells: Sequence[SweepCell], purpose: Purpose, repeats: int, block: int, random: Random, before: int
) -> list[Step]:
    """Return the steps of `repeats` rounds over the cells of a block. Each round has a new random order of set-ups, and
    of workloads within a set-up. `before` is the number of steps that precede them.
    """
    steps: list[Step] = []
    for turn in range(1, repeats + 1):
        for cell in _shuffle(cells, random):
            number = before + len(steps) + 1
            steps.append(Step(number=number, cell=cell.id, purpose=purpose, round=turn, block=block))
    return steps


def _shuffle(cells: Sequence[SweepCell], random: Random) -> list[SweepCell]:
    rows = list(dict.fromkeys(cell.row for cell in cells))
    random.shuffle(rows)
    visited: list[SweepCell] = []
    for row in rows:
        row_cells = [cell for cell in cells if cell.row == row]
        random.shuffle(row_cells)
        visited += row_cells
    return visited
