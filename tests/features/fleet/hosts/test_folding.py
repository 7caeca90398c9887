"""Answers of many hosts: equal ones once, none lost, none with what is not the same."""

from __future__ import annotations

from typing import Any

from app.features.fleet.hosts.failure_causes import HostResponse, MissingHost
from app.features.fleet.hosts.grouping import HostResponses, answered_text, answers_json, loss_rows, text_rows
from app.features.fleet.ssh.faults import Cause

NAMES = tuple(f"n{number}" for number in range(1, 7))


def answer(named: str, status: int = 0, **document: Any) -> HostResponse:
    return HostResponse(host=named, status=status, document={"schema": 1, **document})


def lost(host: str, evidence: str = "", message: str = "The host is unreachable.") -> MissingHost:
    return MissingHost(host=host, cause=Cause.UNREACHABLE, message=message, hint="Look.", evidence=evidence)


def gathered(*told: HostResponse | MissingHost, by_text: bool = False) -> HostResponses:
    made = HostResponses(asked=NAMES, by_text=by_text)
    for one in told:
        made.take(one)
    return made


def test_equal_documents_are_one_whatever_the_host_calls_itself() -> None:
    made = gathered(answer("n3", host="c"), answer("n1", host="a"), answer("n2", host="b", more=1))
    told = answers_json(made)["answers"]
    assert [(one["hosts"], one["document"]["host"]) for one in told] == [("n[1,3]", None), ("n2", "b")]


def test_another_status_is_another_answer() -> None:
    assert len(gathered(answer("n1"), answer("n2", status=5)).groups) == 2


def test_for_a_person_equal_text_is_equal() -> None:
    made = gathered(answer("n1", text="x", serial=1), answer("n2", text="x", serial=2), by_text=True)
    assert [group.hosts for group in made.in_order()] == [("n1", "n2")]
    assert made.in_order()[0].document == {"text": "x"}


def test_a_total_never_shrinks_in_silence() -> None:
    made = gathered(*(answer(name) for name in NAMES[:4]), lost("n6"), lost("n5"))
    assert answered_text(made) == "4 of 6 hosts answered; missing: n[5-6]."
    assert answers_json(made)["counts"] == {"asked": 6, "answered": 4, "missing": 2}
    assert [one["host"] for one in answers_json(made)["missing"]] == ["n5", "n6"]
    assert not made.waiting


def test_losses_with_one_reason_are_told_once() -> None:
    made = gathered(lost("n2", "port of n2 is shut"), lost("n1", "port of n1 is shut"), lost("n3", message="Late."))
    assert loss_rows(made) == [
        *("n[1-2]: The host is unreachable.", "  port of n1 is shut", "  Look."),
        *("n3: Late.", "  Look."),
    ]


def test_a_text_keeps_its_columns_and_nothing_else() -> None:
    assert text_rows({"text": "a   b\x1b[2J  \n\x07"}) == ["a   b�[2J", "�"]
    assert text_rows({"text": 7}) == []
    assert len(text_rows({"text": "x y " * 5000})[0]) <= 1000
