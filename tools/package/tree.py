"""The tree that the one file unpacks and the packages install: a portable Python with raidbench and what it needs."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.package import elf, golang

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
VERSION: str = PROJECT["project"]["version"]
MINOR = golang.PYTHON_VERSION.rpartition(".")[0]
INTERPRETER = f"bin/python{MINOR}"
SITE = f"lib/python{MINOR}/site-packages"
GLIBC = (2, 17)
"""The oldest that the programs may ask for: RHEL 7's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A kind of machine by its three names."""

    name: str
    """uname's, and the one in the file's name."""
    go: str
    """Go's and Debian's."""
    wheels: str
    """uv's, for the wheels that run there."""


MACHINES = (
    Machine(name="x86_64", go="amd64", wheels="x86_64-manylinux2014"),
    Machine(name="aarch64", go="arm64", wheels="aarch64-manylinux2014"),
)

_LEFT_OUT = re.compile(
    rf"""bin/(?!python{re.escape(MINOR)}$) | include/ | share/
    | lib/(?!python{re.escape(MINOR)}/)                       # libpython, which the interpreter has in itself; Tcl, Tk
    | lib/python{re.escape(MINOR)}/(
        (idlelib|turtledemo|ensurepip|tkinter|venv|unittest|test|pydoc_data|config-[^/]*|site-packages)/ | turtle\.py$
        | lib-dynload/(_test|_tkinter|_ctypes_test|xxlimited)
    )""",
    re.VERBOSE,
)
_NO_USE = (
    *("bin", "etc", "share", ".lock"),
    *("*.dist-info/RECORD", "*.dist-info/INSTALLER", "*.dist-info/REQUESTED", "*.dist-info/uv_*"),
)
"""What an installer leaves for itself, scripts that name the folder of the build, and their manuals and examples."""

TESTING = "backends/testing"
"""The conformance suite, which only the wheel has: its authors install pytest beside it, which nobody can in a tree."""

LOCKED = ROOT / "tools" / "locked" / "run.txt"
"""The packages that raidbench needs, each with its version and the sums of its files."""


def wanted(name: str) -> bool:
    """Whether a file of the portable Python is of use here."""
    return _LEFT_OUT.match(name) is None


def uv(*words: str | Path) -> str:
    """What the uv of this checkout prints. Raises subprocess.CalledProcessError."""
    argv = ("sh", str(ROOT / "tools" / "bootstrap"), "uv", *map(str, words))
    return subprocess.run(argv, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def put_wheels(machine: Machine, requirements: Path, site: Path) -> None:
    """Install what is locked for a machine; a wheel with another sum ends the build."""
    uv(
        *("pip", "install", "-q", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--no-compile-bytecode"),
        *("--python-platform", machine.wheels, "--python-version", MINOR, "--target", site, "-r", requirements),
    )
    for pattern in _NO_USE:
        for path in site.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for tests in site.glob("psutil/tests"):
        shutil.rmtree(tests)


def put_ourselves(site: Path) -> None:
    """The product as the wheel holds it by pyproject.toml but for TESTING, and the folder that names its version."""
    told = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    sources: Mapping[str, str] = {name: name for name in told["packages"]} | told["force-include"]
    for source, place in sources.items():
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, site / place, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        else:
            shutil.copy(ROOT / source, site / place)
    shutil.rmtree(site / TESTING)
    about = site / f"raidbench-{VERSION}.dist-info"
    about.mkdir()
    project = PROJECT["project"]
    rows = (f"Name: {project['name']}", f"Version: {VERSION}", f"Summary: {project['description']}")
    (about / "METADATA").write_text("\n".join(("Metadata-Version: 2.4", *rows, "License-Expression: MIT", "")))
    shutil.copy(ROOT / "LICENSE", about / "LICENSE")


def compile_all(tree: Path, python: Path) -> None:
    """Bytecode for every module, bound to no time of a file: it stays valid wherever and whenever that is unpacked."""
    library = tree / SITE.partition("/site-packages")[0]
    # Without -B the modules that compileall imports keep bytecode of their own making; without -f they are passed over.
    words = ("-I", "-B", "-m", "compileall", "-q", "-f", "-j", "2", "--invalidation-mode", "unchecked-hash")
    subprocess.run((python, *words, "-s", tree, library), check=True)


def settle_modes(tree: Path) -> None:
    """Modes that depend on no umask: folders and programs 755, everything else 644."""
    for path in tree.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def too_new(tree: Path, machine: Machine) -> list[str]:
    """A sentence for each program or library of the tree that would not run on the oldest machines, or on none such."""
    found = []
    for path in sorted(
        path for path in tree.rglob("*") if path.is_file() and not path.is_symlink() and elf.is_elf(path)
    ):
        asks = elf.glibc(path)
        if elf.machine(path) != machine.name:
            found.append(f"{path} is for {elf.machine(path)}.")
        if asks is not None and asks > GLIBC:
            found.append(f"{path} needs glibc {'.'.join(map(str, asks))}.")
    return found


def make(machine: Machine, module: Path, requirements: Path, python: Path | None, tree: Path) -> None:
    """The whole tree for a machine. `python`: an interpreter of this machine, None where the tree's own is one.

    Raises ValueError where something in it needs a newer glibc than we promise.
    """
    golang.put_python(module, machine.go, wanted, tree)
    site = tree / SITE
    put_wheels(machine, requirements, site)
    put_ourselves(site)
    compile_all(tree, python or tree / INTERPRETER)
    settle_modes(tree)
    if sentences := too_new(tree, machine):
        raise ValueError(" ".join(sentences))
