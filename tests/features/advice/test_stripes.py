"""Stripe arithmetic against counting by hand."""

from __future__ import annotations

import pytest

from app.features.advice.stripe_cost import stripe_cost

K = 1 << 10


def test_eleven_writes_of_4m_cover_32_stripes_of_article_b_and_tear_ten() -> None:
    cost = stripe_cost(4096 * K, 4096 * K, strip=64 * K, data=22, parity=1)
    assert (cost.stripe_bytes, cost.full_stripes * 11, round(cost.partial * 11, 9)) == (1408 * K, 22, 20)


def test_ten_of_those_32_stripes_are_written_in_parts() -> None:
    assert stripe_cost(4096 * K, 4096 * K, strip=64 * K, data=22, parity=1).partial_share == pytest.approx(10 / 32)


def test_a_whole_stripe_reads_nothing() -> None:
    cost = stripe_cost(1408 * K, 1408 * K, strip=64 * K, data=22, parity=1)
    assert (cost.full_stripes, cost.partial, cost.member_ios) == (1, 0, 23)


def test_a_whole_stripe_that_begins_within_one_is_torn_in_two() -> None:
    cost = stripe_cost(128 * K, 64 * K, strip=64 * K, data=2, parity=1)
    assert (cost.full_stripes, cost.partial) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("data", "parity", "ios"),
    [(7, 1, 4), (6, 2, 6), (2, 1, 3), (3, 1, 4)],
    ids=["RAID5", "RAID6", "RAID5 of three", "RAID5 of four"],
)
def test_a_small_write_costs_what_is_known_of_the_level(data: int, parity: int, ios: int) -> None:
    assert stripe_cost(4 * K, 4 * K, strip=64 * K, data=data, parity=parity).member_ios == ios


def test_offsets_that_are_no_power_of_two_are_counted_all_the_same() -> None:
    cost = stripe_cost(4096 * K, 512, strip=256 * K, data=23, parity=2)
    assert cost.full_stripes * cost.stripe_bytes + cost.partial_share * 4096 * K == pytest.approx(4096 * K, rel=1e-3)
