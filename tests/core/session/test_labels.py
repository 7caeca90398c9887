"""Values of settings with their units."""

from __future__ import annotations

from app.core.session.unit_labels import text_in_unit
from tests.case_loop import loop_over


@loop_over(
    ("value", "unit", "shown"),
    [
        ("262144", "bytes", "256 KiB"),
        ("1310720", "bytes", "1280 KiB"),
        ("512", "bytes", "512 B"),
        ("0", "bytes", "0 B"),
        ("75000", "us", "75 ms"),
        ("25500", "us", "25500 µs"),
        ("-1", "us", "-1 µs"),
        ("4096", "KiB", "4096 KiB"),
        ("1024", "requests", "1024 requests"),
        ("8", "", "8"),
        ("unlimited", "bytes", "unlimited"),
    ],
)
def test_a_value_of_a_setting_has_its_unit_and_loses_no_digit(value: str, unit: str, shown: str) -> None:
    assert text_in_unit(value, unit) == shown
