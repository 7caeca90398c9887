"""The first frame: there before the screens are, gone again when they cannot come."""

from __future__ import annotations

import gc

import pyte
import pytest

from app.cli.splash import curtain, frame
from app.commands import footer_keys


def test_header_and_keys_fit_a_small_terminal() -> None:
    terminal = pyte.Screen(80, 24)
    pyte.Stream(terminal).feed(frame("storage1", 80, 24))
    lines = [line.rstrip() for line in terminal.display]
    assert (lines[0], lines[23].split()[:2]) == (" raidbench - storage1", ["enter", "Open"])
    assert lines[22] == ""


def test_a_host_name_steers_no_terminal() -> None:
    assert "\x1b[31m" not in frame("a\x1b[31mb", 80, 24)


def test_an_error_on_the_way_takes_it_down(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError), curtain("here"):
        raise RuntimeError
    assert capsys.readouterr().err.endswith("\x1b[?1049l\x1b[?25h")
    assert gc.isenabled()


def test_its_keys_are_those_of_the_footer_that_follows() -> None:
    terminal = pyte.Screen(80, 24)
    pyte.Stream(terminal).feed(frame("here", 80, 24))
    keys = "".join(f" {key} {label} " for key, label in footer_keys("devices", "devices-pane", 80))
    assert terminal.display[23].rstrip() == keys.rstrip()
