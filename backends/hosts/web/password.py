"""Reads the password of a door out of its file, if nobody else can."""

from __future__ import annotations

import os
import stat

from backends.errors import RefusedError
from backends.text import clean


def password_in(path: str) -> str:
    """The first line of a file that only its owner (this user, or root) may read. Raises RefusedError."""
    shown = clean(path, 200)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise RefusedError(
            f"The password file {shown} cannot be read: {error.strerror}.",
            hint="Put the password into it, and keep it to yourself: chmod 600.",
        ) from error
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise RefusedError(f"The password file {shown} is no regular file.")
        if info.st_uid not in (os.geteuid(), 0):
            raise RefusedError(f"The password file {shown} belongs to somebody else.", hint="chown it to yourself.")
        if info.st_mode & 0o077:
            raise RefusedError(f"Others can read or write the password file {shown}.", hint=f"chmod 600 {shown}")
        line = file.read(4096).partition(b"\n")[0].rstrip(b"\r")
    try:
        password = line.decode()
    except UnicodeDecodeError:
        password = ""
    if not password or any(ord(char) < 32 for char in password):
        raise RefusedError(f"The password file {shown} does not begin with a password.", hint="One line of text.")
    return password
