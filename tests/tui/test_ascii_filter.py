"""On a terminal without UTF-8 everything is readable, cell for cell."""

from __future__ import annotations

import pytest

from app.tui.ascii_filter import ascii_of


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("34 °C", "34  C"),
        ("0–1048576 KiB", "0-1048576 KiB"),
        ("651 µs ± 2", "651 us + 2"),
        ("none → 512", "none > 512"),
    ],
)
def test_units_spans_and_arrows_have_a_twin_of_the_same_width(text: str, shown: str) -> None:
    assert "".join(map(ascii_of, text)) == shown
