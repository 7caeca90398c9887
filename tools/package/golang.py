"""The Go compiler, pinned Go modules, and the portable Python, which is packed in one of these modules."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OLDEST = (1, 24)
"""Oldest usable version of Go: the first in which a module can pin a tool."""

_PLACES = ("/usr/local/go/bin", "/usr/lib/go/bin", str(Path(__file__).parents[2] / ".bootstrap/golang/go/bin"))
_FOLDER = 1 << 31
"""The bit that marks folders in Go's file modes (io/fs.ModeDir)."""


class GoMissingError(Exception):
    """Error for a missing or too old Go, with a next step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A Go module: its name, its version and its checksum in the format of go.sum."""

    name: str
    version: str
    content: str


PYTHON = Module(
    name="github.com/kluctl/go-embed-python",
    version="v0.0.0-3.14.6-20260610-1",
    content="h1:oGUS7++Wm3LgxUfD6AmJgKbKQD2wdQFO9PzyJv6T+E4=",
)
"""Module with python-build-standalone 3.14.6 of 2026-06-10 for Linux, on x86_64 and on aarch64."""

PYTHON_VERSION = PYTHON.version.split("-")[1]


def go() -> str:
    """Return the path of a Go that is new enough. Raises GoMissingError if there is none."""
    places = (os.environ.get("PATH", ""), *_PLACES)
    too_old = ""
    for program in filter(None, (shutil.which("go", path=place) for place in places)):
        done = subprocess.run((program, "env", "GOVERSION"), capture_output=True, text=True, env=_environment({}))
        version = re.match(r"go(\d+)\.(\d+)", done.stdout)
        if version is not None and tuple(map(int, version.groups())) >= OLDEST:
            return program
        too_old = too_old or f"{program} is {done.stdout.strip() or 'broken'}; Go {_oldest()} or newer is needed."
    raise GoMissingError(
        too_old
        or f"Go {_oldest()} or newer is needed to build the launcher and the packages, and was not found. "
        "Run `tools/bootstrap package` to download it from the package registry."
    )


def run(*args: str, folder: Path, **environment: str) -> str:
    """Return the output of a Go command. Raises subprocess.CalledProcessError, with its stderr, if it fails."""
    done = subprocess.run((go(), *args), cwd=folder, env=_environment(environment), capture_output=True, text=True)
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, ("go", *args), done.stdout, done.stderr)
    return done.stdout


def download(module: Module, folder: Path) -> Path:
    """Download a module and return its unpacked folder. Raises ValueError if its checksum is not the pinned one."""
    answer = json.loads(run("mod", "download", "-json", f"{module.name}@{module.version}", folder=folder))
    if answer["Sum"] != module.content:
        raise ValueError(f"{module.name} {module.version} is {answer['Sum']}, not the pinned {module.content}.")
    return Path(answer["Dir"])


def put_python(module: Path, architecture: str, wanted: Callable[[str], bool], folder: Path) -> None:
    """Write the portable Python to `folder`, except files for whose names `wanted` returns False.

    `module`: folder of the unpacked module. `architecture`: Go's name of the architecture, such as `amd64`.
    """
    packed = module / "python" / "internal" / "data" / f"linux-{architecture}"
    for entry in json.loads((packed / "files.json").read_text())["files"]:
        if not entry["perm"] & _FOLDER and wanted(entry["name"]):
            _put(entry, packed, folder)


def _put(entry: Mapping[str, Any], packed: Path, folder: Path) -> None:
    path = folder / entry["name"]
    path.parent.mkdir(parents=True, exist_ok=True)
    if entry.get("symlink"):
        path.symlink_to(entry["symlink"])
        return
    plain, compressed = packed / entry["name"], packed / f"{entry['name']}.gz"
    path.write_bytes(gzip.decompress(compressed.read_bytes()) if compressed.exists() else plain.read_bytes())
    path.chmod(0o755 if entry["perm"] & 0o111 else 0o644)


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return an environment for Go in which it downloads no other compiler and adds no version control information."""
    return {
        **os.environ,
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "-mod=readonly -buildvcs=false",
        "CGO_ENABLED": "0",
        **more,
    }


def _oldest() -> str:
    return ".".join(map(str, OLDEST))
