"""Adds the storage systems in the configuration to a host; they are queried over HTTPS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.core.toml_table import Parse, absolute_path, read_toml, text
from backends.errors import InvalidValueError
from backends.host import Host
from backends.input_file import MEBIBYTE, read_input
from backends.text import clean

if TYPE_CHECKING:
    from backends.system.https.endpoint import HttpsEndpoint


def with_configured_systems(host: Host, config: Path) -> Host:
    """Return the host together with the configured storage systems.

    If the configuration cannot be read, the host is returned unchanged; the error is reported elsewhere.
    """
    try:
        given = read_toml(read_input(config, MEBIBYTE), "", "", InvalidValueError).given.get("santricity", {})
        doors: Sequence[HttpsEndpoint] = parse_endpoints(given) if given else ()
    except (OSError, ValueError, InvalidValueError):
        return host
    if not doors:
        return host
    from backends.system.https.host import WebHost

    return WebHost(host, doors)


def parse_endpoints(value: Any) -> tuple[HttpsEndpoint, ...]:
    """Return the endpoints in the table `santricity`.

    Raises ValueError for an invalid table. The message completes a sentence that begins with the key's name.
    """
    from backends.system.https.endpoint import HttpsEndpoint, fingerprint_of, url_of, validate_name

    if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
        raise ValueError("must be a table for each disk system: [santricity.NAME]")
    parse: Mapping[str, Parse[str]] = {
        "url": lambda given: url_of(text(given)),
        "user": _user,
        "password_file": absolute_path,
        "ca_file": absolute_path,
        "fingerprint": lambda given: fingerprint_of(text(given)),
    }
    endpoints = []
    for name, table in value.items():
        shown = clean(str(name), 40)
        if unknown := next((key for key in table if key not in parse), None):
            raise ValueError(f"has an unknown key {clean(unknown, 40)!r} in {shown}. The keys are {', '.join(parse)}")
        if missing := next((key for key in ("url", "user", "password_file") if key not in table), None):
            raise ValueError(f"needs {missing} in {shown}")
        door = {}
        for key, given in table.items():
            try:
                door[key] = parse[key](given)
            except ValueError as error:
                raise ValueError(f"has an invalid {key} in {shown}: it {error}") from None
        endpoints.append(HttpsEndpoint(kind="santricity", name=validate_name(str(name)), **door))
    return tuple(endpoints)


def _user(value: Any) -> str:
    if ":" in text(value) or not text(value).isprintable():
        raise ValueError("must be a user name without colons")
    return text(value)
