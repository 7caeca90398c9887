"""Which version says that it wrote a session."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest

from backends.version import program_version


def test_it_is_what_the_installer_says() -> None:
    assert program_version() == version("raidbench")


def test_the_first_place_in_the_path_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "raidbench-7.1.dev2.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert program_version() == "7.1.dev2"


def test_an_archive_has_a_version_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ZipFile(tmp_path / "raidbench.pyz", "w") as archive:
        archive.writestr("raidbench-7.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: raidbench\nVersion: 7.2\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "raidbench.pyz")])
    assert program_version() == "7.2"


def test_an_unbuilt_tree_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert program_version() == "0+source"
