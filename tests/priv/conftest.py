"""A disk of one's own, and a helper beside it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.backends.loops import Loop, loop
from tests.priv.helping import AS_NOBODY, PYTHON, Helper, helper
from tests.seeing import helped

ROOT = Path(__file__).parents[2]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as one:
        yield one


@pytest.fixture
def device(tmp_path: Path, stack: ExitStack) -> Loop:
    return stack.enter_context(loop(tmp_path / "disk"))


@pytest.fixture
def root(tmp_path: Path, stack: ExitStack) -> Helper:
    return stack.enter_context(helper(tmp_path / "root"))


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder where root and the user keep things, each their own."""
    folder = Path(tempfile.mkdtemp(prefix="raidbench-split-"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def program(place: Path) -> tuple[str, ...]:
    """This program, installed where every user may run it."""
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", place / "installed"], check=True, cwd="/")
    (site,) = (place / "installed" / "lib").glob("python*/site-packages")
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    hook = (
        f"import tests.seeing; tests.seeing.begin({str(place)!r})\n" if helped(place) else ""
    )  # of this installation alone
    (site / "here.pth").write_text(f"{packages}\n{ROOT}\n{hook}")
    words = (str(place / "installed" / "bin" / "python"), "-I", "-m", "app")
    tried = subprocess.run([*AS_NOBODY, *words, "--version"], capture_output=True, cwd="/")
    if tried.returncode:
        pytest.skip("needs a checkout that every user may read")
    return words
