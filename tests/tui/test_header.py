"""The header says where one is: host and screen before all else, whatever the width."""

from __future__ import annotations

from dataclasses import replace

import pyte
import pytest
from textual.pilot import Pilot

from app.cli.splash import frame
from app.core.session.events import MachineFacts
from app.tui.commands import SCREENS
from app.tui.header import HeaderLines
from app.tui.header_text import TALL, HeaderSegment, RunBadge
from tests.tui.stage import MACHINE, Table, app_of, opened, text_of
from widgets.text_utils.symbols import BUSY, WELL

LONG = "storage-rack-0042.room7.example.org"


def lines(pilot: Pilot[int], count: int = 2) -> list[str]:
    return text_of(pilot).splitlines()[:count]


def told(pilot: Pilot[int], *state: HeaderSegment) -> None:
    """The header with these words on the right."""
    header = pilot.app.screen.query_one(HeaderLines)
    header.content = replace(header.content, state=state)


async def test_on_a_tall_terminal_the_screens_are_named_below_the_machine(table: Table) -> None:
    async with opened(table, (120, 40)) as pilot:
        first, second = lines(pilot)
        assert (first.split()[:3], second.split()[:4]) == (["raidbench", "·", "tea"], ["1", "Devices", "2", "Bench"])


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=str)
async def test_the_bar_of_screens_stands_where_the_first_frame_had_it(table: Table, size: tuple[int, int]) -> None:
    terminal = pyte.Screen(*size)
    pyte.Stream(terminal).feed(frame("tea", *size))
    async with opened(table, size) as pilot:
        row = 1 if size[1] >= TALL else 0
        first, follows = terminal.display[row], lines(pilot)[row]
        assert [first.find(name) for name in SCREENS.values()] == [follows.find(name) for name in SCREENS.values()]
        assert first.find("5 Log") > 0


async def test_on_a_short_terminal_one_line_has_host_and_screens(table: Table) -> None:
    async with opened(table, (80, 24)) as pilot:
        (line,) = lines(pilot, 1)
        assert line.split() == [
            *["tea", "1", "Devices", "2", "Bench", "3", "Runs", "4", "Sweep", "5", "Log", "root", "REC", "2"]
        ]


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=str)
async def test_the_screen_in_front_is_inverse_and_no_other(table: Table, size: tuple[int, int]) -> None:
    async with opened(table, size) as pilot:
        await pilot.press("3")
        await pilot.pause()
        strips = pilot.app.screen._compositor.render_strips()[:2]
        inverse = [seg.text.strip() for strip in strips for seg in strip if seg.style and seg.style.reverse]
        assert inverse == ["3 Runs"]


async def test_without_room_the_other_screens_lose_their_names_before_the_job_goes(table: Table) -> None:
    async with opened(table, (80, 24)) as pilot:
        told(
            pilot,
            HeaderSegment("SIMULATED"),
            HeaderSegment("trial 42 s", rank=1),
            HeaderSegment("randread-4k 42 % ETA 35 s", "run", 1),
        )
        await pilot.pause()
        said = " ".join(lines(pilot, 1)[0].split())
        assert said == "tea 1 Devices 2 3 4 5 SIMULATED trial 42 s randread-4k 42 % ETA 35 s"


async def test_nothing_pushes_the_host_off(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    async def facts(_host: object) -> MachineFacts:
        return replace(MACHINE, host=LONG[:32])

    monkeypatch.setattr("app.core.session.recorder.machine_facts", facts)
    async with opened(table, (70, 18)) as pilot:
        for size in ((70, 18), (80, 24), (80, 40), (120, 40)):
            await pilot.resize_terminal(*size)
            told(
                pilot,
                HeaderSegment("SIMULATED"),
                *(HeaderSegment("something long to say", rank=rank) for rank in range(1, 9)),
            )
            await pilot.pause()
            assert len(lines(pilot, 1)[0]) == size[0]
            assert LONG[:32] in lines(pilot, 1)[0], size


async def test_what_is_recorded_is_not_called_simulated(table: Table) -> None:
    table.options = replace(table.options, recorded=True)
    async with opened(table) as pilot:
        app_of(pilot).session = replace(app_of(pilot).session, simulated=True)
        await pilot.pause()
        assert ("recorded" in lines(pilot, 1)[0], "SIMULATED" in lines(pilot, 1)[0]) == (True, False)


@pytest.mark.long
async def test_a_sheet_belongs_to_the_screen_that_it_was_opened_from(table: Table) -> None:
    async with opened(table, (120, 40)) as pilot:
        await pilot.press("3")
        header = HeaderLines("compare")
        await pilot.app.screen.mount(header)
        assert header._screen == "runs"


@pytest.mark.long
async def test_a_click_on_a_name_goes_there(table: Table) -> None:
    async with opened(table, (120, 40)) as pilot:
        await pilot.click(offset=(lines(pilot)[1].index("Runs"), 1))
        await pilot.pause()
        assert pilot.app.current_mode == "runs"


async def test_a_running_job_marks_its_screen_from_everywhere(table: Table) -> None:
    async with opened(table, (120, 40)) as pilot:
        header = pilot.app.screen.query_one(HeaderLines)
        header.content = replace(header.content, marks=(("bench", BUSY),))
        await pilot.pause()
        assert f"2 Bench {BUSY.char}" in lines(pilot)[1]


async def test_findings_are_counted_beside_the_screens(table: Table) -> None:
    async with opened(table, (120, 40)) as pilot:
        header = pilot.app.screen.query_one(HeaderLines)
        header.content = replace(header.content, findings=2, has_warnings=True)
        await pilot.pause()
        assert lines(pilot)[1].rstrip().endswith("▲ 2 findings (!)")


def test_what_ended_elsewhere_is_marked_until_it_was_looked_at() -> None:
    waiting = RunBadge()
    seen = [
        dict(waiting.marks({"sweep"}, "devices")),
        dict(waiting.marks(set(), "devices")),
        dict(waiting.marks(set(), "runs")),
        dict(waiting.marks(set(), "sweep")),
        dict(waiting.marks(set(), "runs")),
    ]
    assert seen == [{"sweep": BUSY}, {"sweep": WELL}, {"sweep": WELL}, {}, {}]


def test_what_ended_under_ones_eyes_waits_for_nobody() -> None:
    waiting = RunBadge()
    waiting.marks({"bench"}, "bench")
    assert waiting.marks(set(), "bench") == {}
