"""A workbench on a simulated rack, and its settings as a file."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

from app.core.session.paths import Paths
from app.core.workbench import Workbench
from app.features.apply.applying import ApplyResult, DesiredPlan, Place, apply_set, plan_rest, plan_set
from app.features.apply.drift import DesiredState, DriftScan
from app.features.apply.exporting import export_targets, render_document
from app.features.apply.selectors import all_devices
from app.features.apply.settings_file import DesiredFile, parse
from backends.errors import RaidbenchError
from backends.model import Target
from backends.settings import Effect, Reading, Risk
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.table import MACHINES
from tests.backends.simulator.asking import FAST, NOW

Values = dict[tuple[str, str], tuple[str | None, bool]]
"""Value of each setting by target and key, and whether it may be changed."""


@asynccontextmanager
async def opened(folder: Path, rack: str = "lsi", host: SimulatedHost | None = None) -> AsyncIterator[Workbench]:
    """A workbench that knows the rack."""
    paths = Paths(sessions=folder / "s", journal=folder / "j", locks=folder / "l", config=folder / "c")
    bench = Workbench(host or SimulatedHost(MACHINES[rack](lambda: NOW), speed=FAST), paths=paths)
    await bench.open()
    await bench.hardware.probe()
    yield bench
    bench.close()


async def text_of(bench: Workbench, *, confirmed: bool = True) -> str:
    """The machine as a file, with every risk confirmed."""
    await bench.hardware.probe()
    targets, troubles = await export_targets(bench, all_devices(bench.session.inventory))
    assert troubles == ()
    text = render_document(targets)
    return text.replace("# confirm", "confirm") if confirmed else text


async def values_of(bench: Workbench) -> Values:
    """Every setting of the machine, whether a file may name it or not."""
    await bench.hardware.probe()
    return {
        (str(thing.target), key): (reading.now, reading.availability.available)
        for thing in all_devices(bench.session.inventory)
        for key, reading in (await bench.hardware.read(thing.target)).items()
    }


def file(text: str) -> DesiredFile:
    return parse(text.encode(), "f.toml")


async def state_of(bench: Workbench, text: str) -> DesiredState:
    return await DriftScan(bench, file(text)).look()


async def applied(bench: Workbench, text: str, *, keep_going: bool = False, trial: float | None = None) -> ApplyResult:
    plan = await plan_set(bench, await state_of(bench, text), persist=file(text).persist, trial=trial)

    async def plan_more(made: Collection[Place]) -> DesiredPlan | None:
        return (await plan_rest(bench, file(text), made))[1]

    more = plan_more if trial is None else None
    return await apply_set(bench, plan, trial=trial, keep_going=keep_going, plan_more=more)


async def alter(bench: Workbench, state: DesiredState, seed: int, times: int) -> int:
    """Set so many random legal values of what a file names; how many took."""
    rng, done = random.Random(seed), 0
    targets = list(state.values)
    for _ in range(times * 20):
        target = rng.choice(targets)
        key = rng.choice(list(state.values[target]))
        if await _altered(bench, target, key, rng):
            done += 1
        if done == times:
            break
    return done


async def _altered(bench: Workbench, target: Target, key: str, rng: random.Random) -> bool:
    reading = (await bench.hardware.read(target))[key]
    values = [value for value in _legal(reading, rng) if value != reading.now]
    if not values:
        return False
    try:
        change = await bench.hardware.plan(target, key, rng.choice(values))
        if change.risk is Risk.DESTROYS_DATA or change.effect in (Effect.RECREATED, Effect.RESHAPE):
            return False
        return (await bench.changes.apply(change)).result == "verified"
    except RaidbenchError:
        return False


def _legal(reading: Reading, rng: random.Random) -> list[str]:
    span = reading.span
    if span is None:
        return [choice.value for choice in reading.choices]
    steps = min(100, (span.maximum - span.minimum) // span.step)
    return [str(span.minimum + span.step * rng.randint(0, steps))]
