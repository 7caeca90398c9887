"""A line of blocks that shows how a run went."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.text_utils.sparkline import block, spark


def test_it_begins_at_zero_so_that_a_steady_run_is_level() -> None:
    assert spark([990, 1000, 1000, 995], 4) == "▇▇▇▇"


def test_a_stall_is_seen() -> None:
    assert spark([1000, 0, 0, 1000], 4) == "▇▁▁▇"


def test_many_values_share_a_block() -> None:
    assert spark([0, 0, 1000, 1000], 2) == "▁▇"


def test_few_values_make_few_blocks() -> None:
    assert spark([500, 1000], 10) == "▄▇"


def test_what_is_not_known_is_blank() -> None:
    assert spark([1000, None, 1000], 3) == "▇ ▇"


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [None]])
def test_without_anything_there_is_nothing(values: list[float | None]) -> None:
    assert spark(values, 5) == ""


@pytest.mark.parametrize(("share", "shown"), [(-1.0, "▁"), (0.0, "▁"), (0.5, "▅"), (1.0, "█"), (7.0, "█")])
def test_a_share_beyond_is_the_nearer_end(share: float, shown: str) -> None:
    assert block(share) == shown


@given(st.lists(st.one_of(st.none(), st.floats()), max_size=300), st.integers(0, 40))
def test_it_is_never_wider_than_asked_for(values: list[float | None], width: int) -> None:
    shown = spark(values, width, ascii_only=True)
    assert (len(shown) <= width, shown.isascii()) == (True, True)


def test_a_fixed_scale_compares_lines_with_each_other() -> None:
    assert spark([0.5, None, 0.0, 1.0], 4, top=1.0) == "▄ ▁▇"
