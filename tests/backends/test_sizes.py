"""Sizes: one reader for all tools and people, one way to say them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.sizes import exact_text, fraction_of, percent_text, read_size, size_words
from tests.case_loop import loop_over

K, M, G, T = 1 << 10, 1 << 20, 1 << 30, 1 << 40

READ: list[tuple[str, int | None, str]] = [
    ("64 KB", 64 * K, "storcli, MegaCli"),
    ("64kB", 64 * K, "MegaCli"),
    ("64K", 64 * K, "tw_cli's stripes, fio, zfs"),
    ("64k", 64 * K, "fio"),
    ("512Bytes", 512, "MegaCli"),
    ("512B", 512, "storcli's sectors"),
    ("4K Bytes", 4096, "arcconf's sectors"),
    ("64 KBytes", 64 * K, ""),
    ("1.0 MB", M, "MegaCli"),
    ("256 KiB", 256 * K, "storcli 8"),
    ("140014MB", 140014 * M, "MegaCli"),
    ("0 MB (0.00%)", 0, "arcconf"),
    ("93.1  GB", round(93.1 * G), "ssacli"),
    ("100.0 GB, RAID 50, OK", 100 * G, "ssacli's rows"),
    ("1,75 TB", round(1.75 * T), "ssacli, where a comma is the decimal point"),
    ("1,117.25 GB", round(1117.25 * G), "SMcli"),
    ("2.729 TB [0x15d50a3b0 Sectors]", round(2.729 * T), "storcli, MegaCli"),
    ("234431064 K", 234431064 * K, "mvcli"),
    ("16 EiB", 16 << 60, ""),
    ("12", None, "a number is no size"),
    ("-3 GB", None, ""),
    ("1e400 MB", None, ""),
    ("12x", None, ""),
    ("50%", None, ""),
    ("1.2.3 GB", None, ""),
    ("many GB", None, ""),
    ("N/A", None, ""),
    ("", None, ""),
    ("9" * 40 + " KB", None, ""),
    ("\u0663 KB", None, ""),
]
"""What tools write, the bytes, and which of them do."""


def test_sizes_are_read_alike_whoever_wrote_them() -> None:
    wrong = [(text, size, got) for text, size, _ in READ if (got := read_size(text)) != size]
    assert not wrong
    assert read_size(None) is None


@pytest.mark.parametrize(
    ("text", "size"), [("750.2GB", 750_200_000_000), ("960 GB", 960 * 10**9), ("1040 KiB", 1040 * K), ("512 B", 512)]
)
def test_units_are_decimal_where_the_tool_has_such_but_kib_never(text: str, size: int) -> None:
    assert read_size(text, base=1000) == size


@pytest.mark.parametrize(
    ("text", "bare", "size"),
    [("64", "k", 64 * K), ("931.5", "g", 1_000_190_509_056), ("4096", "b", 4096), ("64M", "k", 64 * M)],
)
def test_a_number_alone_is_in_the_unit_of_its_column(text: str, bare: str, size: int) -> None:
    assert read_size(text, bare=bare) == size


@given(st.text(max_size=60))
def test_any_text_is_a_size_or_none(text: str) -> None:
    found = fraction_of(text, bare="b")
    assert found is None or found >= 0


@loop_over(
    ("count", "said"),
    [
        (None, "-"),
        (0, "0 B"),
        (512, "512 B"),
        (1536, "1.50 KiB"),
        (65_536, "64 KiB"),
        (1 << 30, "1 GiB"),
        (68_719_476_736, "64 GiB"),
        (238_999_339_008, "223 GiB"),
        (480_103_981_056, "447 GiB"),
        (2_000_398_934_016, "1.82 TiB"),
        ((1 << 40) - 1, "1.00 TiB"),
        (4 * T, "4 TiB"),
        (1000 * G, "1000 GiB"),
        (1000 * G + 1, "1000 GiB"),
        (1 << 62, "4 EiB"),
    ],
)
def test_sizes_have_three_figures_and_are_exact_where_they_can_be(count: int | None, said: str) -> None:
    assert size_words(count) == said


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 B"), (1000, "1000 B"), (1408 * K, "1408 KiB"), (1536, "1536 B"), (M, "1 MiB"), (4 * T, "4 TiB")],
)
def test_what_is_laid_out_so_is_not_rounded(count: int, said: str) -> None:
    assert exact_text(count) == said


@given(st.integers(min_value=0, max_value=1 << 62))
def test_what_is_said_exactly_is_read_as_it_was(count: int) -> None:
    assert read_size(exact_text(count)) == count


@pytest.mark.parametrize(("share", "digits", "text"), [(0.37, 0, "37 %"), (1.0, 1, "100.0 %"), (0.0004, 2, "0.04 %")])
def test_a_percentage_has_a_blank_as_every_unit_has(share: float, digits: int, text: str) -> None:
    assert percent_text(share, digits) == text


def test_no_percentage_is_formatted_in_another_way() -> None:
    root = Path(__file__).parents[2]
    files = [file for top in ("app", "backends", "widgets") for file in root.glob(f"{top}/**/*.py")]
    assert len(files) > 500
    own = [file for file in files if "simulator" not in file.parts]  # which prints what tools print
    assert [str(file) for file in own if re.search(r":[.][0-9]%[}]", file.read_text())] == []
