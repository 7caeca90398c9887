"""A picture is written, holds no outside link and nothing of the machine it was taken on."""

from __future__ import annotations

import re
import socket
import sys
import tempfile
from pathlib import Path

import pyte
import pytest

from tests.case_loop import loop_over
from tests.screenshots.__main__ import main
from tests.screenshots.drawing import lines, picture
from tests.screenshots.glyphs import shape
from tests.screenshots.story import NAMES

FOLDER = Path(__file__).parents[2] / "screenshots"


def screen(text: str) -> pyte.Screen:
    """A terminal that was told so."""
    made = pyte.Screen(20, 2)
    pyte.Stream(made).feed(text)
    return made


def test_cells_that_look_alike_are_drawn_together_and_colours_are_kept() -> None:
    (first, *_), _ = lines(screen("\x1b[38;2;255;0;16mab\x1b[0m cd"))
    assert (first.text, first.color) == ("ab", "#ff0010")


def test_it_leads_nowhere_and_tells_nothing_of_this_machine() -> None:
    text = picture(screen("ssd <raid5> ─"), "A title")
    assert set(re.findall(r"\w+://[^\"'<) ]*", text)) == {"http://www.w3.org/2000/svg"}
    assert "&lt;raid5&gt;" in text
    assert not re.search(rf"\b{re.escape(socket.gethostname())}\b", text)
    assert tempfile.gettempdir() not in text


def test_all_pictures_of_the_story_and_no_others_are_in_the_repository() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {"loop.svg", *(f"{name}.png" for name in NAMES)}


@pytest.mark.exhaustive
def test_only_the_wanted_picture_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("resvg_py")
    monkeypatch.setattr(sys, "argv", ["screenshots", "--only", "devices", str(tmp_path)])
    assert main() == 0
    assert [path.name for path in tmp_path.iterdir()] == ["devices.png"]
    assert (tmp_path / "devices.png").read_bytes().startswith(b"\x89PNG")


@loop_over("char", "─│┌┐└┘├┤┬┴┼━╭╮╯╰┈█▌▐▎▊▔▁⠁⣿")
def test_lines_blocks_and_dots_are_shapes(char: str) -> None:
    assert shape(char) is not None


def test_letters_are_left_to_the_font() -> None:
    assert shape("a") is None
