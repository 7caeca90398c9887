"""The link speed of a drive, of the first port where a drive has two."""

from __future__ import annotations

import pytest

from backends.vendors.smartarray.text import link_speed


@pytest.mark.parametrize(
    ("text", "speed"),
    [
        ("12.0Gbps, Unknown", "12.0Gbps"),
        ("6.0Gbps", "6.0Gbps"),
        (" 6.0 Gb/s", "6.0 Gb/s"),
        ("Unknown, 6.0Gbps", None),
        ("", None),
        (None, None),
    ],
)
def test_a_link_speed_is_that_of_the_first_port(text: str | None, speed: str | None) -> None:
    assert link_speed(text) == speed
