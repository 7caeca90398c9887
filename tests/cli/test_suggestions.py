"""A mistyped word: the nearest that is known is named, whatever kind of word it is."""

from __future__ import annotations

import pytest

from backends.did_you_mean import nearest_word
from tests.cli.conftest import Cli

DEMO = ("--demo", "--demo-speed", "1000")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("devcies",), "devices"),
        (("unod",), "undo"),
        (("baseline", "chekc"), "'check'"),
        (("help", "snow"), "show"),
        (("--demo", "lniux"), "linux"),
        (("devices", "--jsno"), "'--json'"),
        (("devices", "--columns", "nmae"), "name"),
        (("show", "/c0/v9"), "/c0/v1"),
        (("show", "bsd"), "sdb"),
        (("show", "megaraid:/c0/vv1"), "megaraid:/c0/v1"),
        (("set", "/c0/v1", "readahead=none", "--dry-run"), "read_ahead"),
        (("set", "/c0/v1", "read_ahead=adptive", "--dry-run"), "adaptive"),
        (("bench", "/c0/v1", "--profile", "randred-4k"), "randread-4k"),
        (("sweep", "queuedepth"), "queue-depth"),
        (("sweep", "queue-depth", "--target", "arary=sdb"), "array"),
    ],
)
def test_the_nearest_is_named(cli: Cli, words: tuple[str, ...], meant: str) -> None:
    front = DEMO if "--demo" not in words else ()
    found = cli(*front, *words)
    assert (found.status, f"Did you mean {meant}?" in found.err) == (2, True), found.err


def test_what_is_near_to_nothing_names_nothing(cli: Cli) -> None:
    assert "Did you mean" not in cli("xyzzy").err


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("bsd", ("sda", "sdb", "sdc"), "sdb"),
        ("SDB", ("sda", "sdb"), "sdb"),
        ("sdb", (), None),
        ("q", ("queue_depth",), None),
    ],
)
def test_the_same_letters_come_first_whatever_their_case(word: str, known: tuple[str, ...], near: str | None) -> None:
    assert nearest_word(word, known) == near
