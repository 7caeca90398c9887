"""What one host gave, judged: the words of ssh by their cause, a document by its form, all else never believed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.features.fleet.hosts.failure_causes import HostResponse, MissingHost, find_document, interpret
from app.features.fleet.hosts.wire_format import RawResponse, parse_response
from app.features.fleet.ssh.faults import Cause
from tests.case_loop import loop_over

FINE = RawResponse(host="n1", status=0, out='{"schema": 1, "findings": []}')


def cause(raw: RawResponse) -> Cause:
    told = interpret(raw)
    assert isinstance(told, MissingHost)
    return told.cause


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ssh: connect to host n1 port 22: Connection refused", Cause.UNREACHABLE),
        ("Connection timed out during banner exchange", Cause.UNREACHABLE),
        ("", Cause.UNREACHABLE),
        ("ssh: Could not resolve hostname n1: Name or service not known", Cause.NAME_UNKNOWN),
        ("No ED25519 host key is known for n1 and you have requested strict checking.", Cause.KEY_UNKNOWN),
        (
            "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
            Cause.KEY_CHANGED,
        ),
        ("root@n1: Permission denied (publickey).", Cause.NO_PERMISSION),
    ],
)
def test_what_ssh_says_has_a_cause(words: str, expected: Cause) -> None:
    assert cause(RawResponse(host="n1", status=255, err=words)) is expected


@loop_over(
    ("raw", "expected"),
    [
        (RawResponse(host="n1", status=127, err="sh: raidbench: not found"), Cause.ABSENT),
        (RawResponse(host="n1", status=126), Cause.ABSENT),
        (RawResponse(host="n1", status=1, err="raidbench: Command not found."), Cause.ABSENT),
        (RawResponse(host="n1", status=None, late=True), Cause.TIMED_OUT),
        (RawResponse(host="n1", status=None, endless=True, out="{"), Cause.TOO_LONG),
        (RawResponse(host="n1", status=None, endless=True, out="yes\nyes"), Cause.NOT_JSON),
        (RawResponse(host="n1", status=0), Cause.NOT_JSON),
        (RawResponse(host="n1", status=0, out="{'no': 1}"), Cause.NOT_JSON),
        (RawResponse(host="n1", status=0, out='{"schema": 1, "x": NaN}'), Cause.NOT_JSON),
        (RawResponse(host="n1", status=0, out='{"a":' * 100_000), Cause.NOT_JSON),
        (RawResponse(host="n1", status=0, out='{"findings": []}'), Cause.NOT_JSON),
        (RawResponse(host="n1", status=0, out='{"schema": true}'), Cause.NOT_JSON),
        (RawResponse(host="n1", status=0, out='{"schema": 2}'), Cause.NEWER),
        (RawResponse(host="n1", status=0, out='{"schema": 0}'), Cause.OLDER),
        (RawResponse(host="n1", status=3), Cause.FAILED),
        (replace(FINE, status=None), Cause.FAILED),
    ],
)
def test_what_a_host_gives_has_a_cause(raw: RawResponse, expected: Cause) -> None:
    assert cause(raw) is expected


def test_an_answer_after_a_greeting_is_an_answer_with_its_status() -> None:
    told = interpret(replace(FINE, status=5, out=f"Welcome {{here}}\n{FINE.out}\n"))
    assert told == HostResponse(host="n1", status=5, document={"schema": 1, "findings": []})


def test_what_comes_after_a_document_makes_it_none() -> None:
    assert cause(replace(FINE, out=f"{FINE.out}\nand more")) is Cause.NOT_JSON


def refused(status: int, message: str) -> MissingHost:
    error = {"status": status, "message": message, "hint": "Look\x1b[2J there.", "evidence": "a\x07b"}
    told = interpret(replace(FINE, status=status, out=json.dumps({"schema": 1, "error": error})))
    assert isinstance(told, MissingHost)
    return told


def test_what_raidbench_refuses_there_is_told_in_its_words_and_cleaned() -> None:
    told = refused(3, "Held by\x1b]0;x\x07 somebody.")
    assert (told.cause, told.message) == (Cause.FAILED, "Held by�]0;x� somebody.")
    assert (told.hint, told.evidence) == ("Look�[2J there.", "a�b")


def test_a_raidbench_that_does_not_know_what_it_is_asked_is_too_old() -> None:
    assert refused(2, "No such option: --with-text").cause is Cause.OLDER
    assert refused(2, "No such command 'hosts'.").cause is Cause.OLDER
    assert refused(2, "There is no target sdz.").cause is Cause.FAILED
    assert refused(1, "No such option").cause is Cause.FAILED


def test_a_hint_names_the_host_and_last_words_are_few() -> None:
    told = interpret(RawResponse(host="n7", status=255, err="\n".join(f"row {n}" for n in range(100))))
    assert isinstance(told, MissingHost)
    assert ("`ssh n7 true`" in told.hint, told.evidence) == (True, "row 97\nrow 98\nrow 99")


@pytest.mark.long
@given(st.text() | st.text().map(lambda text: "{" + text), st.integers(0, 255), st.text())
def test_nothing_a_host_gives_is_a_traceback(out: str, status: int, err: str) -> None:
    told = interpret(RawResponse(host="n1", status=status, out=out, err=err))
    assert isinstance(told, MissingHost) or find_document(out) == told.document


@pytest.mark.long
@given(st.builds(RawResponse, host=st.text(), status=st.none() | st.integers(0, 255), out=st.text(), err=st.text()))
def test_what_crosses_between_the_processes_comes_back(raw: RawResponse) -> None:
    assert parse_response(raw.line().encode()) == raw


@pytest.mark.parametrize("line", [b"", b"[]", b"{}", b'{"host": 1, "out": "", "err": ""}', b"\xff{"])
def test_any_other_line_is_none(line: bytes) -> None:
    assert parse_response(line) is None
