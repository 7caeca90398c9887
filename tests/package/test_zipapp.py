"""raidbench.pyz: unpacked once into a folder that is nobody else's, started in there."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.packages import needs
from tools.package import pyz

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts and makes files of others")
MAIN = """\
import os, sys
from app.native import machine
def main():
    print(machine, sys.flags.isolated, sys.argv[1:], os.environ.get("RAIDBENCH_LAUNCHER"), os.environ.get("PYTHONPATH"))
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One with a small program that has a native part, made as the real one is but for the compressor."""
    work = tmp_path_factory.mktemp("pyz")
    sites = {}
    for machine in ("x86_64", "aarch64"):
        package = work / machine / "app"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "__main__.py").write_text(MAIN)
        (package / "native.py").write_text(f"machine = {machine!r}\n")
        sites[machine] = work / machine
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pyz, "pack", packed)
        pyz.make(sites, Path(sys.executable), 0, work, work / "raidbench.pyz")
    return work / "raidbench.pyz"


def packed(_kind: str, folder: Path, file: Path, _python: Path, _epoch: int) -> None:
    with zipfile.ZipFile(file, "w") as made:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            made.write(path, path.relative_to(folder))


def start(archive: Path, base: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "RAIDBENCH_UNPACK_DIR": str(base), **more}
    return subprocess.run((sys.executable, archive, *words), env=environment, capture_output=True, text=True)


def test_it_runs_isolated_with_what_was_typed_and_the_native_part_of_this_machine(
    archive: Path, tmp_path: Path
) -> None:
    done = start(archive, tmp_path / "base", "set", "a b", PYTHONPATH="/nowhere")
    assert done.stdout == f"{os.uname().machine} 1 ['set', 'a b'] {archive} None\n", done.stderr


def test_it_is_unpacked_once(archive: Path, tmp_path: Path) -> None:
    start(archive, tmp_path / "base")
    [tree] = (tmp_path / "base").iterdir()
    (tree / "app" / "native.py").write_text("machine = 'kept'\n")
    assert start(archive, tmp_path / "base").stdout.startswith("kept ")


def test_first_starts_at_once_all_work_and_leave_one_tree(archive: Path, tmp_path: Path) -> None:
    environment = {"RAIDBENCH_UNPACK_DIR": str(tmp_path / "base")}
    many = [subprocess.Popen((sys.executable, archive), env=environment, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert ([one.wait() for one in many], len(list((tmp_path / "base").iterdir()))) == ([0] * 4, 1)


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_that_others_may_write_to_is_refused(archive: Path, tmp_path: Path, mode: int) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base").chmod(mode)
    done = start(archive, tmp_path / "base")
    assert (done.returncode, done.stdout, list((tmp_path / "base").iterdir())) == (1, "", [])
    assert f"other users can write to {tmp_path}/base" in done.stderr


def test_a_link_in_the_place_of_the_folder_is_refused(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(0o700)
    (tmp_path / "base").symlink_to(tmp_path / "real")
    assert "is not a folder" in start(archive, tmp_path / "base").stderr


@needs_root
@pytest.mark.parametrize("place", ["base", "home/base"])
def test_a_folder_of_somebody_else_or_below_one_is_refused(archive: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / place).mkdir(0o700, parents=True)
    strange = tmp_path / place.partition("/")[0]
    os.chown(strange, 65534, 65534)
    assert f"{strange} belongs to another user" in start(archive, tmp_path / place).stderr


@needs_root
@needs("unshare", "mount")
@pytest.mark.parametrize(
    ("options", "sentence"),
    [("noexec", "is on a filesystem mounted noexec"), ("size=8k", "there is not enough free space")],
)
def test_a_place_that_does_not_do_is_named_and_nothing_is_left(
    archive: Path, tmp_path: Path, options: str, sentence: str
) -> None:
    base = tmp_path / "base"
    base.mkdir()
    script = f'mount -t tmpfs -o mode=700,{options} none {base} && {{ "$@"; echo "left: $(ls -A {base})"; }}'
    argv = ("unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh", sys.executable, str(archive))
    done = subprocess.run(argv, env={**os.environ, "RAIDBENCH_UNPACK_DIR": str(base)}, capture_output=True, text=True)
    assert (done.stdout, sentence in done.stderr) == ("left: \n", True)


def test_an_older_python_is_told_what_is_needed(archive: Path) -> None:
    """No older one is at hand: the first module is compiled as 3.4 would read it, and asks the version first."""
    import ast

    with zipfile.ZipFile(archive) as held:
        source = held.read("__main__.py").decode()
    ast.parse(source, feature_version=(3, 4))
    told = source.replace("sys.version_info", "(3, 9)")
    done = subprocess.run((sys.executable, "-c", told), capture_output=True, text=True)
    assert done.stderr == (
        "raidbench.pyz needs Python 3.11 or newer; this is 3.9. "
        "The standalone binary raidbench-...-linux-... needs no Python.\n"
    )
