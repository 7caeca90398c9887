"""The constants of the load model are no list of answers: fitted without a cell, they still give it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from backends.racks.calibration import CARDS, DRIVES, SOFTWARE, SoftwareType
from backends.racks.load import Layout, expect
from tests.backends.racks.articles import TABLE_A, TABLE_B, TABLE_E, Cell

Change = Callable[[Layout, Sequence[float]], Layout]
"""A layout with its constants by these factors."""

OFF, SHARE_OFF = 1.3, 1.1
"""How far off constants begin, in turn above and below, and those that are shares of 1: what no other cell knows stays
that far off."""

HOLD = 1e-4
"""How strongly they are held there, against squares of log-ratios."""

_CARD = ("read_us", "read_ahead_us", "cached_us", "write_us", "write_back_us", "write_back_op_us", "parity_us")
_EFFICIENCY = "parity_efficiency"
_DRIVE = ("read_us", "write_us")
_ALONE = ("write_alone_us", "write_back_alone_us")
_SOFTWARE = ("layer_us", "read_parity", "stream", "layer_stream", "write_stream", "again")
_SHARES = (_EFFICIENCY, "stream", "layer_stream", "write_stream", "again")

Constants = tuple[tuple[float, ...], Change]
"""How far off each begins, and what changes them."""


def begun(keys: Sequence[str]) -> tuple[float, ...]:
    """How far off they begin."""
    return tuple((SHARE_OFF if key in _SHARES else OFF) ** (1 if at % 2 else -1) for at, key in enumerate(keys))


def of_card(name: str, drive: str) -> Constants:
    """Those of a card and its drives."""
    card, disk = CARDS[name], DRIVES[drive]
    keys, drives = (*_CARD, _EFFICIENCY, _ALONE[1]), (*_DRIVE, _ALONE[0])

    def change(layout: Layout, by: Sequence[float]) -> Layout:
        own = {key: getattr(card, key) * factor for key, factor in zip(keys, by, strict=False)}
        its = {key: getattr(disk, key) * factor for key, factor in zip(drives, by[len(keys) :], strict=True)}
        return replace(layout, card=replace(card, **own), drive=replace(disk, **its))

    return begun((*keys, *drives)), change


def of_software(name: str) -> Constants:
    """Those of a host's md; a read and a write of it cost about the same, so one factor stands for both."""
    md = SOFTWARE[name]

    def change(layout: Layout, by: Sequence[float]) -> Layout:
        own = {key: getattr(md, key) * factor for key, factor in zip(_SOFTWARE, by, strict=False)}
        request, one, two, second = by[len(_SOFTWARE) :]
        own |= {"read_us": md.read_us * request, "write_us": md.write_us * request}
        parity = {1: md.parity_us[1] * one, 2: md.parity_us[2] * two}
        found: SoftwareType = replace(md, parity_us=parity, second_mbps=md.second_mbps * second, **own)
        return replace(layout, software=found)

    return begun((*_SOFTWARE, "request", "one", "two", "second")), change


def solved(rows: list[list[float]], right: list[float]) -> list[float]:
    """What a symmetric, positive system of equations gives."""
    size = len(rows)
    whole = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for at in range(size):
        for below in range(at + 1, size):
            factor = whole[below][at] / whole[at][at]
            whole[below] = [value - factor * above for value, above in zip(whole[below], whole[at], strict=True)]
    found = [0.0] * size
    for at in reversed(range(size)):
        rest = math.fsum(whole[at][column] * found[column] for column in range(at + 1, size))
        found[at] = (whole[at][size] - rest) / whole[at][at]
    return found


def fitted(cells: Sequence[Cell], off: Sequence[float], change: Change) -> list[float]:
    """Factors of the constants by least squares of log-ratios (Gauss and Newton), begun where they are off."""

    def misses(logs: Sequence[float]) -> list[float]:
        by = [math.exp(one) for one in logs]
        return [math.log(expect(change(cell.layout, by), cell.work).iops / cell.iops) for cell in cells]

    count, first = len(off), list(map(math.log, off))
    logs = list(first)
    for _ in range(8):
        now = misses(logs)
        slopes = [
            [(after - before) / 1e-4 for before, after in zip(now, misses(_moved(logs, at)), strict=True)]
            for at in range(count)
        ]
        matrix = [[_dot(a, b) + HOLD * (i == j) for j, b in enumerate(slopes)] for i, a in enumerate(slopes)]
        held = [HOLD * (one - start) for one, start in zip(logs, first, strict=True)]
        pull = [-_dot(slope, now) - hold for slope, hold in zip(slopes, held, strict=True)]
        logs = [one + max(-0.5, min(0.5, step)) for one, step in zip(logs, solved(matrix, pull), strict=True)]
    return [math.exp(one) for one in logs]


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return math.fsum(one * other for one, other in zip(a, b, strict=True))


def _moved(logs: Sequence[float], at: int) -> list[float]:
    return [one + 1e-4 * (place == at) for place, one in enumerate(logs)]


A = of_card("LSI MegaRAID SAS 9280-24i4e", "CTFDDAC256MAG-1G1")
B = of_software("ssds")
E = of_card("AVAGO MegaRAID SAS 9361-8i", "ST800FM0053")


@pytest.mark.long
@pytest.mark.parametrize(
    ("table", "constants", "left"),
    [
        pytest.param(table, constants, left, id=f"{name}: {left.name}")
        for name, table, constants in (("A", TABLE_A, A), ("B", TABLE_B, B), ("E", TABLE_E, E))
        for left in table
    ],
)
def test_a_cell_that_the_fit_has_not_seen_comes_out_within_15_percent(
    table: Sequence[Cell], constants: Constants, left: Cell
) -> None:
    off, change = constants
    by = fitted([cell for cell in table if cell is not left], off, change)
    assert expect(change(left.layout, by), left.work).iops == pytest.approx(left.iops, rel=0.15)


def test_constants_that_are_off_are_not_within_15_percent() -> None:
    off, change = E
    ratios = [expect(change(cell.layout, off), cell.work).iops / cell.iops for cell in TABLE_E]
    assert any(abs(ratio - 1) > 0.15 for ratio in ratios)
