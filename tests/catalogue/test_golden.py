"""The golden files are what the program says."""

from __future__ import annotations

from pathlib import Path

from tests.catalogue.golden import REGENERATE, STRINGS, differences, quoted, string_files, write
from tests.catalogue.strings import Found, strings_of_tree

ROOT = Path(__file__).resolve().parents[2]
ONE = {
    "app.some.module": [
        Found("Second.", 2, True),
        Found("First\nof two lines.", 1, True),
        Found("key", 4, False),
        Found("Second.", 9, True),
    ]
}


def test_every_string_of_the_program_is_as_it_was() -> None:
    changed = differences(STRINGS, string_files(strings_of_tree(ROOT)))
    assert not changed, changed


def test_a_file_has_the_strings_sorted_below_the_module_as_often_as_they_are_there() -> None:
    assert string_files(ONE) == {
        "app.some.txt": 'app.some.module\n    "First\n    |of two lines."\n    "Second."\n    "Second."\n'
    }


def test_what_cannot_be_seen_is_escaped() -> None:
    assert quoted("a\x1b\xa0\ud800\\") == '    "a\\x1b\\xa0\\ud800\\\\"'


def test_what_was_written_does_not_differ(tmp_path: Path) -> None:
    files = string_files(ONE)
    assert write(tmp_path, files) == ["app.some.txt"]
    assert write(tmp_path, files) == []
    assert differences(tmp_path, files) == ""


def test_a_package_that_is_gone_loses_its_file(tmp_path: Path) -> None:
    write(tmp_path, string_files(ONE))
    assert "-app.some.module" in differences(tmp_path, {})
    write(tmp_path, {})
    assert list(tmp_path.iterdir()) == []


def test_a_difference_names_the_string_and_how_to_write_the_files(tmp_path: Path) -> None:
    write(tmp_path, string_files(ONE))
    said = differences(tmp_path, string_files({"app.some.module": [*ONE["app.some.module"], Found("Third.", 3, True)]}))
    assert '+    "Third."' in said.splitlines()
    assert said.endswith(REGENERATE)


def test_a_long_difference_is_cut_short(tmp_path: Path) -> None:
    said = differences(tmp_path, string_files({"app.a": [Found(f"Text {number}.", 1, True) for number in range(200)]}))
    assert len(said.splitlines()) < 70
    assert "lines more" in said
