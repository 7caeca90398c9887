"""Torn, spliced and spoiled answers of zpool and zfs: nothing raises but our errors, nothing takes long."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.errors import RaidbenchError
from backends.host import Command, Completed
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.vendors.zfs.backend import Zfs
from backends.vendors.zfs.facts import parse_arcstats, parse_datasets, parse_pools, parse_properties, parse_values
from backends.vendors.zfs.inventory import MODULE, target_of
from backends.vendors.zfs.status import PoolStatus, parse_status
from tests.backends.patience import PATIENCE
from tests.backends.simulator.asking import FAST
from tests.backends.smartarray.test_mutations import flip, indent, renumber, shuffle, translate, truncate, widen
from tests.backends.zfs.texts import ALL

pytestmark = pytest.mark.exhaustive

EXAMPLES = int(os.environ.get("RAIDBENCH_MUTATIONS", "400"))
MUTATIONS = (truncate, shuffle, indent, flip, renumber, translate, widen)


def spoiled(text: str, dice: random.Random) -> str:
    for _ in range(dice.randrange(1, 4)):
        text = dice.choice(MUTATIONS)(text, dice) or " "
    return text


class Spoiling(SimulatedHost):
    """Spoils what every program says and what every file of the module holds."""

    dice = random.Random(0)

    async def run(self, command: Command) -> Completed:
        done = await super().run(command)
        return Completed(returncode=done.returncode, stdout=spoiled(done.stdout, self.dice), stderr="")

    async def read_many(self, paths: Sequence[str]) -> dict[str, str]:
        found = dict(await super().read_many(paths))
        if any("/zfs/" in path for path in paths):
            found |= {path: spoiled(text, self.dice) for path, text in found.items() if self.dice.random() < 0.1}
        return found


async def test_the_backend_answers_or_says_what_is_wrong() -> None:
    rack = linux_rack()
    for number in range(EXAMPLES // 4):
        host = Spoiling(rack, speed=FAST)
        host.dice = random.Random(number)
        zfs = Zfs(host)
        for target in (target_of("tank"), target_of("tank/vm"), MODULE):
            try:
                await zfs.inventory()
                readings = await zfs.read(target)
                for key, reading in readings.items():
                    for choice in reading.choices[:3]:
                        change = await zfs.plan(target, key, choice.value)
                        assert all(step.argv or step.path for step in change.writes)
            except RaidbenchError:
                continue


def everything(text: str) -> tuple[PoolStatus, ...]:
    found = parse_status(text)
    for pool in found:
        assert (pool.state, pool.tasks, pool.why, pool.layout) is not None
        assert all(len(leaf.condition) < 400 for leaf in pool.vdevs)
    return found


def test_no_spoiled_status_raises_or_invents_a_device() -> None:
    for number in range(EXAMPLES):
        dice = random.Random(number)
        text = spoiled(dice.choice(ALL), dice)
        for pool in everything(text):
            assert all(leaf.name in text for leaf in pool.leaves()), number


@settings(max_examples=EXAMPLES // 4, deadline=None)
@given(text=st.text())
def test_any_text(text: str) -> None:
    everything(text)
    for parse in (parse_datasets, parse_pools, parse_values, parse_properties, parse_arcstats):
        parse(text)


def test_a_flood_is_read_in_time() -> None:
    started = time.process_time()
    head = "  pool: x\nconfig:\n\n"
    rows = ("\t  " + "a " * 400 + "  ONLINE" + "  1" * 100, "\t" + " " * 900 + "x", "\t  a  A" + " 1" * 450)
    for text in (*(head + f"{row}\n" * 2000 for row in rows), "  pool: \n" * 50_000, "\t" * 1_000_000, ":" * 1_000_000):
        everything(text)
    assert time.process_time() - started < PATIENCE
