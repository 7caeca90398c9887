"""Small terminals, terminals without colour or UTF-8, and devices with names that mean harm."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from app.core.session.events import NoteAdded
from app.tui.app import WorkbenchApp
from tests.backends.fakes import FakeHost, disk, machine
from tests.journeys.bench_walk import run_once, start
from tests.journeys.terminal import DEADLINE, Terminal, terminal, wait_until
from tests.journeys.test_settings import apply, stage
from tests.tui.stage import Table, heard, host_of, kernel, opened, set_table, text_of, until
from tests.widgets.stage import HOSTILE
from widgets.field_dialog import TextDialog

NASTY = (*HOSTILE, "\x1b]0;owned\x07\x1b[2J", "\0" * 4096, "[bold]x", "[/foo]")


WORST = ("\x1b]52;c;aGk=\x07", "[@click=app.boom]x[/]")
"""What a terminal, and what Textual, would obey."""


def _each(number: int) -> object:
    text = NASTY[number]
    return pytest.param(number, id=ascii(text)[:24], marks=() if text in WORST else pytest.mark.exhaustive)


@pytest.fixture(params=map(_each, range(len(NASTY))))
def nasty(request: pytest.FixtureRequest) -> str:
    """What a device may call itself."""
    return NASTY[request.param]


class Booming(WorkbenchApp):
    """Notices when a name has become an action."""

    boomed = 0

    def action_boom(self) -> None:
        """What must not happen."""
        self.boomed += 1


async def test_hostile_names_are_only_text_on_every_screen(tmp_path: Path, still: None, nasty: str) -> None:
    host = FakeHost(machine(disk("sda", device__vendor=nasty, device__model=nasty, device__serial=nasty, serial=nasty)))
    host.files["/sys/block/sda/queue/scheduler"] = f"[none] {nasty}"
    host.files["/proc/self/mountinfo"] += f"\n26 25 8:0 / /srv/{nasty} rw - ext4 /dev/sda rw"
    host.kernel = kernel
    table = set_table(tmp_path, host)
    app = Booming(table.bench, table.options)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.opened and not app.session.probing)
        table.bench.emit(NoteAdded(at=0.0, text=nasty))
        app.notify(nasty, title=nasty)
        seen = []
        for key in ("1", "2", "3", "5"):
            await pilot.press(key)
            await pilot.pause()
            seen.append(text_of(pilot))
            await pilot.click(offset=(8, 2))
        assert ("".join(seen).replace("\n", "").isprintable(), app.boomed) == (True, 0)


@pytest.mark.long
@pytest.mark.parametrize("size", [pytest.param((40, 10), marks=pytest.mark.exhaustive), (20, 5), (1, 1)], ids=str)
async def test_a_tiny_terminal_is_no_reason_to_fail(table: Table, size: tuple[int, int]) -> None:
    async with opened(table, size) as pilot:
        await pilot.press("2", "3", "5", "1", "question_mark", "escape")
        assert not pilot.app._exit
        if size != (1, 1):
            assert "70x18" in text_of(pilot)


async def test_a_small_terminal_says_what_it_lacks(table: Table) -> None:
    async with opened(table, (40, 10)) as pilot:
        assert "40x10" in text_of(pilot)


@pytest.mark.long
async def test_a_run_survives_any_size(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("2")
        await start(pilot, table)
        for size in ((1, 1), (200, 60), (3, 50), (80, 24)):
            await pilot.resize_terminal(*size)
            table.load.take(1.0 + size[0])
            await pilot.pause()
        assert ("IOPS" in text_of(pilot), table.bench.jobs.running) == (True, True)


@pytest.mark.long
async def test_a_dialog_survives_any_size(table: Table) -> None:
    async with opened(table) as pilot:
        await stage(pilot)
        await pilot.press("a")
        await heard(pilot)
        for size in ((1, 1), (10, 3), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        assert "Apply 1 change" in text_of(pilot)


async def everything(pilot: Pilot[int], table: Table) -> str:
    """All screens, one after the other, with something on them."""
    await stage(pilot)
    await apply(pilot)
    shown = [text_of(pilot)]
    await pilot.press("2")
    await run_once(pilot, table)
    for key in ("2", "3", "5", "question_mark"):
        await pilot.press(key)
        await pilot.pause()
        shown.append(text_of(pilot))
    return "".join(shown)


@pytest.mark.long
async def test_in_ascii_mode_every_character_is_ascii(tmp_path: Path, still: None) -> None:
    table = set_table(tmp_path, host_of(more={"/sys/block/sda/device/model": "µ-Platte é"}), ascii=True)
    async with opened(table, (80, 24)) as pilot:
        assert (await everything(pilot, table)).isascii()


async def test_no_color_leaves_no_colour(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(table, (80, 24)) as pilot:
        strips = pilot.app.screen._compositor.render_strips()
        styles = {segment.style for strip in strips for segment in strip if segment.style is not None}
        saturated = [
            color
            for style in styles
            for color in (style.color, style.bgcolor)
            if color is not None and color.triplet is not None and len(set(color.triplet)) > 1
        ]
        assert saturated == []


async def test_without_colour_the_state_of_a_change_is_still_a_word(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(table, (80, 24)) as pilot:
        await stage(pilot)
        await apply(pilot)
        assert "verified" in text_of(pilot)


@pytest.mark.long
async def test_a_path_that_steers_the_terminal_is_shown_as_text(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("2", "o")
        await until(pilot, lambda: isinstance(pilot.app.screen, TextDialog))
        await heard(pilot)
        pilot.app.screen.query_one("#field").value = "/tmp/\x1b]52;c;aGk=\x07"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await pilot.pause()
        assert text_of(pilot).replace("\n", "").isprintable()


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """The real program, open: whoever looks at it leaves a screen in front."""
    with terminal(tmp_path_factory.mktemp("real")) as made:
        made.wait_for(" REC ")
        yield made


def toured(made: Terminal) -> bytes:
    """What has been sent to the terminal after all screens and the keys."""
    made.keys("2", "3", "5", "?")
    made.wait_for("Keys (esc closes)")
    made.drain()
    raw = made.raw
    made.keys("\x1b")
    made.wait(lambda: "Keys (esc closes)" not in made.text, "the end of the keys")
    return raw


def test_only_known_sequences_reach_the_terminal(real: Terminal) -> None:
    raw = toured(real)
    known = rb"\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b\](?:22;default|10;\?|11;\?)(?:\x07|\x1b\\)|\x1b[=>78]"
    rest = re.sub(known, b"", raw).decode()
    assert [ascii(char) for char in rest if not char.isprintable() and char not in "\r\n"] == []


@pytest.fixture(scope="module")
def on_the_console(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What has been sent to a console after all screens."""
    with terminal(tmp_path_factory.mktemp("console"), env={"TERM": "linux", "COLORTERM": ""}) as made:
        made.wait_for(" REC ")
        return toured(made)


