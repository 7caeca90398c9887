"""A picture is written, holds no outside link and nothing of the machine it was taken on."""

from __future__ import annotations

import re
import socket
import sys
import tempfile
from pathlib import Path

import pytest

from tests.screenshots.__main__ import main
from tests.screenshots.glyphs import shape

pytest.importorskip("resvg_py")
pytestmark = pytest.mark.exhaustive  # draws every picture there is


@pytest.fixture(scope="module")
def album(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the picture of the devices."""
    folder = tmp_path_factory.mktemp("album")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["screenshots", "--only", "devices", str(folder)])
        assert main() == 0
    return folder


def test_only_the_wanted_picture_is_written_twice(album: Path) -> None:
    assert sorted(path.name for path in album.iterdir()) == ["devices.png", "devices.svg"]
    assert (album / "devices.png").read_bytes().startswith(b"\x89PNG")


def test_it_shows_the_recorded_machine_and_that_it_is_one(album: Path) -> None:
    text = (album / "devices.svg").read_text()
    assert "storage1" in text
    assert "SIMULATED" in text


def test_it_leads_nowhere_and_tells_nothing_of_this_machine(album: Path) -> None:
    text = (album / "devices.svg").read_text()
    assert set(re.findall(r"\w+://[^\"'<) ]*", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(rf"\b{re.escape(socket.gethostname())}\b", text)
    assert tempfile.gettempdir() not in text


@pytest.mark.parametrize("char", "─│┌┐└┘├┤┬┴┼━╭╮╯╰┈█▌▐▎▊▔▁⠁⣿")
def test_lines_blocks_and_dots_are_shapes(char: str) -> None:
    assert shape(char) is not None


def test_letters_are_left_to_the_font() -> None:
    assert shape("a") is None
