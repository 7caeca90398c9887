"""Each cell of the table of drive health in docs/dev/vendor-settings.md is proved by a recording."""

from __future__ import annotations

from dataclasses import fields

import pytest

from backends.model import Health
from tests.case_loop import loop_over
from tests.health_sources import FACTS, SOURCES, HealthSource, filled

EACH = pytest.mark.parametrize("source", SOURCES, ids=[one.title for one in SOURCES])
CELLS = [
    pytest.param(one, field, word, id=f"{one.title}, {word.strip()}")
    for one in SOURCES
    for field, words in one.cells.items()
    for word in words
]


@EACH
def test_a_recording_is_read_as_the_table_says(source: HealthSource) -> None:
    found = source.read(source.recording)
    assert found == source.health
    assert filled(found) == source.cells.keys()  # a fact without a cell fails, and a cell without a fact


@loop_over(("source", "field", "word"), CELLS)
def test_a_fact_comes_from_the_words_of_its_cell(source: HealthSource, field: str, word: str) -> None:
    assert word in source.recording
    without = source.recording.replace(word, "x" * len(word))
    assert getattr(source.read(without), field) != getattr(source.health, field)


@loop_over(
    ("source", "field", "word", "answer"),
    [
        pytest.param(one, field, word, answer, id=f"{one.title}, {word}")
        for one in SOURCES
        for field, others in one.also.items()
        for word, answer in others.items()
    ],
)
def test_other_words_for_a_fact_are_read_too(source: HealthSource, field: str, word: str, answer: str) -> None:
    assert word in answer
    assert getattr(source.read(answer), field) not in (None, False, 0)
    assert getattr(source.read(answer.replace(word, "x" * len(word))), field) in (None, False, 0)


def test_every_fact_has_a_column() -> None:
    assert list(FACTS) == [one.name for one in fields(Health)]
