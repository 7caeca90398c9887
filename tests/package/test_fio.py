"""The static fio: where its sources come from, what it is linked with, and what goes with it."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.package.shipped import FIO, needs_static_fio
from tools.package import elf, fio


@pytest.mark.parametrize(
    ("text", "deb822", "expected"),
    [
        ("Types: deb\nURIs: http://a.test/\n", True, "Types: deb-src\nURIs: http://a.test/\n"),
        ("# c\ndeb [signed-by=/k] http://a.test x main\n", False, "deb-src [signed-by=/k] http://a.test x main\n"),
        ("deb-src http://a.test x main\n", False, "\n"),
    ],
)
def test_its_sources_come_from_where_the_packages_do(text: str, deb822: bool, expected: str) -> None:
    assert fio.with_source_packages(text, deb822=deb822) == expected


def test_what_is_lacking_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(fio.FioBuildError, match="apt-get install apt binutils dpkg-dev gcc make"):
        fio.build(tmp_path / "out", tmp_path / "work")
    assert list(tmp_path.iterdir()) == []


@needs_static_fio
@pytest.mark.package
def test_it_needs_no_library_and_has_its_licence_with_it(tmp_path: Path) -> None:
    assert FIO is not None
    with tarfile.open(FIO) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    assert sorted(file.name for file in folder.iterdir()) == ["BUILD", "COPYING", "MORAL-LICENSE", "fio"]
    assert "GNU GENERAL PUBLIC LICENSE" in (folder / "COPYING").read_text()
    assert elf.is_static(folder / "fio")
    engines = subprocess.run((folder / "fio", "--enghelp"), capture_output=True, text=True).stdout.split()
    assert {"libaio", "io_uring", "psync", "sync"} <= set(engines)
