"""Sentences say a tool's word in plain words. Its own word is in brackets or quotes, or not there at all."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.model import State
from backends.reported_words import plain_words, reported_text, state_text, word_text

VENDORS = Path(__file__).parents[2] / "backends" / "vendors"

RAW = re.compile(r"(?:\w+_)?raw|status|cache_state|connection|(?:power|module|volume|module_left)\.state")
"""Attributes with a word as a tool wrote it."""

SPOKEN = {"plain_words", "reported_text", "state_text", "word_text", "_copy_text"}


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("Failed (Replace Batteries)", "failed (replace batteries)"),
        ("SMART-FAILURE", "SMART failure"),
        ("ZMM not installed", "ZMM not installed"),
        ("neverContacted", "never contacted"),
        ("Non-critical", "non-critical"),
        ("", ""),
    ],
)
def test_a_tools_word_is_read_aloud(raw: str, plain: str) -> None:
    assert plain_words(raw) == plain


@pytest.mark.parametrize(
    ("state", "raw", "text"),
    [
        (State.DEGRADED, "Dgrd", "degraded (Dgrd)"),
        (State.ONLINE, "Online, Spun Up", "online, spun up"),
        (State.FAILED, "Failed", "failed"),
        (State.SPARE, "DHS", "a hot spare (DHS)"),
        (State.FAILED, "", "failed"),
        (State.UNKNOWN, "Xyz", "in an unknown state (Xyz)"),
        (State.UNKNOWN, "", "in an unknown state"),
    ],
)
def test_a_state_is_a_plain_word_with_the_tools_word_in_brackets(state: State, raw: str, text: str) -> None:
    assert state_text(state, raw) == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [("StandAlone", "stand alone (StandAlone)"), ("Offline", "offline"), (None, "in an unknown state")],
)
def test_a_word_that_is_no_state_keeps_its_spelling_in_brackets(raw: str | None, text: str) -> None:
    assert word_text(raw) == text


def test_a_long_or_broken_word_of_a_tool_does_not_break_the_sentence() -> None:
    assert len(reported_text("failed", "x\x1b[31m" * 1000)) < 100


def bare_words(source: str) -> set[str]:
    """The words of tools in sentences that are neither in brackets nor in quotes."""
    tree = ast.parse(source)
    reported = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "raw"}
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) and id(node) not in reported)
    found: set[str] = set()
    for text in texts:
        before = ""
        for part in text.values:
            if isinstance(part, ast.Constant):
                before += str(part.value)
            elif isinstance(part, ast.FormattedValue):
                quoted = part.conversion == ord("r") or before.endswith(('"', "'"))
                if before.count("(") == before.count(")") and not quoted and re.search(r"[a-z]+ $", before):
                    found.update(filter(RAW.fullmatch, tool_words(part.value)))
                before += "x"
    return found


def tool_words(node: ast.AST) -> Iterator[str]:
    """The attributes in an expression, apart from those that a function turns into plain words."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SPOKEN:
        return
    if isinstance(node, ast.Attribute):
        yield node.attr
        if isinstance(node.value, ast.Attribute | ast.Name):
            yield f"{getattr(node.value, 'attr', getattr(node.value, 'id', ''))}.{node.attr}"
    if isinstance(node, ast.Attribute) and node.attr == "value":
        return  # a `State` in plain words
    if isinstance(node, ast.Subscript) and ast.unparse(node.slice) == "'Status'":
        yield "status"
    for child in ast.iter_child_nodes(node):
        yield from tool_words(child)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('f"it is {volume.state_raw or volume.state.value}"', {"state_raw"}),
        ("f\"the controller reports {port['Status']}\"", {"status"}),
        ('f"the battery is {card.power.state}"', {"power.state"}),
        ('f"it is {state_text(volume.state, volume.state_raw)} (as {volume.state_raw})"', set()),
        ('f"its value {word.raw!r} is not understood"', set()),
    ],
)
def test_the_search_finds_a_bare_word(source: str, words: set[str]) -> None:
    assert bare_words(source) == words


REPORTED = {("mdraid/readings.py", "raw"), ("scsi/readings.py", "raw"), ("megaraid/storcli/named.py", "status")}
"""Values as a tool reports them, outside of sentences, and the status of an answer with a message."""


@pytest.mark.long
def test_no_sentence_of_a_vendor_has_a_bare_word_of_a_tool() -> None:
    found = {
        (str(path.relative_to(VENDORS)), word)
        for path in VENDORS.rglob("*.py")
        for word in bare_words(path.read_text())
    }
    assert found == REPORTED
