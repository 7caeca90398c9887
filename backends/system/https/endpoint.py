"""HTTPS endpoints as the configuration describes them, and their password files."""

from __future__ import annotations

import os
import re
import stat
from urllib.parse import urlsplit

from backends.errors import RefusedError
from backends.text import clean
from backends.values import dataclass

# -- password file ----------------------------------------------------------------------------------------------------


def password_in(path: str) -> str:
    """Return the first line of a password file.

    Raises RefusedError unless only its owner (this user or root) has access.
    """
    shown = clean(path, 200)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise RefusedError(
            f"The password file {shown} cannot be read: {error.strerror}.",
            hint="Write the password to the file and restrict it to yourself (chmod 600).",
        ) from error
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise RefusedError(f"The password file {shown} is not a regular file.")
        if info.st_uid not in (os.geteuid(), 0):
            raise RefusedError(
                f"The password file {shown} belongs to another user.", hint="Change its owner to your user (chown)."
            )
        if info.st_mode & 0o077:
            raise RefusedError(
                f"The password file {shown} is accessible to other users.", hint=f"Run `chmod 600 {shown}`."
            )
        line = file.read(4096).partition(b"\n")[0].rstrip(b"\r")
    try:
        password = line.decode()
    except UnicodeDecodeError:
        password = ""
    if not password or any(ord(char) < 32 for char in password):
        raise RefusedError(
            f"The first line of the password file {shown} is not a valid password.",
            hint="Write the password as one line of text.",
        )
    return password


# -- endpoint. No I/O -------------------------------------------------------------------------------------------------

HERE = ("127.0.0.1", "::1", "localhost")
"""Hosts to which a password may be sent unencrypted, because it does not leave the machine."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}", re.ASCII)
_FINGERPRINT = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpsEndpoint:
    """URL, user and expected certificate of an HTTPS endpoint. The password is read when it is needed."""

    kind: str
    """Product that provides the endpoint: `santricity`."""
    name: str
    """Name in the configuration. Addresses of targets at this endpoint begin with it."""
    url: str
    """`https://HOST[:PORT]`; `http` only for this machine itself."""
    user: str
    """User name for the login."""
    password_file: str
    """Absolute path of a file with the password, readable only for its owner."""
    ca_file: str | None = None
    """Absolute path of the CA certificates; None for those of the system."""
    fingerprint: str | None = None
    """SHA-256 of the server certificate (64 lower-case hexadecimal digits), checked instead of a CA; None to use a CA.
    """

    @property
    def pseudo_path(self) -> str:
        """Return the pseudo-path of the endpoint in commands: `/santricity:/lab`."""
        return f"/{self.kind}:/{self.name}"


def validate_name(name: str) -> str:
    """Return the name of an endpoint unchanged. Raises ValueError unless it has only `A-Z a-z 0-9 _ -`."""
    if _NAME.fullmatch(name) is None:
        raise ValueError("needs a name of letters, digits, - and _ only")
    return name


def url_of(text: str) -> str:
    """Return the URL of an endpoint in canonical form. Raises ValueError if it is not allowed."""
    parts = urlsplit(text)
    if parts.username is not None or parts.password is not None:
        raise ValueError("must be a URL without user and password, which have their own keys")
    if not parts.hostname or parts.query or parts.fragment or parts.path not in ("", "/"):
        raise ValueError('must be a URL such as "https://array1.example:8443"')
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in HERE):
        raise ValueError("must be a URL that begins with https:// (http:// only for this host)")
    port = "" if parts.port is None else f":{parts.port}"
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if re.fullmatch(r"[A-Za-z0-9.:\[\]_-]{1,255}", host, re.ASCII) is None:
        raise ValueError("must be a URL with a host name or address")
    return f"{parts.scheme}://{host}{port}"


def fingerprint_of(text: str) -> str:
    """Return the fingerprint, a SHA-256, in lower case and without colons.

    Raises ValueError if the text is not a SHA-256.
    """
    value = text.replace(":", "").replace(" ", "").lower()
    if _FINGERPRINT.fullmatch(value) is None:
        raise ValueError("must be the SHA-256 of a certificate (64 hexadecimal digits)")
    return value
