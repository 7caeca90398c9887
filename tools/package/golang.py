"""What comes through Go: the compiler, the pinned modules, and the portable Python that lies in one of them."""

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
"""Since then a module can pin a tool."""

_PLACES = ("/usr/local/go/bin", "/usr/lib/go/bin", str(Path(__file__).parents[2] / ".bootstrap/golang/go/bin"))
_FOLDER = 1 << 31
"""Go's bit of a folder in a mode (io/fs.ModeDir)."""


class GoMissingError(Exception):
    """There is no Go here that could build; a sentence with what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A Go module by its name, version and the sum of its content as go.sum writes it."""

    name: str
    version: str
    content: str


PYTHON = Module(
    name="github.com/kluctl/go-embed-python",
    version="v0.0.0-3.14.6-20260610-1",
    content="h1:oGUS7++Wm3LgxUfD6AmJgKbKQD2wdQFO9PzyJv6T+E4=",
)
"""python-build-standalone 3.14.6 of 2026-06-10 for Linux on x86_64 and aarch64, one file each."""

PYTHON_VERSION = PYTHON.version.split("-")[1]


def go() -> str:
    """The path of a Go that is new enough. Raises GoMissingError."""
    places = (os.environ.get("PATH", ""), *_PLACES)
    too_old = ""
    for found in filter(None, (shutil.which("go", path=place) for place in places)):
        told = subprocess.run((found, "env", "GOVERSION"), capture_output=True, text=True, env=_environment({}))
        version = re.match(r"go(\d+)\.(\d+)", told.stdout)
        if version is not None and tuple(map(int, version.groups())) >= OLDEST:
            return found
        too_old = too_old or f"{found} is {told.stdout.strip() or 'broken'}; Go {_oldest()} or newer is needed."
    raise GoMissingError(
        too_old
        or f"Go {_oldest()} or newer cannot be found: the launcher and the packages are built with it. "
        "`tools/bootstrap package` gets it from the package registry."
    )


def run(*words: str, folder: Path, **environment: str) -> str:
    """What Go prints. Raises subprocess.CalledProcessError, whose stderr says what it lacked."""
    done = subprocess.run((go(), *words), cwd=folder, env=_environment(environment), capture_output=True, text=True)
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, ("go", *words), done.stdout, done.stderr)
    return done.stdout


def download(module: Module, folder: Path) -> Path:
    """Where the module lies unpacked. Raises ValueError where its content is not the pinned one."""
    told = json.loads(run("mod", "download", "-json", f"{module.name}@{module.version}", folder=folder))
    if told["Sum"] != module.content:
        raise ValueError(f"{module.name} {module.version} is {told['Sum']}, not the pinned {module.content}.")
    return Path(told["Dir"])


def put_python(module: Path, architecture: str, wanted: Callable[[str], bool], folder: Path) -> None:
    """Lay the portable Python for an architecture (Go's name) out in `folder`, without the names not `wanted`."""
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
    plain, pressed = packed / entry["name"], packed / f"{entry['name']}.gz"
    path.write_bytes(gzip.decompress(pressed.read_bytes()) if pressed.exists() else plain.read_bytes())
    path.chmod(0o755 if entry["perm"] & 0o111 else 0o644)


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    """No other compiler than this one is fetched, and nothing of this checkout's history is stamped in."""
    return {
        **os.environ,
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "-mod=readonly -buildvcs=false",
        "CGO_ENABLED": "0",
        **more,
    }


def _oldest() -> str:
    return ".".join(map(str, OLDEST))
