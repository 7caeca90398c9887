"""Every parser of foreign text, on spoiled answers: nothing raised, nothing invented, no time lost."""

from __future__ import annotations

import multiprocessing
import random
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.backends import system_texts
from tests.backends.mdraid import test_mutations as mdraid
from tests.backends.megaraid import test_megacli_mutations as megacli
from tests.backends.megaraid import test_storcli_mutations as storcli
from tests.backends.nvme import test_mutations as nvme
from tests.backends.scsi import test_scsi_mutations as scsi
from tests.tally import Tally

SIDE_BY_SIDE = 2
"""Processes: this is all work and no waiting."""


def run(folder: Path, tries: int, seed: int) -> Tally:
    """So many spoiled texts for each parser."""
    tally = Tally()
    shares = [len(range(lane, tries, SIDE_BY_SIDE)) for lane in range(SIDE_BY_SIDE)]
    with ProcessPoolExecutor(SIDE_BY_SIDE, multiprocessing.get_context("fork")) as pool:
        for found in pool.map(_spoiled, shares, range(seed, seed + SIDE_BY_SIDE)):
            tally.add(found)
    return tally


def _spoiled(tries: int, seed: int) -> Tally:
    tally = Tally()
    chance = random.Random(seed)
    for _ in range(tries):
        for family in (megacli, nvme, scsi, mdraid):
            text = family.torn(chance.choice(family.BASES), chance.randrange(2**32))
            for name in family.PARSERS:
                with tally.attempt(f"{name} of {text[:80]!r}"):
                    family.check(name, text)
        text = storcli.spoiled(chance.choice(storcli.SEEDS), chance.randrange(2**32))
        with tally.attempt(f"storcli of {text[:80]!r}"):
            storcli.check(text)
        for name, (good, _) in system_texts.PARSERS.items():
            text = system_texts.spoiled(good, chance.randrange(2**32))
            with tally.attempt(f"{name} of {text[:80]!r}"):
                system_texts.check(name, text)
    return tally
