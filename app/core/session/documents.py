"""Writes files and folders that the user named, with the permissions that the terminal's umask allows."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from app.core.session.paths import apply_user_umask
from backends.errors import RefusedError, StorageError
from backends.output_file import make_folder, new_file
from backends.text import clean


def create_folder(folder: Path, *, force: bool) -> None:
    """Create a folder. Raises RefusedError if it exists, unless `force`; StorageError if it cannot be created."""
    shown = clean(str(folder), 300)
    try:
        descriptor = make_folder(folder, force=force)
        try:
            apply_user_umask(descriptor)
        finally:
            os.close(descriptor)
    except FileExistsError:
        raise RefusedError(f"{shown} exists already.", hint="Use another folder, or add --force.") from None
    except OSError as error:
        raise StorageError(f"{shown} cannot be created: {error.strerror}.", evidence=str(error)) from error


def write_file(file: Path, text: str, *, force: bool) -> None:
    """Write a new file. With `force`, an existing file is replaced atomically.

    Raises RefusedError if the file exists, StorageError if it cannot be written.
    """
    with open_document(file, force=force) as handle:
        handle.write(text.encode("utf-8", "replace"))


@contextlib.contextmanager
def open_document(file: Path, *, force: bool, mode: int = 0o644) -> Iterator[BinaryIO]:
    """Yield a new file for writing. It gets its name only once it is complete. Raises the errors of `write_file`."""
    shown = clean(str(file), 300)
    try:
        with new_file(file, force=force, mode=mode) as handle:
            apply_user_umask(handle.fileno())
            yield handle
    except FileExistsError:
        raise RefusedError(f"{shown} exists already.", hint="Use another file, or add --force.") from None
    except OSError as error:
        message = f"{shown} cannot be written: {error.strerror or error}."
        raise StorageError(message, evidence=str(error)) from error
