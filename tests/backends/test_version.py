"""Which version says that it wrote a session."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

from app.cli.main import cli
from backends import version
from backends.version import licence_text

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.fixture
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No project file beside the packages."""
    monkeypatch.setattr(version, "_PROJECT", str(tmp_path / "pyproject.toml"))


def test_a_checkout_has_the_version_of_its_project_file() -> None:
    assert version._read_version() == tomllib.loads(PROJECT.read_text())["project"]["version"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[project]\nname = "raidbench"\nversion = "7.3"\n', "7.3"),
        ('[project]\nversion = "7.3"\nname = "raidbench"\n\n[tool.x]\nversion = "9"\n', "7.3"),
        ('[project]\nname = "other"\nversion = "7.3"\n', ""),
        ('[project]\nname = "raidbench"\n', ""),
    ],
)
@pytest.mark.usefixtures("_installed")
def test_the_project_file_counts_if_it_is_ours(text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert version._stated_version() == expected


@pytest.mark.usefixtures("_installed")
def test_the_first_place_in_the_path_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "raidbench-7.1.dev2.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert version._read_version() == "7.1.dev2"


@pytest.mark.usefixtures("_installed")
def test_an_archive_has_a_version_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ZipFile(tmp_path / "raidbench.pyz", "w") as archive:
        archive.writestr("raidbench-7.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: raidbench\nVersion: 7.2\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "raidbench.pyz")])
    assert version._read_version() == "7.2"


@pytest.mark.usefixtures("_installed")
def test_an_unbuilt_tree_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert version._read_version() == "0+source"


def test_the_licences_are_those_of_the_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All in one file where the components are in it; raidbench's own in a wheel and in a checkout."""
    own = (Path(__file__).parents[2] / "LICENSE").read_text()
    assert licence_text() == own
    about = tmp_path / "raidbench-7.1.dist-info" / "licenses"
    about.mkdir(parents=True)
    monkeypatch.setattr(version, "_HERE", str(tmp_path))
    assert licence_text() == "raidbench is licensed under the MIT licence.\n"
    (about / "LICENSE").write_text("own")
    assert licence_text() == "own"
    (about / "LICENSES.txt").write_text("all")
    assert licence_text() == "all"


def test_the_command_shows_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli(["version", "--licenses"], prog_name="raidbench")
    assert (ended.value.code, capsys.readouterr().out) == (0, licence_text())
