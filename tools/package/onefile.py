"""Builder of the standalone binary: a static launcher that contains the packed tree."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from tools.package import golang
from tools.package.tree import INTERPRETER

SOURCES = Path(__file__).parent / "launcher"

LEVELS = {"zstd": 22, "zip": 9}
"""Compression levels. zstd at level 19 would take two thirds of the time for a file that is larger by 8 %."""


def pack(kind: str, folder: Path, file: Path, python: Path, epoch: int) -> None:
    """Pack a folder as `zstd` or `zip` with the portable Python. The same folder produces the same bytes."""
    script = Path(__file__).parent / "archive.py"
    subprocess.run((python, "-I", "-B", script, kind, folder, file, str(epoch), str(LEVELS[kind])), check=True)


def make(tree: Path, architecture: str, python: Path, epoch: int, work: Path, file: Path) -> None:
    """Build the standalone binary `file` from the folder `tree`. `architecture`: its Go name, such as `amd64`.

    Raises GoMissingError if no Go is usable, CalledProcessError if a program fails.
    """
    folder = work / f"launcher-{architecture}"
    shutil.copytree(SOURCES, folder)
    pack("zstd", tree, folder / "payload.tar.zst", python, epoch)
    size = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file() and not path.is_symlink())
    build(folder, architecture, size, file)


def build(folder: Path, architecture: str, unpacked: int, file: Path) -> None:
    """Build the launcher from the sources and the packed tree in `folder`. `unpacked`: size of the tree in bytes."""
    digest = hashlib.sha256((folder / "payload.tar.zst").read_bytes()).hexdigest()
    values = {"digest": digest, "interpreter": INTERPRETER, "unpacked": str(unpacked)}
    flags = " ".join(("-s -w -buildid=", *(f"-X main.{name}={value}" for name, value in values.items())))
    golang.run(*("build", "-trimpath", "-ldflags", flags, "-o", str(file), "."), folder=folder, GOARCH=architecture)
    file.chmod(0o755)
