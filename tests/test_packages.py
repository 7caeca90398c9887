"""One list of the system's packages: set-up, what is skipped, the pages and the product name the same."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from app.engine.fio.preflight import preflight
from backends.errors import ToolMissingError
from tests.backends.fakes import FakeHost
from tests.packages import COMMANDS, called, needs, packages, programs

ROOT = Path(__file__).parents[1]
TOOLS = ("sh", "dirname", "sed", "paste", "id", "find", "cat", "cksum", "mkdir", "chmod", "true")
"""Programs that any system has."""
SUDO = '[ "$1" != -n ] || shift; "$@"'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose Python packages are complete, on a machine with nothing else."""
    made, programs = tmp_path / "checkout", tmp_path / "bin"
    shutil.copytree(ROOT / "tools", made / "tools")
    for folder in (made / ".venv" / "bin", made / ".bootstrap", programs):
        folder.mkdir(parents=True)
    for name in ("pyproject.toml", "uv.lock"):
        shutil.copy(ROOT / name, made)
    (made / ".venv/bin/python").symlink_to("/bin/true")
    sums = subprocess.run("cat pyproject.toml uv.lock | cksum", shell=True, cwd=made, capture_output=True, text=True)
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


@pytest.mark.parametrize("step", ["run", "test", "browser", "lab"])
@pytest.mark.parametrize("manager", COMMANDS)
def test_set_up_and_the_tests_read_the_same_names(checkout: Path, manager: str, step: str) -> None:
    script(checkout, manager, "exit 1")
    assert tuple(set_up(checkout, "packages", step).stdout.split()) == called(manager, *programs(step))


@pytest.mark.parametrize("manager", ["dnf", "zypper", "pacman"])
def test_set_up_installs_what_is_missing_and_nothing_else(checkout: Path, manager: str) -> None:
    script(checkout, "sudo", SUDO)
    script(checkout, "tmux", "exit 0")
    asked, fio = checkout.parent / "asked", checkout.parent / "bin" / "fio"
    script(checkout, manager, f'echo "$*" >>{asked}; echo "#!/bin/sh" >{fio}; chmod 755 {fio}')
    said = set_up(checkout, "test").stderr
    assert (asked.read_text().split()[-1], "not installed" in said) == ("fio", False)


def test_what_cannot_be_installed_is_said_with_the_way_to_get_it(checkout: Path) -> None:
    assert set_up(checkout, "test").stderr.splitlines()[-1] == (
        "set-up: not installed: tmux sudo. Tests in a real terminal and under a real sudo are skipped. Install with:"
        " apt-get install tmux sudo (Debian, Ubuntu), dnf install tmux sudo (Fedora),"
        " zypper install tmux sudo (openSUSE) or pacman -S tmux sudo (Arch)"
    )


def test_a_failed_attempt_is_not_made_again_at_once(checkout: Path) -> None:
    asked = checkout.parent / "asked"
    script(checkout, "sudo", SUDO)
    script(checkout, "dnf", f'echo "$*" >>{asked}; exit 1')
    for _ in range(2):
        set_up(checkout, "run")
    assert asked.read_text().splitlines() == ["install -y fio"]


def test_the_page_of_the_laboratory_names_what_it_needs() -> None:
    text = (ROOT / "docs/lab.md").read_text().replace("\\\n", " ")
    [command] = re.findall(r"apt-get install --no-install-recommends (.*)", text)
    assert tuple(command.split()) == called("apt-get", *programs("run", "test", "lab"))


def test_the_readme_names_what_has_to_be_there_first() -> None:
    expected = " ".join(called("apt-get", *programs("start", "python")))
    assert f"`apt-get install {expected}`" in (ROOT / "README.md").read_text()


async def test_the_product_names_the_package_of_fio_as_the_list_does() -> None:
    with pytest.raises(ToolMissingError) as caught:
        await preflight(FakeHost({}))
    [fio] = [package for package in packages() if package.program == "fio"]
    assert [name in caught.value.hint for name in (f"install {fio.names[0]}", f"-S {fio.names[3]}")] == [True, True]


def test_a_skipped_test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.packages.PLACES", "/nowhere")
    reason = needs("fio", "nvme").kwargs["reason"]
    assert reason == "fio, nvme cannot be found: apt-get install fio nvme-cli"
