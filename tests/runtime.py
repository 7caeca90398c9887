"""Environments with the packages that the program needs, and none that its tests need."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
UV = ROOT / ".bootstrap" / "bin" / "uv"
LOCKED = ROOT / "tools" / "locked" / "run.txt"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

needs_uv = pytest.mark.skipif(not UV.exists(), reason="no uv in .bootstrap: `make test` gets it")

PACKAGES = ("app", "widgets", "backends")
TESTING = "backends.testing"
"""What authors of vendor modules import, with pytest beside it; nothing else does."""

_SOURCES = (*PACKAGES, "plans", "tools", "Makefile", "pyproject.toml", "README.md", "LICENSE")

IMPORT_ALL = f"""
import importlib, pkgutil

def names(package):
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, package + "."):
        if module.name != {TESTING!r}:
            yield module.name
            yield from names(module.name) if module.ispkg else ()

count = 0
for package in {PACKAGES!r}:
    for name in names(package):
        try:
            importlib.import_module(name)
            count += 1
        except ImportError as error:
            print(f"{{name}} needs {{error.name}}")
print("imported" if count > 800 else count)
"""
"""A program that imports every module of the packages, and prints those that cannot be imported."""


def uv(*words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the uv of this checkout: from its cache, and where that does not do, from the registry.

    `more`: variables of its environment.
    """
    argv = ("sh", str(ROOT / "tools" / "bootstrap"), "uv", *map(str, words))
    return _cached_first(argv, ROOT, {**os.environ, **more})


def _cached_first(argv: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    def run(**more: str) -> subprocess.CompletedProcess[str]:
        places = {**environment, **more}
        return subprocess.run(argv, cwd=cwd, env=places, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    done = run(UV_OFFLINE="1", PIP_NO_INDEX="1")
    return run() if done.returncode else done


def required(done: subprocess.CompletedProcess[str]) -> None:
    """Skip a test whose packages are neither in the cache nor to be had."""
    if done.returncode:
        pytest.skip(f"the packages cannot be had: {done.stderr.strip()[-300:]}")


@functools.cache
def site() -> Path:
    """Return a folder of packages with all that the program needs, to be lent to an environment."""
    folder = tempfile.mkdtemp(prefix="raidbench-runtime-")
    atexit.register(shutil.rmtree, folder)
    Path(folder).chmod(0o755)  # for whichever user a test starts the program as
    target = ("--python", sys.executable, "--target", folder)
    required(uv("pip", "install", "-q", *target, "--require-hashes", "-r", LOCKED))
    return Path(folder)


def after_make_run(folder: Path, **more: str) -> Path:
    """Copy the sources to a folder and call `make run` there; return its program.

    `more`: variables of its environment.
    """
    for name in _SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
        else:
            shutil.copy(ROOT / name, folder / name)
    (folder / ".bootstrap" / "bin").mkdir(parents=True)
    shutil.copy(UV, folder / ".bootstrap" / "bin" / "uv")
    (folder / ".bootstrap" / "tried-run").touch()  # no package of the system is installed by a test
    alien = ("VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")
    environment = {name: value for name, value in os.environ.items() if name not in alien}
    environment |= more
    required(_cached_first(("make", "run", "ARGS=--version"), folder, environment))
    return folder / ".venv" / "bin" / "raidbench"
