"""Values of settings with their units."""

from __future__ import annotations

from backends.units import number_in_unit, text_in_unit
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
    assert number_in_unit(shown, unit) == (None if value == "unlimited" else int(value))


@loop_over(
    ("text", "unit", "number"),
    [
        ("256k", "bytes", 262144),
        ("256K", "bytes", 262144),
        ("256 KB", "bytes", 262144),
        ("1M", "KiB", 1024),
        ("1.5M", "KiB", 1536),
        ("512", "KiB", 512),
        ("8 MiB/s", "KiB/s", 8192),
        ("2ms", "us", 2000),
        ("0.5 ms", "us", 500),
        ("1 s", "ms", 1000),
        ("5 min", "s", 300),
        ("1 h", "min", 60),
        ("30%", "%", 30),
        (" 64 requests ", "requests", 64),
    ],
)
def test_what_a_user_may_type_for_a_number(text: str, unit: str, number: int) -> None:
    assert number_in_unit(text, unit) == number


@loop_over(
    ("text", "unit"),
    [
        ("", "bytes"),
        ("64k free", "bytes"),
        ("0.3k", "bytes"),
        ("512 B", "s"),
        ("1 KiB", "requests"),
        ("1500 B", "KiB"),
        ("8 MiB", "KiB/s"),
        ("8 MiB/s", "KiB"),
        ("1 us", "ms"),
        ("3 %", ""),
        ("1e3", "bytes"),
        ("0x10", "bytes"),
        ("٣", "bytes"),
        ("64 drives", "requests"),
    ],
)
def test_other_text_is_no_number_of_the_unit(text: str, unit: str) -> None:
    assert number_in_unit(text, unit) is None
