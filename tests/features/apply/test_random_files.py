"""Random files: never a risk that one does not confirm, never what destroys data, never half a set untold."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from app.features.apply.applying import DesiredPlan, apply_set, plan_set
from app.features.apply.drift import DriftScan
from app.features.apply.settings_file import DesiredError
from backends.errors import BlockedError, InvalidValueError, NotFoundError, RefusedError
from backends.model import Array, Controller, Drive, Target
from backends.settings import Effect, Reading, Risk
from tests.features.apply.racks import file, opened

FILES = 400
"""Files that one test draws; with other seeds ten thousand were tried."""

_MOST_APPLIED = 25
_HARMLESS = (Risk.NONE, Risk.PERFORMANCE)
_ODD = ("", "-1", "999999999999", "no such value", "../x", "on", "0", '"; rm -rf /', "write-back")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    async with opened(tmp_path) as bench:
        yield bench


async def wishes(bench: Workbench) -> list[tuple[Target, dict[str, Reading], str]]:
    """Everything that can be named, what may be set on it, and the word that confirms a risk on it."""
    inventory = bench.session.inventory
    found = []
    things: tuple[Controller | Array | Drive, ...] = (*inventory.controllers, *inventory.arrays, *inventory.drives)
    for thing in things:
        plate = await bench.hardware.device_label(thing.target)
        found.append((thing.target, dict(await bench.hardware.read(thing.target)), plate.token))
    return [(target, readings, word) for target, readings, word in found if readings]


def drawn(rng: random.Random, known: list[tuple[Target, dict[str, Reading], str]]) -> tuple[str, set[str]]:
    """A file of one to four things, and the words of those that it confirms rightly."""
    rows, meant = ["format = 1"], set[str]()
    for target, readings, word in rng.sample(known, rng.randint(1, 4)):
        confirm = rng.choice(("", "", word, "ffffff"))
        rows += ["[[target]]", f'select = {{address = "{target}"}}']
        rows += [f'confirm = "{confirm}"'] if confirm else []
        rows.append("[target.set]")
        meant |= {word} if confirm == word else set()
        for key in rng.sample(sorted(readings), rng.randint(1, min(4, len(readings)))):
            rows.append(f"{key} = '{_value(rng, readings[key])}'")
    return "\n".join(rows) + "\n", meant


def _value(rng: random.Random, reading: Reading) -> str:
    if rng.random() < 0.1:
        return rng.choice(_ODD)
    if reading.span is not None:
        span = reading.span
        return str(span.minimum + span.step * rng.randint(0, min(50, (span.maximum - span.minimum) // span.step)))
    return rng.choice([choice.value for choice in reading.choices] or list(_ODD))


async def planned(bench: Workbench, text: str) -> DesiredPlan | None:
    """What would be done; None where the file is refused with a sentence."""
    try:
        state = await DriftScan(bench, file(text)).look()
        return await plan_set(bench, state, persist=False, trial=None)
    except (BlockedError, DesiredError, InvalidValueError, NotFoundError, RefusedError):
        return None


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", [1, 2])
async def test_no_file_takes_a_risk_that_it_does_not_confirm_or_leaves_half_a_set_untold(
    bench: Workbench, seed: int
) -> None:
    rng, known, applied = random.Random(seed), await wishes(bench), 0
    plans = 0
    for _ in range(FILES):
        text, meant = drawn(rng, known)
        plan = await planned(bench, text)
        if plan is None or not plan.changes:
            continue
        plans += 1
        for change in plan.changes:
            assert change.risk is not Risk.DESTROYS_DATA, text
            assert change.effect not in (Effect.RECREATED, Effect.RESHAPE), text
            plate = await bench.hardware.device_label(change.target)
            assert change.risk in _HARMLESS or plate.token in meant, f"{change.key} of {change.target}:\n{text}"
        if applied < _MOST_APPLIED:
            applied += 1
            before = len(bench.session.changes)
            outcome = await apply_set(bench, plan, trial=None, keep_going=False)
            told = bench.session.changes[before:]
            begun = list(dict.fromkeys(step.ended.id for step in outcome.steps if step.ended.was_set))
            assert [one.id for one in told[: len(begun)]] == begun, text
            assert all(one.end is not None for one in told), text
            made = [step for step in outcome.steps if step.ended.was_set and step.ended.result == "verified"]
            assert outcome.is_complete or all(step.back is not None or step.stuck for step in made), text
    assert plans > FILES // 10
    assert applied == _MOST_APPLIED
