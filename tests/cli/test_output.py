"""What the commands print for programs."""

from __future__ import annotations

import json
import math

import pytest

from app.cli.output import document

BODY = {
    'a "quoted" key\n': ["", 'ü "\\\x00', None, True, False, 0, -3, 1 << 70, 0.1, 1e300, -0.0],
    "nothing": [{}, [], (), {"": {}}, [[]]],
    "deep": {"pairs": ({"x": 1, "y": [2]}, {"x": ()})},
}


@pytest.mark.parametrize("indent", [1, None])
def test_a_document_reads_as_json_writes_it(indent: int | None, capsys: pytest.CaptureFixture[str]) -> None:
    document(BODY, compact=indent is None)
    assert capsys.readouterr().out == json.dumps(BODY, indent=indent) + "\n"


def test_what_is_no_number_is_no_json() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        document({"iops": [math.nan]})
