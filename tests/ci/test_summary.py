"""The text at the end of a run."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from tests.ci.decision import Failed, Flaky, Verdict
from tests.ci.known import Entry
from tests.ci.sessions import Failure
from tests.ci.steps import Step
from tests.ci.summary import summary_text

NOWHERE = Path("/nowhere")
TEST, CHECK, LAB = Step("make test", 2, 396, NOWHERE), Step("make check", 0, 61, NOWHERE), Step("lab", 77, 2, NOWHERE)
ENTRY = Entry("tests/x.py::test_b", "It waits for a clock.", date(2026, 3, 1))


def failure(name: str) -> Failure:
    return Failure(f"tests/x.py::test_{name}", f"AssertionError: {name}\nassert 1 == 2")


def flaky(*names: str, entry: Entry | None = None) -> list[Flaky]:
    return [Flaky(TEST, failure(name), entry) for name in names]


def test_a_run_that_passed_has_a_table_of_times() -> None:
    steps = (Step("make test", 0, 396, NOWHERE), CHECK)
    assert summary_text(steps, Verdict(), (), before=457, repeated=0) == "\n".join(
        (
            "",
            "all passed",
            "",
            "make test                 passed     6:36",
            "make check                passed     1:01",
            "repetitions and decision             0:00",
            "total                                7:37",
        )
    )


def test_a_flaky_test_is_named_with_its_step_its_cause_and_its_first_message() -> None:
    text = summary_text((TEST, CHECK), Verdict([*flaky("a"), *flaky("b", entry=ENTRY)]), (), before=0, repeated=7)
    assert (
        "flaky: tests/x.py::test_a [make test] (not listed)\n    AssertionError: a\n    assert 1 == 2\n"
        "flaky: tests/x.py::test_b [make test] (listed: It waits for a clock.)\n    AssertionError: b\n"
    ) in text
    assert "\nall passed\n" in text
    assert "make test                 flaky      6:36\n" in text


def test_a_failure_is_named_with_its_message_and_the_reason_why_it_counts() -> None:
    verdict = Verdict(failed=[Failed(TEST, "failed again: no", failure("a")), Failed(TEST, "a worker died")])
    text = summary_text((TEST, CHECK), verdict, (), before=0, repeated=0)
    assert (
        "failed: tests/x.py::test_a [make test]\n    AssertionError: a\n    assert 1 == 2\n    failed again: no\n"
        in text
    )
    assert "failed: [make test]: a worker died\nfailed: [make test]\n" in text
    assert "all passed" not in text
    assert "make test                 failed     6:36\n" in text


def test_three_unlisted_flaky_tests_are_a_failure_that_is_named() -> None:
    text = summary_text((TEST,), Verdict(flaky("a", "b", "c")), (), before=0, repeated=0)
    assert "failed: 3 flaky tests are not listed in tests/flaky.toml; at most 2 pass\n" in text
    assert "all passed" not in text


def test_skipped_steps_are_named_and_then_not_all_passed() -> None:
    text = summary_text((CHECK, LAB), Verdict(), (), before=0, repeated=0)
    assert "\nskipped: [lab]\n" in text
    assert "all passed" not in text
    assert "lab                       skipped    0:02\n" in text


def test_an_expired_entry_is_named() -> None:
    text = summary_text((CHECK,), Verdict(), (ENTRY,), before=0, repeated=0)
    assert "expired: tests/x.py::test_b: added 2026-03-01; " in text


def test_a_run_that_took_too_long_says_so() -> None:
    text = summary_text((Step("lab", 0, 3600, NOWHERE),), Verdict(), (), before=3600, repeated=5)
    assert text.endswith("60:05, over the limit of 55:00")


def test_steps_at_the_same_time_are_not_added_up() -> None:
    steps = (Step("make check", 0, 1800, NOWHERE), Step("lab", 0, 1800, NOWHERE))
    assert summary_text(steps, Verdict(), (), before=1900, repeated=0).endswith(" 31:40")
