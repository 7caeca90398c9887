"""A way to something that is asked over HTTPS, as the configuration names it, and its password."""

from __future__ import annotations

import os
import re
import stat
from urllib.parse import urlsplit

from backends.errors import RefusedError
from backends.text import clean
from backends.values import dataclass

# -- reads the password of a door out of its file, if nobody else can -------------------------------------------------


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


# -- a way to something that is asked over HTTPS, as the configuration names it. Values only --------------------------

HERE = ("127.0.0.1", "::1", "localhost")
"""Hosts to which a password may go unencrypted: it does not leave the machine."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}", re.ASCII)
_FINGERPRINT = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpsEndpoint:
    """Where something is, who asks, and what it is known by. The password itself is read when it is needed."""

    kind: str
    """What is behind it: `santricity`."""
    name: str
    """What the user calls it; the beginning of its addresses."""
    url: str
    """`https://HOST[:PORT]`; `http` only to this machine itself."""
    user: str
    """Who asks."""
    password_file: str
    """Absolute path of a file with the password, readable for its owner alone."""
    ca_file: str | None = None
    """Absolute path of the certificates that vouch for it; None for those of the system."""
    fingerprint: str | None = None
    """SHA-256 of its own certificate, 64 small hexadecimal digits, in place of one that vouches for it."""

    @property
    def place(self) -> str:
        """Its name in place of a program's: `/santricity:/lab`."""
        return f"/{self.kind}:/{self.name}"


def validate_name(name: str) -> str:
    """The name of a door. Raises ValueError."""
    if _NAME.fullmatch(name) is None:
        raise ValueError("wants a name of letters, digits, - and _ only")
    return name


def url_of(text: str) -> str:
    """Where a door is, in canonical form. Raises ValueError for what may not be."""
    parts = urlsplit(text)
    if parts.username is not None or parts.password is not None:
        raise ValueError("wants no user or password in the url: they have keys of their own")
    if not parts.hostname or parts.query or parts.fragment or parts.path not in ("", "/"):
        raise ValueError('wants a url such as "https://array1.example:8443"')
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in HERE):
        raise ValueError("wants a url that begins with https:// (http:// only to this machine itself)")
    port = "" if parts.port is None else f":{parts.port}"
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if re.fullmatch(r"[A-Za-z0-9.:\[\]_-]{1,255}", host, re.ASCII) is None:
        raise ValueError("wants a host name or address in the url")
    return f"{parts.scheme}://{host}{port}"


def fingerprint_of(text: str) -> str:
    """A SHA-256 in canonical form, from digits with or without colons. Raises ValueError."""
    value = text.replace(":", "").replace(" ", "").lower()
    if _FINGERPRINT.fullmatch(value) is None:
        raise ValueError("wants the SHA-256 of a certificate: 64 hexadecimal digits")
    return value
