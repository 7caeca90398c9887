"""A launcher with a tree of a few files, whose interpreter only tells how it was started."""

from __future__ import annotations

import io
import json
import os
import shutil
import struct
import subprocess
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tools.package import golang, onefile
from tools.package.tree import INTERPRETER

_BLOCK = 1 << 17


def why_no_go() -> str:
    """Why nothing can be built with Go here, "" where it can."""
    try:
        golang.go()
    except golang.GoMissingError as error:
        return str(error)
    return ""


needs_go = pytest.mark.skipif(bool(why_no_go()), reason=why_no_go())


@dataclass(frozen=True, slots=True)
class Started:
    """What the interpreter told, and what the launcher did."""

    status: int
    said: str
    told: Mapping[str, Any]

    @property
    def environment(self) -> dict[str, str]:
        """The variables that the interpreter was given."""
        return dict(entry.split("=", 1) for entry in self.told["environment"])


def start(program: Path, *words: str, env: Mapping[str, str]) -> Started:
    """Start the program with these variables and no others."""
    done = subprocess.run((program, *words), env=dict(env), capture_output=True, text=True)
    return Started(done.returncode, done.stderr, json.loads(done.stdout) if done.stdout else {})


def interpreter(folder: Path) -> Path:
    """The one that tells, built."""
    shutil.copytree(Path(__file__).parent, folder)
    golang.run("build", "-trimpath", "-ldflags", "-s -w", "-o", str(folder / "told"), ".", folder=folder)
    return folder / "told"


def build(work: Path, told: Path, extra: bytes = b"") -> Path:
    """A launcher with that interpreter and a file of `extra` bytes; another content is another version."""
    folder = work / "launcher"
    shutil.copytree(onefile.SOURCES, folder)
    files = {INTERPRETER: (told.read_bytes(), 0o755), "lib/module.py": (extra, 0o644)}
    (folder / "payload.tar.zst").write_bytes(stored(_tar(files)))
    onefile.build(folder, {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine], 94_000_000, work / "raidbench")
    return work / "raidbench"


def _tar(files: Mapping[str, tuple[bytes, int]]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name in ("bin", "lib"):
            folder = tarfile.TarInfo(name)
            folder.type = tarfile.DIRTYPE
            archive.addfile(folder)
        for name, (data, mode) in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), mode
            archive.addfile(entry, io.BytesIO(data))
    return made.getvalue()


def stored(data: bytes) -> bytes:
    """A zstd frame that holds data as they are (RFC 8878, 3.1.1): no compressor is needed."""
    blocks = [data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK)]
    header = struct.pack("<IBQ", 0xFD2FB528, 0xC0 | 0x20, len(data))  # one segment, whose size has eight bytes
    told = (struct.pack("<I", len(block) << 3 | (block is blocks[-1]))[:3] + block for block in blocks)
    return header + b"".join(told)
