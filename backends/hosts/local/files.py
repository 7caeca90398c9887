"""Small files: read, written in one go, put in place whole."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile

from backends.errors import ToolFailedError

SMALL_FILE = 1024 * 1024
"""Bytes read of one file at most."""


def read_small(path: str) -> str | None:
    """A regular file's text without trailing white space; None if there is none that can be read."""
    try:
        # O_NONBLOCK: opening a FIFO that somebody put there would wait for a writer for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            parts: list[bytes] = []
            size = 0
            while size < SMALL_FILE and (part := os.read(descriptor, 65536)):
                parts.append(part)
                size += len(part)
            return b"".join(parts).decode("utf-8", "replace").rstrip()
        return None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def write_once(path: str, text: str) -> None:
    """One write to a file that exists. Raises ToolFailedError in the kernel's words."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            # One write: sysfs takes each write as a whole value.
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        hint = "Run raidbench as root." if isinstance(error, PermissionError) else ""
        raise ToolFailedError(
            f"The kernel refused {text!r}: {error.strerror}.", hint=hint, evidence=f"{path}: {error}"
        ) from error


def install_file(path: str, text: str) -> None:
    """A whole file, atomically; "" removes it. Raises ToolFailedError."""
    try:
        if not text:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            return
        folder = os.path.dirname(path)
        os.makedirs(folder, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".raidbench-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                os.fchmod(file.fileno(), 0o644)
            # udev may read the folder at any moment: it sees the old file or the new one, never half of one.
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
    except OSError as error:
        hint = "Run raidbench as root." if isinstance(error, PermissionError) else ""
        raise ToolFailedError(
            f"{path} could not be written: {error.strerror}.", hint=hint, evidence=str(error)
        ) from error
