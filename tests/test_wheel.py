"""The wheel is whole: it runs where the sources are not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.backends.loops import loop, needs_loops
from tests.runtime import IMPORT_ALL, LOCKED, ROOT, needs_uv, required, uv
from tests.trial import shell, try_trial

TESTS_LOCKED = LOCKED.with_name("test.txt")

pytestmark = [
    pytest.mark.slow,
    needs_uv,
]


@dataclass(frozen=True)
class Installed:
    """The wheel in an environment of its own."""

    folder: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A program of the environment, from a folder that has nothing to do with the sources."""
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.folder), "RAIDBENCH_STATE_DIR": "state"}
        argv = [str(self.folder / "bin" / words[0]), *words[1:]]
        return subprocess.run(argv, env=env, cwd=self.folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the sources; without the network where the build's tools have been fetched before."""
    folder = tmp_path_factory.mktemp("dist")
    words = ("build", "--wheel", "--build-constraints", ROOT / "tools/locked/build.txt", "--require-hashes")
    done = uv(*words, "--out-dir", folder)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


def environment(folder: Path, *words: str | Path) -> Installed:
    """An environment of its own with what uv is told to install."""
    made = uv("venv", "--python", sys.executable, folder)
    assert made.returncode == 0, made.stderr
    required(uv("pip", "install", "--python", folder / "bin" / "python", *words))
    return Installed(folder)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel with what it asks for and nothing else, each package as it is locked."""
    return environment(tmp_path_factory.mktemp("wheel") / "env", wheel, "--constraints", LOCKED)


@pytest.mark.long
def test_the_wheel_holds_the_three_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"app", "widgets", "backends"}


@pytest.mark.long
def test_the_wheel_says_how_to_install_it_and_has_its_licence(wheel: Path) -> None:
    """Its names are those of many packages, so it needs an environment of its own."""
    with zipfile.ZipFile(wheel) as archive:
        (about,) = {name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        metadata = archive.read(f"{about}/METADATA").decode()
        licence = archive.read(f"{about}/licenses/LICENSE").decode()
    (summary,) = re.findall("^Summary: (.*)$", metadata, re.MULTILINE)
    assert "pipx install FILE" in summary
    assert "uv tool install FILE" in summary
    assert licence == (ROOT / "LICENSE").read_text()


@pytest.mark.long
def test_the_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    kinds = (".py", ".typed", ".tcss")
    files = {
        str(path.relative_to(ROOT))
        for package in ("app", "widgets", "backends")
        for path in (ROOT / package).rglob("*")
        if path.suffix in kinds
    }
    assert files - held == set()


@pytest.mark.long
def test_the_wheel_asks_for_what_the_project_declares(wheel: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].items()
    declared = [
        *project["dependencies"],
        *(f"{package} ; extra == '{name}'" for name, packages in extras for package in packages),
    ]
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        rows = archive.read(name).decode().splitlines()
    asked = [row.removeprefix("Requires-Dist: ") for row in rows if row.startswith("Requires-Dist: ")]
    assert set(map(Requirement, asked)) == set(map(Requirement, declared))


@pytest.mark.long
def test_the_installed_program_is_not_the_sources(installed: Installed) -> None:
    done = installed.run("python", "-c", "import app, backends, widgets; print(app.__file__)")
    assert done.stdout.startswith(str(installed.folder)), done.stderr


@pytest.mark.long
def test_the_installed_program_says_its_version(installed: Installed) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    done = installed.run("raidbench", "--version")
    assert done.stdout == f"raidbench {version}\n", done.stderr


@pytest.mark.long
def test_the_installed_program_finds_devices(installed: Installed) -> None:
    done = installed.run("raidbench", "devices", "--json")
    assert json.loads(done.stdout)["schema"] == 1, done.stderr


@pytest.mark.long
def test_the_installed_program_has_its_plans(installed: Installed) -> None:
    done = installed.run("raidbench", "sweep", "--list")
    assert "articles-a" in done.stdout, done.stderr


@pytest.mark.long
def test_the_installed_program_knows_what_to_install_and_what_it_is(installed: Installed) -> None:
    code = "from app.core.distro_packages import package_names; print(*package_names('apk', 'nvme'))"
    told = json.loads(installed.run("raidbench", "--version", "--json").stdout)["program"]
    assert (installed.run("python", "-c", code).stdout, told["form"]) == ("nvme-cli\n", "wheel")


@pytest.mark.long
def test_only_the_module_of_an_extra_needs_a_package_that_the_wheel_does_not_ask_for(installed: Installed) -> None:
    done = installed.run("python", "-I", "-c", IMPORT_ALL)
    assert done.stdout.splitlines() == ["app.features.fleet.hosts.fanout needs ClusterShell", "imported"], done.stderr


@pytest.mark.long
@needs_loops()
def test_a_trial_of_the_installed_program_reverts(installed: Installed, tmp_path: Path) -> None:
    with loop(tmp_path / "disk") as disk:
        try_trial(str(installed.folder / "bin" / "raidbench"), disk, shell(tmp_path / "state"))


@pytest.mark.long
def test_the_conformance_suite_needs_its_extra_alone(wheel: Path, tmp_path: Path) -> None:
    author = environment(tmp_path / "env", f"raidbench[testing] @ {wheel.as_uri()}", "--constraints", TESTS_LOCKED)
    (tmp_path / "env" / "test_empty.py").write_text(SUITE)
    done = author.run("python", "-m", "pytest", "-q", "-rA", "test_empty.py")
    assert "PASSED test_empty.py::TestMine::test_finds_something" in done.stdout, done.stdout + done.stderr


SUITE = """
import pytest
import backends.testing.truncation
from backends.model import Controller, Inventory, Target
from backends.testing.conformance import FindsConformance

class Mine:
    async def inventory(self):
        found = Controller(target=Target(backend="mine", address="c0"), vendor="mine", model="one")
        return Inventory(controllers=(found,))

    async def diagnose(self):
        return ()

class TestMine(FindsConformance):
    @pytest.fixture
    def backend(self):
        return Mine()
"""
"""The tests of a vendor module of somebody else's."""


@pytest.mark.long
def test_the_newest_of_what_the_wheel_asks_for_is_enough(wheel: Path, tmp_path: Path) -> None:
    devices = environment(tmp_path / "env", wheel).run("raidbench", "devices", "--json")
    assert json.loads(devices.stdout)["schema"] == 1, devices.stderr
