"""One writer per controller or disk: flock files that die with their process."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.engine.paths import private_folder
from backends.errors import RefusedError, StorageError


@contextmanager
def hold_lock(folder: Path, name: str, what: str) -> Iterator[None]:
    """Hold the lock `name` while inside; `what` is told to whoever comes second.

    Raises RefusedError naming the holder, StorageError when the lock file cannot be made.
    """
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", name) or "lock"
    try:
        private_folder(folder)
        descriptor = os.open(
            folder / f"{safe}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
    except OSError as error:
        raise StorageError(
            f"The lock for {name} could not be made: {error.strerror}.",
            hint=f"Check {folder}.",
            evidence=str(error),
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip() or "another raidbench"
            raise RefusedError(
                f"{name} is in the hands of {holder}.", hint="Wait until it is done, or end it there."
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"raidbench pid {os.getpid()} ({what})\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
