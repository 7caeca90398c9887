"""The one file that is copied to hosts: which it is here, what it runs on, and the sum that it is known by."""

from __future__ import annotations

import hashlib
import os
import struct
from pathlib import Path
from typing import Any

from backends.errors import InvalidValueError
from backends.input_file import read_input
from backends.self_exec import LAUNCHER, install_form
from backends.text import clean
from backends.values import dataclass

HOW_TO_GET = "`make package` makes it (docs/packaging.md); name it with --file PATH."
"""What to do where there is none."""

_MACHINES = {62: "x86_64", 183: "aarch64"}
"""e_machine of elf(5), for which one is built, as `uname -m` calls it."""

_HEADER = 64
_MARK = f"{LAUNCHER}=".encode()
"""What the launcher hands on to raidbench, and no other program has inside."""

LARGEST = 512 << 20
"""Bytes; it has a tenth of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandaloneBinary:
    """A file that runs on hosts without anything else."""

    path: Path
    """Where it lies here."""
    sha256: str
    """Of its bytes, in hexadecimal digits."""
    size: int
    """Bytes."""
    machine: str
    """What it runs on: `x86_64`, `aarch64`."""

    def json(self) -> dict[str, Any]:
        """As JSON."""
        return {"path": str(self.path), "sha256": self.sha256, "size": self.size, "machine": self.machine}


def find_binary(path: Path | None = None) -> StandaloneBinary | None:
    """That file, or the one that this program was started from; None where it was started from none.

    Raises InvalidValueError for a file that is none.
    """
    if path is None:
        if install_form() != "one file":
            return None
        path = Path(os.environ[LAUNCHER])
    shown = clean(str(path), 200)
    try:
        data = read_input(path, LARGEST)
    except OSError as error:
        raise InvalidValueError(f"{shown} cannot be read: {error.strerror}.", hint=HOW_TO_GET) from error
    machine = _MACHINES.get(struct.unpack_from("<H", data, 18)[0]) if len(data) >= _HEADER else None
    if data[:4] != b"\x7fELF" or machine is None or _MARK not in data:
        raise InvalidValueError(f"{shown} is not the one file of raidbench.", hint=HOW_TO_GET)
    return StandaloneBinary(path=path, sha256=hashlib.sha256(data).hexdigest(), size=len(data), machine=machine)


def missing_binary_reason() -> str:
    """Why there is none to copy, in a sentence."""
    return f"There is no raidbench there, and none to copy: what runs here is not the one file but a {install_form()}."
