"""What the commands print for programs."""

from __future__ import annotations

import json
import math
import os
import signal

import pytest

from app.cli.output import ask, data, document

BODY = {
    'a "quoted" key\n': ["", 'ü "\\\x00', None, True, False, 0, -3, 1 << 70, 0.1, 1e300, -0.0],
    "nothing": [{}, [], (), {"": {}}, [[]]],
    "deep": {"pairs": ({"x": 1, "y": [2]}, {"x": ()})},
}


@pytest.mark.parametrize("indent", [1, None])
def test_a_document_reads_as_json_writes_it(indent: int | None, capsys: pytest.CaptureFixture[str]) -> None:
    document(BODY, compact=indent is None)
    expected = BODY if indent is None else {**BODY, "simulated": False}
    assert capsys.readouterr().out == json.dumps(expected, indent=indent) + "\n"


@pytest.mark.parametrize(
    ("body", "simulated"),
    [
        ({"runs": [{"id": "r1", "simulated": False}]}, False),
        ({"runs": [{"id": "r1", "simulated": False}, {"id": "r2", "simulated": True}]}, True),
        ({"simulated": False, "runs": [{"simulated": True}]}, False),
    ],
)
def test_a_document_says_that_something_in_it_is_simulated(
    body: dict[str, object], simulated: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    document(body)
    assert json.loads(capsys.readouterr().out)["simulated"] is simulated


def test_without_utf8_units_and_arrows_are_still_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.cli.output.is_utf8", lambda _stream: False)
    data("34 °C, ±2 %, none → 512, 0–8")
    assert capsys.readouterr().out == "34 C, +-2 %, none -> 512, 0-8\n"


def test_what_is_no_number_is_no_json() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        document({"iops": [math.nan]})


class NobodyTypes:
    """A terminal that is read from although nothing was typed would never let go."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()

    def fileno(self) -> int:
        return self.reading

    def readline(self) -> str:
        raise AssertionError("nothing hears a signal that came just before this")


def test_ctrl_c_ends_a_question_whenever_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def looked(*_: object) -> tuple[list[int], list[int], list[int]]:
        nonlocal looks
        looks += 1
        if looks == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return [], [], []

    monkeypatch.setattr("sys.stdin", NobodyTypes())
    monkeypatch.setattr("app.cli.output.select.select", looked)
    with pytest.raises(KeyboardInterrupt):
        ask("Apply? [y/N]")
