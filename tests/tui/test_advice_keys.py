"""Whatever is said of a job names the key that follows it; that nothing can be measured is told before it is tried."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from app.core.fio.preflight import identify_fio
from app.core.presentation.run import advice_facts
from app.core.session.results import Advice
from app.features.advice.rules import KEYS
from app.tui.bench.advice import FOLLOWED, advice_with_keys
from app.tui.bench.live_view import advice_line
from app.tui.commands import COMMANDS
from app.tui.notices import join_sentences
from backends.errors import RaidbenchError, ToolMissingError
from tests.backends.fakes import FakeHost
from tests.tui.stage import Table, opened, text_of, until

UNWRITTEN = Advice(key="unwritten-flash", message="Part of it was never written.", do="Write the whole area once.")


def test_only_advice_that_there_is_is_followed_by_commands_of_bench() -> None:
    bench = {command.id for command in COMMANDS if "bench" in command.screens}
    assert (set(FOLLOWED) - set(KEYS), set(FOLLOWED.values()) - bench) == (set(), set())


def test_advice_names_the_key_that_follows_it() -> None:
    (told,) = advice_with_keys((UNWRITTEN,))
    assert told.do == "Write the whole area once. Press P (Precondition)."


def test_the_line_of_advice_names_the_key_before_it_is_cut() -> None:
    assert advice_line((UNWRITTEN, UNWRITTEN), 60).startswith("▲ 2 (i, P Precondition) Part of it")


@pytest.mark.parametrize(
    ("key", "heading"),
    [
        ("unwritten-flash", "Unwritten blocks read (unwritten-flash)"),
        ("zfs-sync", "zfs-sync"),
        ("too-short", "Too short"),
    ],
)
def test_advice_is_headed_by_words(key: str, heading: str) -> None:
    (facts,) = advice_facts((Advice(key=key, message="So it is.", do=""),))
    assert facts.heading == heading


async def bench_without(table: Table, pilot: Pilot[int]) -> None:
    await pilot.press("2")
    await until(
        pilot,
        lambda: ("The job cannot run: fio is not installed, but raidbench needs it to measure.") in text_of(pilot),
    )


async def test_that_fio_is_missing_is_told_before_anything_is_run(table: Table) -> None:
    async def why_not() -> RaidbenchError:
        try:
            await identify_fio(FakeHost({}))
        except ToolMissingError as error:
            return error
        raise AssertionError("there is one")

    table.bench.jobs.readiness_error = why_not  # type: ignore[method-assign]
    async with opened(table) as pilot:
        await bench_without(table, pilot)


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (("fio is not there", "Install it: apt-get install fio"), "fio is not there. Install it: apt-get install fio."),
        (("It failed.", ""), "It failed."),
        ((None, "Why?"), "Why?"),
    ],
)
def test_what_is_said_after_one_another_keeps_its_full_stops(parts: tuple[str | None, ...], told: str) -> None:
    assert join_sentences(*parts) == told