@pytest.mark.long
def test_on_a_console_only_ascii_reaches_the_terminal(on_the_console: bytes) -> None:
    assert on_the_console.isascii()


@pytest.mark.long
def test_where_the_locale_is_c_only_ascii_reaches_the_terminal(tmp_path: Path) -> None:
    with terminal(tmp_path, env={"LC_ALL": "C"}) as made:
        made.wait_for(" REC ")
        assert toured(made).isascii()


@pytest.mark.long
def test_a_terminal_of_sixteen_colours_is_asked_for_no_other(on_the_console: bytes) -> None:
    assert re.search(rb"[34]8;[25];", on_the_console) is None


@pytest.mark.long
@pytest.mark.parametrize(("env", "words"), [({"TERM": "dumb"}, "TERM is dumb"), ({"TERM": ""}, "TERM is dumb")])
def test_a_terminal_that_cannot_move_its_cursor_is_told_in_a_sentence(
    tmp_path: Path, env: dict[str, str], words: str
) -> None:
    with terminal(tmp_path, env=env) as made:
        status = made.end()
        assert (status, words in " ".join(made.text.split())) == (2, True)


@pytest.mark.long
def test_a_resize_is_followed(real: Terminal) -> None:
    real.keys("1")
    real.resize(40, 10)
    real.wait_for("40x10")
    real.resize(120, 40)
    real.wait_for("History")
    assert real.process.poll() is None


@pytest.mark.long
def test_a_resize_is_followed_though_the_shell_exports_a_size(tmp_path: Path) -> None:
    with terminal(tmp_path, env={"COLUMNS": "80", "LINES": "24"}) as made:
        made.wait_for(" REC ")
        made.resize(40, 10)
        made.wait_for("40x10")


@pytest.mark.long
def test_stopped_with_ctrl_z_and_continued_it_draws_again(real: Terminal) -> None:
    real.keys("\x1a")
    wait_until(lambda: real.process.poll() is None, "alive", DEADLINE)
    os.kill(real.process.pid, 18)
    real.keys("5")
    real.wait_for("session")
    assert real.process.poll() is None
