"""One HTTP request to a verified server, limited in time and size, never repeated. Imported at the first request."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import http.client
import socket
import ssl
from contextlib import suppress
from urllib.parse import urlsplit

from backends.errors import RefusedError, ToolFailedError, ToolTimeoutError
from backends.host import Completed
from backends.system.https.endpoint import HttpsEndpoint, password_in
from backends.system.local.uninterruptible import run_in_thread
from backends.text import clean

MOST = 16 << 20
"""Maximum size of a reply in bytes. A longer reply is refused, because a truncated document is useless."""

REFUSED = 22
"""Exit status of `Completed` for any HTTP status other than 2xx, as curl reports it."""

CONNECT_SECONDS = 10.0
"""Timeout in seconds for connecting. It is short, so that a request to a host that is switched off fails early."""

LOOK_SECONDS = 10.0
"""Timeout in seconds for fetching a certificate that is only displayed."""


async def exchange(endpoint: HttpsEndpoint, method: str, path: str, body: str | None, seconds: float) -> Completed:
    """Send one request.

    Return the body of the reply as standard output, and a status such as `HTTP 422 Unprocessable Entity` as standard
    error. Raises RefusedError (password file, certificate), ToolFailedError, ToolTimeoutError.
    """
    call = _Call(endpoint, method, path, body, seconds)
    try:
        return await asyncio.wait_for(run_in_thread(f"{method} to {endpoint.name}", call.send), seconds)
    except TimeoutError:
        raise ToolTimeoutError(
            f"{_endpoint_text(endpoint)} did not respond within {seconds:.0f} s.",
            hint="Check its address and that it is powered on.",
        ) from None
    finally:
        call.hang_up()


class _Call:
    """One request, sent in a thread. A caller that stops waiting closes the connection with `hang_up`."""

    def __init__(self, endpoint: HttpsEndpoint, method: str, path: str, body: str | None, seconds: float) -> None:
        self._endpoint = endpoint
        self._method = method
        self._path = path
        self._body = body
        self._seconds = seconds
        self._patience = min(seconds, CONNECT_SECONDS)
        self._connection: http.client.HTTPConnection | None = None
        self._given_up = False

    def send(self) -> Completed:
        """Send the request and return the result. Raises the errors of `exchange`."""
        shown, connection = _endpoint_text(self._endpoint), None
        try:
            self._connection = connection = self._connect()
            if self._given_up:  # before this connection existed, `hang_up` could not close it
                raise ToolTimeoutError(f"The connection to {shown} took too long.")
            connection.sock.settimeout(self._seconds)
            connection.request(
                self._method,
                self._path,
                body=None if self._body is None else self._body.encode(),
                headers=self._headers(),
            )
            answer = connection.getresponse()
            body = answer.read(MOST + 1)
            if answer.length:  # read(n) raises no error if a reply ends early
                raise http.client.IncompleteRead(body, answer.length)
        except TimeoutError as error:
            seconds = self._patience if connection is None else self._seconds
            raise ToolTimeoutError(
                f"{shown} did not respond within {seconds:.0f} s.", hint="Check its address and that it is running."
            ) from error
        except ssl.SSLError as error:  # only after the handshake: `_connect` handles errors of the handshake
            raise ToolFailedError(f"The encrypted connection to {shown} failed.", evidence=str(error)) from error
        except (OSError, http.client.HTTPException) as error:
            raise ToolFailedError(f"{shown} does not respond: {_reason(error)}.", evidence=repr(error)) from error
        finally:
            if connection is not None:
                connection.close()
        if len(body) > MOST:
            raise ToolFailedError(f"The response of {shown} is larger than {MOST >> 20} MiB.")
        return Completed(
            returncode=0 if 200 <= answer.status < 300 else REFUSED,
            stdout=body.decode("utf-8", "replace"),
            stderr=f"HTTP {answer.status} {clean(answer.reason, 80)}".rstrip(),
        )

    def _connect(self) -> http.client.HTTPConnection:
        """Connect to the server, verify it, and return the connection. No part of the request has been sent on
        it yet.
        """
        shown, parts = _endpoint_text(self._endpoint), urlsplit(self._endpoint.url)
        host = parts.hostname or ""
        if parts.scheme == "http":
            connection = http.client.HTTPConnection(host, parts.port, timeout=self._patience)
            connection.connect()
            return connection
        secure = http.client.HTTPSConnection(host, parts.port, timeout=self._patience, context=self._trust())
        try:
            secure.connect()
        except ssl.SSLCertVerificationError as error:
            raise RefusedError(
                f"The certificate of {shown} is not trusted: {clean(error.verify_message, 200)}.",
                hint=_certificate_hint(host, parts.port or 443),
                evidence=str(error),
            ) from error
        except ssl.SSLError as error:
            raise ToolFailedError(f"{shown} offers no supported encryption (TLS).", evidence=str(error)) from error
        if self._endpoint.fingerprint is not None:
            fingerprint = _fingerprint(secure.sock)
            if not hmac.compare_digest(fingerprint, self._endpoint.fingerprint):
                secure.close()
                raise RefusedError(
                    f"The certificate of {shown} does not match the fingerprint in the configuration.",
                    hint=f"Nothing was sent. The SHA-256 of the present certificate is {fingerprint}. Find out why it "
                    "changed.",
                )
        return secure

    def _trust(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=self._endpoint.ca_file)
        except (OSError, ssl.SSLError) as error:
            raise RefusedError(f"{clean(self._endpoint.ca_file or '', 200)} contains no certificates.") from error
        if self._endpoint.fingerprint is not None:  # `_connect` compares the fingerprint instead
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def _headers(self) -> dict[str, str]:
        text = f"{self._endpoint.user}:{password_in(self._endpoint.password_file)}"
        return {
            "Authorization": f"Basic {base64.b64encode(text.encode()).decode()}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "Connection": "close",
        }

    def hang_up(self) -> None:
        """Close the connection, even while the thread waits for the reply. Nothing more is sent."""
        self._given_up = True
        connection = self._connection
        sock = connection.sock if connection is not None else None
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


def _endpoint_text(endpoint: HttpsEndpoint) -> str:
    return f"{endpoint.kind} {endpoint.name} ({endpoint.url})"


def _reason(error: Exception) -> str:
    match error:
        case http.client.IncompleteRead():
            return "the response is incomplete"
        case http.client.RemoteDisconnected():
            return "the server closed the connection without a response"
        case http.client.HTTPException():
            return "the response is not HTTP"
        case _:
            return clean(getattr(error, "strerror", None) or str(error), 200) or type(error).__name__


def _fingerprint(sock: object) -> str:
    shown = sock.getpeercert(binary_form=True) if isinstance(sock, ssl.SSLSocket) else None
    return hashlib.sha256(shown or b"").hexdigest()


def _certificate_hint(host: str, port: int) -> str:
    """Return the hint for an untrusted certificate, with the certificate's SHA-256.

    Only a TLS handshake is made to obtain it.
    """
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), timeout=LOOK_SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=host) as sock,
        ):
            shown = _fingerprint(sock)
    except OSError:
        return "Set ca_file to the certificates that sign it, or fingerprint to its SHA-256."
    return (
        f"The SHA-256 of the present certificate is {shown}. Compare it with the certificate on the disk system "
        "itself, not over the network, and set it as fingerprint in the configuration. Or set ca_file to the "
        "certificates that sign it."
    )
