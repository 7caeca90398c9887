"""Which failures are repeated, which may be flaky, and what the run comes to."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.ci.decision import Verdict, decide
from tests.ci.known import LIFETIME, Entry
from tests.ci.sessions import Failure, Outcomes
from tests.ci.steps import SKIPPED, Step

TODAY = date(2026, 3, 20)
FILE = "tests/test_glossary.py"
GUARD = "tests/backends/test_guard.py"


def step(name: str = "make test", status: int = 2) -> Step:
    return Step(name, status, 60, Path("/nowhere"))


def failing(*names: str, broken: tuple[str, ...] = (), file: str = FILE) -> Outcomes:
    return Outcomes(tuple(Failure(f"{file}::test_{name}", "first message") for name in names), broken)


class Run:
    """Steps with made-up outcomes. Tests in `still_failing` fail again, all others pass alone."""

    def __init__(self, *still_failing: str, entries: tuple[Entry, ...] = (), confirmed: str = "") -> None:
        self.still_failing = {f"{FILE}::test_{name}" for name in still_failing}
        self.entries = entries
        self.confirmed = confirmed
        self.repeated: list[tuple[str, str]] = []
        self.confirmations: list[str] = []

    def repeat(self, step: Step, failure: Failure) -> str:
        self.repeated.append((step.name, failure.test.partition("::test_")[2]))
        return "failed again" if failure.test in self.still_failing else ""

    def confirm(self, step: Step) -> str:
        self.confirmations.append(step.name)
        return self.confirmed

    def verdict(self, *ran: tuple[Step, Outcomes]) -> Verdict:
        return decide(ran, self.entries, TODAY, self.repeat, self.confirm)


def reasons(verdict: Verdict) -> list[str]:
    return [failed.reason for failed in verdict.failed]


def listed(name: str, age: timedelta) -> Entry:
    return Entry(f"{FILE}::test_{name}", "It waits for a clock.", TODAY - age)


def test_nothing_is_repeated_where_all_steps_passed() -> None:
    run = Run()
    assert run.verdict((step(status=0), Outcomes(passed=9)), (step("lab", SKIPPED), Outcomes())).passes
    assert (run.repeated, run.confirmations) == ([], [])


def test_a_test_that_passes_alone_is_flaky_and_the_run_passes() -> None:
    run = Run()
    verdict = run.verdict((step(), failing("a")))
    assert verdict.passes
    assert [(flaky.failure.test, flaky.entry) for flaky in verdict.flaky] == [(f"{FILE}::test_a", None)]
    assert run.repeated == [("make test", "a")]


def test_a_test_that_fails_again_fails_the_run() -> None:
    run = Run("a")
    verdict = run.verdict((step(), failing("a", "b")))
    assert not verdict.passes
    assert reasons(verdict) == ["failed again"]
    assert run.repeated == [("make test", "a"), ("make test", "b")]


def test_a_test_that_failed_in_two_steps_is_repeated_as_each_of_them_runs_it() -> None:
    run = Run()
    assert run.verdict((step(), failing("a")), (step("as another user"), failing("a"))).passes
    assert run.repeated == [("make test", "a"), ("as another user", "a")]


@pytest.mark.parametrize(("flaky", "passes"), [("ab", True), ("abc", False)])
def test_two_unlisted_flaky_tests_pass_and_three_do_not(flaky: str, passes: bool) -> None:
    verdict = Run().verdict((step(), failing(*flaky[:1])), (step("other"), failing(*flaky[1:])))
    assert (len(verdict.flaky), verdict.passes, verdict.failed) == (len(flaky), passes, [])


def test_a_flaky_test_counts_once_however_many_steps_it_failed_in() -> None:
    assert Run().verdict((step(), failing("a", "b")), (step("other"), failing("a", "b"))).passes


@pytest.mark.parametrize(("age", "passes"), [(LIFETIME, True), (LIFETIME + timedelta(days=1), False)])
def test_a_listed_test_does_not_count_until_its_entry_expires(age: timedelta, passes: bool) -> None:
    verdict = Run(entries=(listed("c", age),)).verdict((step(), failing("a", "b", "c")))
    assert verdict.passes is passes
    assert [flaky.entry is not None for flaky in verdict.flaky] == [False, False, passes]


def test_a_listed_test_that_fails_again_fails_the_run() -> None:
    assert not Run("a", entries=(listed("a", timedelta()),)).verdict((step(), failing("a"))).passes


def test_an_entry_without_parameters_covers_all_of_them() -> None:
    run = Run(entries=(listed("a", timedelta()),))
    assert run.verdict((step(), failing("a[1]", "a[2]", "a[x::y]"))).unlisted == []
    assert run.verdict((step(), failing("ab[1]"))).unlisted == [f"{FILE}::test_ab[1]"]


def test_a_test_of_the_guard_is_not_repeated_and_fails_the_run() -> None:
    run = Run()
    verdict = run.verdict((step(), failing("a", file=GUARD)))
    assert reasons(verdict) == ["not repeated: a test of the guard"]
    assert run.repeated == []
    assert not verdict.passes


def test_a_test_with_the_marker_is_not_repeated() -> None:
    run = Run()
    verdict = run.verdict((step(), Outcomes((Failure(f"{FILE}::test_a", "", safety=True),))))
    assert reasons(verdict) == ["not repeated: it has the marker safety"]
    assert run.repeated == []


def test_a_failure_that_is_no_test_fails_the_run_whatever_else_is_flaky() -> None:
    run = Run()
    verdict = run.verdict((step(), failing("a", broken=("tests/x.py cannot be collected",))))
    assert reasons(verdict) == ["tests/x.py cannot be collected"]
    assert [flaky.failure.test for flaky in verdict.flaky] == [f"{FILE}::test_a"]
    assert run.confirmations == []


def test_a_step_that_failed_without_a_failed_test_fails_the_run() -> None:
    assert reasons(Run().verdict((step("make check"), Outcomes()))) == ["exit status 2, and no test failed"]


@pytest.mark.parametrize(("number", "passes"), [(10, True), (11, False)])
def test_with_too_many_failures_in_all_steps_nothing_is_repeated(number: int, passes: bool) -> None:
    names = list("abcdefghijk"[:number])
    run = Run(entries=tuple(listed(name, timedelta()) for name in names))
    verdict = run.verdict((step(), failing(*names[:5])), (step("other"), failing(*names[5:])))
    assert verdict.passes is passes
    assert len(run.repeated) == (len(names) if passes else 0)


def test_a_step_is_confirmed_once_all_its_tests_have_passed() -> None:
    run = Run("b", confirmed="a row is missing")
    verdict = run.verdict((step("lab"), failing("a")), (step("other"), failing("b")))
    assert run.confirmations == ["lab"]
    assert reasons(verdict) == ["a row is missing", "failed again"]
