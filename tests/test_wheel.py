"""The wheel is whole: it runs where the sources are not."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import time
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from app.engine.session.journal import Journal
from tests.backends.loops import loop, needs_loops

ROOT = Path(__file__).parents[1]
UV = ROOT / ".bootstrap" / "bin" / "uv"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not UV.exists(), reason="no uv in .bootstrap: `make test` gets it"),
]


def uv(*words: str | Path, offline: bool) -> subprocess.CompletedProcess[str]:
    argv = ["sh", str(ROOT / "tools" / "bootstrap"), "uv", *map(str, words), *(["--offline"] if offline else [])]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)


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
    done = uv(*words, "--out-dir", folder, offline=True)
    if done.returncode:
        done = uv(*words, "--out-dir", folder, offline=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


def environment(folder: Path, words: Sequence[str | Path], *, offline: bool) -> subprocess.CompletedProcess[str]:
    made = uv("venv", "--python", sys.executable, folder, offline=True)
    assert made.returncode == 0, made.stderr
    return uv("pip", "install", "--python", folder / "bin" / "python", *words, offline=offline)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Only the wheel; what it needs is lent by the environment of the tests, the sources are not."""
    folder = tmp_path_factory.mktemp("wheel") / "env"
    done = environment(folder, ["--no-deps", wheel], offline=True)
    assert done.returncode == 0, done.stderr
    (packages,) = folder.glob("lib/python3*/site-packages")
    lent = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    (packages / "lent.pth").write_text("\n".join(lent) + "\n")
    return Installed(folder)


@pytest.mark.long
def test_the_wheel_holds_the_three_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"app", "widgets", "backends"}


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
    assert json.loads(done.stdout)["schema"] == 2, done.stderr


@pytest.mark.long
def test_the_installed_program_has_its_plans(installed: Installed) -> None:
    done = installed.run("raidbench", "sweep", "--list")
    assert "articles-a" in done.stdout, done.stderr


def test_the_installed_program_knows_what_to_install_and_what_it_is(installed: Installed) -> None:
    code = "from app.engine.installing import called; print(*called('apk', 'nvme'))"
    told = json.loads(installed.run("raidbench", "--version", "--json").stdout)["program"]
    assert (installed.run("python", "-c", code).stdout, told["form"]) == ("nvme-cli\n", "wheel")


@pytest.mark.long
@needs_loops()
def test_a_trial_of_the_installed_program_comes_back(installed: Installed, tmp_path: Path) -> None:
    with loop(tmp_path / "disk") as disk:
        setting = Path(f"/sys/block/{disk.name}/queue/read_ahead_kb")
        before = setting.read_text()
        wanted = "1024" if before != "1024\n" else "2048"
        done = installed.run("raidbench", "set", disk.sure(), f"read_ahead_kb={wanted}", "--trial", "20", "--yes")
        during = setting.read_text()
        ended = time.monotonic() + 120
        while Journal(installed.folder / "state" / "journal").trials() and time.monotonic() < ended:
            time.sleep(0.1)
        assert (during, setting.read_text()) == (f"{wanted}\n", before), done.stderr


@pytest.mark.long
def test_the_wheel_and_what_it_asks_for_are_enough(wheel: Path, tmp_path: Path) -> None:
    done = environment(tmp_path / "env", [wheel], offline=False)
    if done.returncode:
        pytest.skip(f"the package registry cannot be reached: {done.stderr.strip()[-200:]}")
    devices = Installed(tmp_path / "env").run("raidbench", "devices", "--json")
    assert json.loads(devices.stdout)["schema"] == 2, devices.stderr
