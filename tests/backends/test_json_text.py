"""JSON over lines is what the standard library writes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.json_text import indented_json

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@pytest.mark.long
@given(VALUES, st.sampled_from([(1, ": "), (2, " : "), (0, ": ")]))
def test_it_is_what_json_writes(value: object, layout: tuple[int, str]) -> None:
    indent, colon = layout
    assert indented_json(value, indent, colon) == json.dumps(value, indent=indent, separators=(",", colon))


def test_tuples_are_lists() -> None:
    assert indented_json(((1, 2), ())) == json.dumps([[1, 2], []], indent=1)


@pytest.mark.parametrize("value", [float("nan"), {"a": [float("inf")]}])
def test_what_json_cannot_say_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        indented_json(value)
