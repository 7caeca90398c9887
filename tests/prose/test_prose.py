"""The counter of unclear phrases finds them in every kind of prose, and only there."""

from __future__ import annotations

import pytest

from tests.prose.count import Count, ceilings, count, excesses
from tests.prose.phrases import hits, words
from tests.prose.pieces import KINDS, pieces_of

MODULE = '''#!/usr/bin/env python3
"""Say what the drive told."""

import re  # noqa: told

# Somebody mends it.
KEY = "told"
MESSAGE = f"the drive {KEY} told {KEY} the controller"
PATTERN = "stands beside the array"
'''


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("The tool told us", "told"),
        ("an array made anew", "anew"),
        ("a partition lies inside", "lies"),
        ("What stands here", "stands"),
        ("whoever holds it", "whoever"),
        ("no more of it", "no more"),
        ("nothing is mended", "mended"),
        ("a look at the drives", "a look"),
        ("beside the array", "beside"),
        ("starts by itself", "by itself"),
        ("while it goes on", "goes on"),
        ("takes it back", "takes it back"),
        ("another value than that", "another value than"),
        ("What is set", "What is"),
        ("the rest of what differs", "of what"),
        ("bears a filesystem", "bears"),
        ("such things", "things"),
        ("is held by another program", "is held"),
    ],
)
def test_each_phrase_is_counted(text: str, phrase: str) -> None:
    assert phrase in [found for found, _ in hits(text)]


@pytest.mark.parametrize(
    "text",
    [
        "What is the strip size?",
        "Use no more than 8 drives.",
        "The stored value is restored.",
        "Return the mendelevium of a layer.",
        "Look at the devices.",
    ],
)
def test_clear_sentences_have_no_hit(text: str) -> None:
    assert not list(hits(text))


def test_each_kind_of_a_module_is_counted_apart() -> None:
    counts = count(pieces_of("app/module.py", MODULE))
    lines = {kind: [hit.split(" ")[0] for hit in counts[kind].hits] for kind in KINDS}
    assert lines == {
        "docs": [],
        "docstrings": ["app/module.py:2:"],
        "comments": ["app/module.py:6:", "app/module.py:6:"],
        "strings": ["app/module.py:8:", "app/module.py:9:", "app/module.py:9:"],
    }
    assert counts["docstrings"].words == words("Say what the drive told.")


def test_code_blocks_of_a_page_are_no_prose() -> None:
    page = "It lies here.\n\n```console\n$ raidbench told\n```\n\nIt stands there.\n"
    counts = count(pieces_of("docs/page.md", page))
    assert [hit.split(" ")[0] for hit in counts["docs"].hits] == ["docs/page.md:1:", "docs/page.md:7:"]
    assert counts["docs"].words == 6


def test_a_rate_above_its_ceiling_is_reported() -> None:
    counts = {kind: Count(1000) for kind in KINDS}
    counts["docs"].hits = ["a", "b", "c"]
    limits = dict.fromkeys(KINDS, 2.0)
    assert excesses(counts, limits) == ["docs: 3.0 unclear phrases per 1,000 words; the ceiling is 2.0"]
    assert not excesses(counts, limits | {"docs": 3.0})


def test_every_kind_has_a_ceiling_of_two_at_most() -> None:
    assert set(ceilings()) == set(KINDS)
    assert max(ceilings().values()) <= 2.0
