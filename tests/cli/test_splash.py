"""The first frame: there before the screens are, gone again when they cannot come."""

from __future__ import annotations

import gc

import pyte
import pytest

from app.cli.splash import frame, show_splash
from app.tui.commands import footer_keys


def drawn(columns: int, rows: int) -> list[str]:
    """What a terminal shows of it."""
    terminal = pyte.Screen(columns, rows)
    pyte.Stream(terminal).feed(frame("storage1", columns, rows))
    return [line.rstrip() for line in terminal.display]


def test_header_and_keys_fit_a_small_terminal() -> None:
    lines = drawn(80, 24)
    assert (lines[0].split(), lines[23].split()[:2]) == (
        ["storage1", "1", "Devices", "2", "Bench", "3", "Runs", "4", "Sweep", "5", "Log", "..."],
        ["enter", "Open"],
    )
    assert lines[22] == ""


def test_on_a_tall_terminal_the_bar_of_screens_has_its_own_line() -> None:
    first, second = drawn(120, 40)[:2]
    assert (first.split()[:3], second.split()[:4]) == (["raidbench", "·", "storage1"], ["1", "Devices", "2", "Bench"])


def test_the_screen_that_comes_is_inverse() -> None:
    terminal = pyte.Screen(80, 24)
    pyte.Stream(terminal).feed(frame("storage1", 80, 24))
    inverse = "".join(cell.data for _, cell in sorted(terminal.buffer[0].items()) if cell.reverse)
    assert inverse.strip() == "1 Devices"


def test_where_only_ascii_is_shown_nothing_else_is_sent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.cli.splash.is_utf8", lambda _stream: False)
    monkeypatch.setattr("app.cli.splash._size", lambda: (120, 40))
    with show_splash("here"):
        pass
    assert capsys.readouterr().err.isascii()


def test_a_host_name_steers_no_terminal() -> None:
    assert "\x1b[31m" not in frame("a\x1b[31mb", 80, 24)


def test_an_error_on_the_way_takes_it_down(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError), show_splash("here"):
        raise RuntimeError
    assert capsys.readouterr().err.endswith("\x1b[?1049l\x1b[?25h")
    assert gc.isenabled()


def test_its_keys_are_those_of_the_footer_that_follows() -> None:
    terminal = pyte.Screen(80, 24)
    pyte.Stream(terminal).feed(frame("here", 80, 24))
    keys = "".join(f" {key} {label} " for key, label in footer_keys("devices", "devices-pane", 80))
    assert terminal.display[23].rstrip() == keys.rstrip()
