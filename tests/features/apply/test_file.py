"""The file: what is wrong is named with its line and key."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.features.apply.settings_file import DesiredError, parse, read_file
from backends.errors import NotFoundError
from tests.case_loop import loop_over
from tests.features.apply.racks import file

HEAD = "format = 1\n"
ONE = HEAD + '[[target]]\nselect = {media = "ssd"}\n'


def test_a_file_is_read() -> None:
    found = file(ONE + 'confirm = ["a1b2c3"]\noptional = true\n[target.set]\nread_ahead_kb = 128\nscheduler = "none"\n')
    (target,) = found.targets
    assert (target.select, target.values) == ({"media": "ssd"}, {"read_ahead_kb": "128", "scheduler": "none"})
    assert (target.confirm, target.optional, found.persist, found.trial) == (("a1b2c3",), True, False, None)


@loop_over(
    ("text", "said"),
    [
        ("", "line 1: the format number is missing"),
        ("format = 2\n", "line 1: format 2 is of a newer raidbench"),
        (HEAD + "persits = true\n", "line 2: unknown key 'persits'"),
        (HEAD + "persist = 1\n", "line 2: persist must be true or false"),
        (HEAD + "trial = 5\n", "line 2: trial must be a whole number from 10 to 600"),
        (HEAD + "[[target]]\n", "line 2: no selector is given"),
        (HEAD + "[[target]]\nselect = {}\n", "line 3: no selector is given"),
        (
            HEAD + '[[target]]\nselect = {model = "*"}\n',
            "line 3: model must be a literal value; patterns are not supported",
        ),
        (HEAD + '[[target]]\nselect = {modle = "x"}\n', "line 3: unknown key 'modle'"),
        (
            ONE + "[target.set]\nscheduler = true\n",
            'line 5: scheduler must be a string such as "on", or a number; true and false are not allowed',
        ),
        (ONE + "[target.set]\nscheduler = 1.5\n", "line 5: scheduler must be a quoted string"),
        (ONE + '[target.set]\n"a b" = "x"\n', "line 5: 'a b' is not a valid setting key"),
        (ONE + "[target.set]\nx = [1]\n", "line 5: x must be a quoted string"),
        (ONE + "confirm = 12\n", "line 4: confirm must be a quoted string"),
        (HEAD + "target = 3\n", "line 2: target must be an array of tables"),
        (HEAD + "x = [\n", "is not valid TOML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, said: str) -> None:
    with pytest.raises(DesiredError, match=r"f\.toml") as caught:
        file(text)
    assert said in caught.value.message


def test_the_line_is_that_of_the_very_table() -> None:
    text = ONE + "[target.set]\nx = 1\n" + '[[target]]\nselect = {media = "hdd"}\nset = {x = 1.5}\n'
    with pytest.raises(DesiredError, match="line 8: x must be a quoted string"):
        file(text)


def test_a_file_of_a_million_rules_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text(HEAD + '[[target]]\nselect.name="a"\n' * 50_000)
    with pytest.raises(DesiredError, match="larger than 1024 KiB"):
        read_file(path)
    with pytest.raises(DesiredError, match="there are 2001 targets; at most 2000 are allowed"):
        file(HEAD + '[[target]]\nselect.name="a"\n' * 2001)


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="Cannot read"):
        read_file(tmp_path / "no.toml")
    with pytest.raises(NotFoundError, match="Cannot read"):
        read_file(tmp_path)


@settings(max_examples=150)
@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda text: (ONE + text).encode("utf-8", "replace")))
def test_whatever_a_file_holds_ends_in_a_sentence(data: bytes) -> None:
    try:
        parse(data, "f.toml")
    except DesiredError as error:
        told = error.message
    else:
        told = "well"
    assert told
