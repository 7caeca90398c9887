"""What is known of a target's noise says how many pairs show an effect, and that comes true."""

from __future__ import annotations

from math import exp, log
from random import Random

import pytest

from app.core.analysis.noise import RunNoise, detectable_effect, noise_of, pairs_for
from app.core.analysis.verdict import judge

KNOWN = RunNoise(sd=0.02, dof=30, runs=31)


def repeats(random: Random, count: int, scatter: float = 0.02, level: float = 100.0) -> list[float]:
    return [level * exp(random.gauss(0, scatter)) for _ in range(count)]


def test_the_scatter_of_repeats_is_found_whatever_their_level() -> None:
    random = Random(1)
    found = noise_of([repeats(random, 4, level=10.0**at) for at in range(6)] * 20)
    assert found is not None
    assert found.percent == pytest.approx(2.0, rel=0.25)


@pytest.mark.parametrize("groups", [[], [[100.0]], [[100.0, 101.0], [50.0, 50.5]], [[0.0] * 9]])
def test_too_few_repeats_tell_nothing(groups: list[list[float]]) -> None:
    assert noise_of(groups) is None


def test_more_pairs_see_less() -> None:
    seen = [detectable_effect(KNOWN, pairs) for pairs in (3, 6, 12, 20, 50)]
    assert seen == sorted(seen, reverse=True)


def test_the_pairs_for_an_effect_are_the_fewest_that_see_it() -> None:
    pairs = pairs_for(KNOWN, 2.0, 50)
    assert pairs is not None
    assert detectable_effect(KNOWN, pairs) <= 2.0 < detectable_effect(KNOWN, pairs - 1)


def test_what_no_plan_can_see_has_no_number() -> None:
    assert pairs_for(RunNoise(sd=0.5, dof=30, runs=31), 5.0, 50) is None


def test_few_runs_are_taken_for_noisier_than_they_were() -> None:
    assert detectable_effect(RunNoise(sd=0.02, dof=3, runs=4), 12) > detectable_effect(KNOWN, 12)


@pytest.mark.parametrize(("known", "scatter"), [(6, 0.02), (12, 0.05)])
def test_an_effect_is_found_at_the_pairs_that_are_named(known: int, scatter: float) -> None:
    random, found, named = Random(2), 0, 0
    for _ in range(150):
        noise = noise_of([repeats(random, known, scatter)])
        pairs = None if noise is None else pairs_for(noise, 5.0, 50)
        if pairs is not None:
            b = [exp(log(1.05)) * each for each in repeats(random, pairs, scatter)]
            found += judge(repeats(random, pairs, scatter), b, interleaved=True).differs
            named += 1
    assert found >= 0.75 * named
