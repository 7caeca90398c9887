"""One list of the system's packages: set-up, what is skipped, the pages and the product name the same."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.core.distro_packages import MANAGERS, package_names
from app.core.fio.preflight import preflight
from app.core.session.paths import Paths
from app.features.doctor.engine import examine
from backends.errors import ToolMissingError
from tests.backends.fakes import FakeHost
from tests.packages import missing, needs, programs

ROOT = Path(__file__).parents[1]
TOOLS = (
    "sh",
    "dirname",
    "sed",
    "awk",
    "grep",
    "paste",
    "id",
    "find",
    "cat",
    "cksum",
    "mkdir",
    "chmod",
    "uname",
    "true",
)
"""Programs that any system has."""
SUDO = '[ "$1" != -n ] || shift; "$@"'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose Python packages are complete, on a machine with nothing else."""
    made, programs = tmp_path / "checkout", tmp_path / "bin"
    shutil.copytree(ROOT / "tools", made / "tools")
    for folder in (made / ".venv" / "bin", made / ".bootstrap", programs):
        folder.mkdir(parents=True)
    shutil.copy(ROOT / "pyproject.toml", made)
    (made / ".venv/bin/python").symlink_to("/bin/true")
    cat = "cat pyproject.toml tools/locked/*.txt | cksum"
    sums = subprocess.run(cat, shell=True, cwd=made, capture_output=True, text=True)
    (made / ".venv/.complete").write_text(f"{made} {sums.stdout.strip()} test\n")
    for name in TOOLS:
        (programs / name).symlink_to(str(shutil.which(name)))
    return made


def script(checkout: Path, name: str, text: str) -> None:
    made = checkout.parent / "bin" / name
    made.write_text(f"#!/bin/sh\n{text}\n")
    made.chmod(0o755)


def set_up(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(checkout.parent / "bin"), "HOME": str(checkout.parent)}
    argv = ("sh", "tools/bootstrap", *words)
    return subprocess.run(argv, cwd=checkout, env=environment, capture_output=True, text=True)


@pytest.mark.long
@pytest.mark.parametrize("step", ["base", "run", "test", "browser", "lab"])
@pytest.mark.parametrize("manager", MANAGERS)
def test_set_up_and_the_tests_read_the_same_names(checkout: Path, manager: str, step: str) -> None:
    script(checkout, manager, "exit 1")
    assert tuple(set_up(checkout, "packages", step).stdout.split()) == package_names(manager, *programs(step))


@pytest.mark.parametrize("manager", ["dnf", "zypper", "apk", "pacman"])
def test_set_up_installs_what_is_missing_and_nothing_else(checkout: Path, manager: str) -> None:
    script(checkout, "sudo", SUDO)
    for name in ("tmux", *programs("base"), "mkfs.ext4"):
        script(checkout, name, "exit 0")
    asked, fio = checkout.parent / "asked", checkout.parent / "bin" / "fio"
    script(checkout, manager, f'echo "$*" >>{asked}; echo "#!/bin/sh" >{fio}; chmod 755 {fio}')
    said = set_up(checkout, "test").stderr
    assert (asked.read_text().split()[-1], "not installed" in said) == ("fio", False)


def test_what_cannot_be_installed_is_said_with_the_way_to_get_it(checkout: Path) -> None:
    lacking = ("tmux", "sudo", *missing("mkfs.ext4"))  # that one lies where set-up looks besides PATH
    names = " ".join(package_names("apt-get", *lacking))
    assert set_up(checkout, "test").stderr.splitlines()[-1] == (
        f"set-up: not installed: {' '.join(lacking)}. Tests in a real terminal, under a real sudo and of filesystems"
        f" are skipped. Install with: apt-get install {names} (Debian, Ubuntu), dnf install {names} (Fedora),"
        f" zypper install {names} (openSUSE), apk add {names} (Alpine) or pacman -S {names} (Arch)"
    )


def test_a_failed_attempt_is_not_made_again_at_once(checkout: Path) -> None:
    asked = checkout.parent / "asked"
    script(checkout, "sudo", SUDO)
    script(checkout, "dnf", f'echo "$*" >>{asked}; exit 1')
    for _ in range(2):
        set_up(checkout, "run")
    assert asked.read_text().splitlines() == ["install -y fio"]


def test_the_page_of_the_laboratory_names_what_it_needs() -> None:
    text = (ROOT / "docs/dev/lab.md").read_text().replace("\\\n", " ")
    [command] = re.findall(r"apt-get install --no-install-recommends (.*)", text)
    assert tuple(command.split()) == package_names("apt-get", *programs("run", "test", "lab"))


def test_the_readme_names_what_has_to_be_there_first() -> None:
    expected = " ".join(package_names("apt-get", *programs("start", "python", "certificates")))
    assert f"`apt-get install {expected}`" in (ROOT / "README.md").read_text()


class Missing(FakeHost):
    """A machine with a package manager and nothing else."""

    def __init__(self, manager: str) -> None:
        super().__init__({})
        self.manager = manager

    def which(self, names: Sequence[str]) -> str | None:
        return f"/usr/bin/{self.manager}" if self.manager in names else None


@pytest.mark.parametrize("manager", MANAGERS)
async def test_the_product_says_how_to_get_fio_where_it_is_missing(manager: str) -> None:
    with pytest.raises(ToolMissingError) as caught:
        await preflight(Missing(manager))
    assert caught.value.hint == f"Install it: {MANAGERS[manager][0]} fio"


async def test_where_the_distribution_is_not_known_all_of_them_are_named() -> None:
    with pytest.raises(ToolMissingError) as caught:
        await preflight(Missing("slackpkg"))
    assert [f"{typed} fio" in caught.value.hint for typed, _ in MANAGERS.values()] == [True] * 5


async def test_doctor_names_the_package_of_a_missing_tool(tmp_path: Path) -> None:
    advice = {one.name: one.advice for one in await examine(Missing("apk"), Paths.at(tmp_path), {})}
    assert (advice["fio"], advice["udevadm"]) == ("Install it: apk add fio", "Install it: apk add eudev")


# -- a Python that is too old --------------------------------------------------------------------------------------


def old(checkout: Path, apt_cache: str) -> str:
    """What is said on a Debian whose Python is too old, to a user without rights."""
    (checkout / ".venv/.complete").unlink()
    script(checkout, "python3", '[ "$1" = --version ] && echo Python 3.9.2; exit 0')
    script(checkout, "apt-get", "exit 100")
    script(checkout, "apt-cache", apt_cache)
    done = set_up(checkout, "run")
    assert done.returncode == 1
    return done.stderr


def test_an_old_python_is_told_of_the_one_file_by_its_name(checkout: Path) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    said = old(checkout, "exit 100")
    assert "needs Python 3.11 or newer; this host has Python 3.9.2" in said
    assert f"Use the standalone binary, which needs no Python: raidbench-{version}-linux-{os.uname().machine}" in said
    assert "python3.11" not in said


def test_a_newer_python_is_advised_where_there_is_one(checkout: Path) -> None:
    said = old(checkout, "exit 0")
    assert said.index("Use the standalone binary") < said.index("sudo apt-get install python3.11")


def test_a_skipped_test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.packages.PLACES", "/nowhere")
    reason = needs("fio", "nvme").kwargs["reason"]
    assert reason == "fio, nvme cannot be found: apt-get install fio nvme-cli"
