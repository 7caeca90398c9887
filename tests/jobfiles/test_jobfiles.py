"""raidbench runs the job that fio would run, or says what it does not do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.jobfiles import drawn, meaning, options
from tests.jobfiles.cases import EXAMPLES, Case, cases
from tests.jobfiles.verdict import Kind, Scratch, judge, judged, lay_out
from tests.packages import needs

pytestmark = [pytest.mark.fio, needs("fio")]

SHORT = frozenset(
    (
        *("direct-over-buffered", "global-after-a-job", "comments", "size-and-runtime", "block-split-blank"),
        *("rate-of-writes-only", "one-after-the-other", "invalidate-other", "verify-other"),
    )
)
"""Cases of every kind for each run of the tests; the others are exhaustive."""


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    return lay_out(tmp_path_factory.mktemp("jobfiles"))


def parameters() -> Iterator[object]:
    for case in cases():
        yield pytest.param(case, id=case.name, marks=[] if case.name in SHORT else [pytest.mark.exhaustive])


def drawn_files() -> Iterator[object]:
    for place, text in enumerate(drawn.files(120, seed=1)):
        yield pytest.param(text, id=str(place))


@pytest.mark.long
@pytest.mark.parametrize("case", parameters())
def test_a_job_file_means_what_fio_means(case: Case, scratch: Scratch) -> None:
    verdict = judged(case, scratch)
    assert verdict.kind is not Kind.DIFFERS, f"{verdict}\n{case.text}"


@pytest.mark.exhaustive
@pytest.mark.parametrize("text", drawn_files())
def test_a_job_file_drawn_at_random_is_not_misunderstood(text: str, scratch: Scratch) -> None:
    verdict = judge(text, scratch)
    assert verdict.kind is not Kind.DIFFERS, f"{verdict}\n{text}"


def test_every_option_of_fio_has_a_job_file() -> None:
    assert set(meaning.names()) <= options.VALUES.keys()


@pytest.mark.exhaustive
def test_the_defaults_are_those_of_fios_own_help() -> None:
    wrong = {
        option: (default, told)
        for option, (default, _) in options.VALUES.items()
        if default != "-" and (told := meaning.default_of(option)) and not meaning.same_default(default, told)
    }
    assert wrong == {}


def test_names_are_distinct_and_the_short_ones_exist() -> None:
    names = [case.name for case in cases()]
    assert len(set(names)) == len(names)
    assert set(names) >= SHORT


def test_fios_own_examples_are_there() -> None:
    if not list(EXAMPLES.glob("*.fio")):
        pytest.skip(f"fio's package has no example files in {EXAMPLES}: only the job files of this table were tried")
