"""The standalone binary to copy to hosts: its path, CPU architecture and checksum."""

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

HOW_TO_GET = "Build the standalone binary with `make package` (docs/install.md), and specify it with --file PATH."
"""Hint if there is no standalone binary to copy."""

_MACHINES = {62: "x86_64", 183: "aarch64"}
"""Supported CPU architectures: value of e_machine in elf(5), and the name that `uname -m` prints."""

_HEADER = 64
_MARK = f"{LAUNCHER}=".encode()
"""Bytes that only the standalone binary contains: the environment variable that its launcher sets."""

LARGEST = 512 << 20
"""Maximum size of the binary in bytes, about ten times the usual size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandaloneBinary:
    """The standalone binary: one file that runs on a host without any other installation."""

    path: Path
    """Path of the binary on this machine."""
    sha256: str
    """Checksum as hexadecimal digits."""
    size: int
    """Size in bytes."""
    machine: str
    """CPU architecture: `x86_64` or `aarch64`."""

    def json(self) -> dict[str, Any]:
        """Return the binary's path, checksum, size and CPU architecture as JSON."""
        return {"path": str(self.path), "sha256": self.sha256, "size": self.size, "machine": self.machine}


def find_binary(path: Path | None = None) -> StandaloneBinary | None:
    """Return the binary at `path`, or the one that this program was started from; None if there is none.

    Raises InvalidValueError for a file that is not raidbench's binary.
    """
    if path is None:
        if install_form() != "one file":
            return None
        path = Path(os.environ[LAUNCHER])
    shown = clean(str(path), 200)
    try:
        data = read_input(path, LARGEST)
    except OSError as error:
        raise InvalidValueError(f"Cannot read {shown}: {error.strerror}.", hint=HOW_TO_GET) from error
    machine = _MACHINES.get(struct.unpack_from("<H", data, 18)[0]) if len(data) >= _HEADER else None
    if data[:4] != b"\x7fELF" or machine is None or _MARK not in data:
        raise InvalidValueError(f"{shown} is not the standalone binary of raidbench.", hint=HOW_TO_GET)
    return StandaloneBinary(path=path, sha256=hashlib.sha256(data).hexdigest(), size=len(data), machine=machine)


def missing_binary_reason() -> str:
    """Return the reason why there is no binary to copy."""
    return (
        f"raidbench is not installed there. It cannot be copied, because this is a {install_form()}, not the"
        " standalone binary."
    )
