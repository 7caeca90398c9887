"""The program works from every form that it comes in, and goes on though what it came in is removed."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipapp
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from backends.self_exec import LAUNCHER
from tests.backends.loops import loop, needs_loops
from tests.privsep.helping import NOBODY, PYTHON, needs_python, needs_root
from tests.runtime import needs_uv, site
from tests.trial import shell, try_trial

ROOT = Path(__file__).parents[1]
PACKAGES = ("app", "backends", "widgets")

pytestmark = [pytest.mark.exhaustive, needs_python, needs_uv]

ARCHIVE = """\
import sys
sys.path.insert(1, {lent!r})
from app.__main__ import main
sys.exit(main())
"""
"""What an archive begins with: packages that cannot lie in one are unpacked elsewhere."""


@dataclass(frozen=True)
class Form:
    """The program in one of its forms."""

    place: Path
    """All of it, to be removed."""
    argv: tuple[str, ...]
    cwd: Path = Path("/")
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, state: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A command of it, on a state of its own."""
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "RAIDBENCH_STATE_DIR": str(state)}
        return subprocess.run(
            [*self.argv, *words],
            env={**env, **self.environment, **environment},
            cwd=self.cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )


def copied(to: Path) -> Path:
    """The packages with their bytecode, so that not every start compiles all of them."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, to / package)
    return to


def interpreter(place: Path, *, copies: bool = False) -> Path:
    """An environment with the packages that the program needs, lent, and without the program itself."""
    words = ["--copies"] if copies else []
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", *words, place], check=True, cwd="/")
    (packages,) = place.glob("lib/python3*/site-packages")
    (packages / "lent.pth").write_text(f"{site()}\n")
    return place / "bin" / "python"


def tree(place: Path) -> Form:
    """The sources, moved elsewhere, where nothing is installed."""
    python = interpreter(place.with_name("python"))
    return Form(copied(place), (str(python), "-m", "app"), cwd=place)


def archive(place: Path) -> Form:
    """One file for any Python (zipapp, shiv)."""
    python = interpreter(place.with_name("python"))
    sources = copied(place.with_name("sources"))
    for compiled in sources.rglob(f"*.{sys.implementation.cache_tag}.pyc"):
        source = compiled.parents[1] / f"{compiled.name.partition('.')[0]}.py"
        if source.exists():  # else it is of a module that is no more
            compiled.rename(source.with_suffix(".pyc"))  # where zipimport looks
    (sources / "__main__.py").write_text(ARCHIVE.format(lent=str(site())))
    zipapp.create_archive(sources, place)
    shutil.rmtree(sources)
    return Form(place, (str(python), place.name), cwd=place.parent)


def one_file(place: Path) -> Form:
    """A launcher that becomes the interpreter which it unpacked, as the one file and the system's packages have it."""
    python = interpreter(place, copies=True)
    (packages,) = place.glob("lib/python3*/site-packages")
    copied(packages)
    launcher = place.with_name("raidbench")
    launcher.write_text(f'#!/bin/sh\n{LAUNCHER}="$0" exec {python} -I -B -m app "$@"\n')
    launcher.chmod(0o755)
    return Form(place, (str(launcher),))


FORMS = {"tree": tree, "zipapp": archive, "one file": one_file}


@contextmanager
def made(name: str) -> Iterator[Form]:
    """One of them, where every user may run it."""
    folder = Path(tempfile.mkdtemp(prefix="raidbench-form-"))
    folder.chmod(0o755)
    try:
        yield FORMS[name](folder / "program")
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def form(request: pytest.FixtureRequest) -> Iterator[Form]:
    """One that nobody changes."""
    with made(request.param) as one:
        yield one


@pytest.fixture
def removable(request: pytest.FixtureRequest) -> Iterator[Form]:
    """One for a test alone."""
    with made(request.param) as one:
        yield one


each = pytest.mark.parametrize("form", FORMS, indirect=True)


@pytest.mark.parametrize("removable", FORMS, indirect=True)
@needs_loops()
def test_a_trial_comes_back_though_the_program_was_removed_meanwhile(removable: Form, tmp_path: Path) -> None:
    form = removable
    command = shlex.join((*(f"{name}={value}" for name, value in form.environment.items()), *form.argv))
    with loop(tmp_path / "disk") as disk:
        remove = f"rm -rf {shlex.quote(str(form.place))}"
        try_trial(command, disk, shell(tmp_path / "state", form.cwd), meanwhile=remove)
    assert not form.place.exists()


PLAN = """
[targets]
array = "megaraid:/c0/v1"
[measure]
target = "array"
repeats = 1
[job]
rw = "randread"
runtime = "1s"
ramp = "0s"
[[axis]]
setting = "read_ahead"
values = ["none"]
"""


@each
def test_a_sweep_in_the_background_comes_to_its_end(form: Form, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    words = ("--demo", "--demo-speed", "1000", "sweep", str(tmp_path / "plan.toml"), "--yes", "--detach", "--json")
    begun = form.run(tmp_path, *words)
    assert begun.returncode == 0, begun.stderr
    shown = form.run(tmp_path, "--demo", "attach", Path(json.loads(begun.stdout)["session"]).name, "--json")
    sweep = json.loads(shown.stdout)["sweep"]
    assert (sweep["result"], sweep["pid"]) == ("finished", json.loads(begun.stdout)["pid"])


@pytest.mark.parametrize(("form", "name"), [(name, name) for name in FORMS], indirect=["form"])
def test_it_says_which_form_it_has(form: Form, name: str, tmp_path: Path) -> None:
    assert json.loads(form.run(tmp_path, "--version", "--json").stdout)["program"]["form"] == name


@each
@needs_root
def test_under_sudo_it_leaves_a_helper_that_is_root(form: Form, tmp_path: Path) -> None:
    user = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY), "SUDO_COMMAND": "raidbench"}
    state = form.place.with_name("state")
    state.mkdir()
    state.chmod(0o1777)
    done = form.run(state, "doctor", **user)
    assert "only the root helper runs as root" in done.stdout, done.stderr


@each
@needs_root
def test_root_leaves_out_what_a_stranger_put_into_its_way(form: Form, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit('a stranger ran')")
    os.chown(tmp_path, NOBODY, NOBODY)
    done = form.run(tmp_path / "state", "keys", PYTHONPATH=str(tmp_path))
    assert (done.returncode, "a stranger ran" in done.stderr) == (0, False), done.stderr
