"""Interface of the root helper: fixed verbs for privileged operations; the helper refuses others. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from backends import errors
from backends.errors import RaidbenchError, RefusedError, ToolTimeoutError

ERRORS: Mapping[str, type[RaidbenchError]] = {
    "RaidbenchError": errors.RaidbenchError,
    "ToolMissingError": errors.ToolMissingError,
    "ToolFailedError": errors.ToolFailedError,
    "ToolTimeoutError": errors.ToolTimeoutError,
    "NotFoundError": errors.NotFoundError,
    "UnknownSettingError": errors.UnknownSettingError,
    "InvalidValueError": errors.InvalidValueError,
    "BlockedError": errors.BlockedError,
    "RefusedError": errors.RefusedError,
    "HeldError": errors.HeldError,
    "NewerError": errors.NewerError,
    "UnreleasedError": errors.UnreleasedError,
    "DeviceGoneError": errors.DeviceGoneError,
    "AnotherDeviceError": errors.AnotherDeviceError,
    "StorageError": errors.StorageError,
}
"""Errors that an answer of the helper can contain, by name. Any other error becomes a RefusedError."""
_NAMES = {error: name for name, error in ERRORS.items()}


class HelperClient(Protocol):
    """Connection to the root helper. `app.privsep` lists the verbs and their arguments."""

    async def ask(self, verb: str, **args: object) -> Mapping[str, Any]:
        """Return the helper's answer.

        Raises the error that the helper reports, RefusedError if it refuses the request.
        """

    def ask_now(self, verb: str, **args: object) -> Mapping[str, Any]:
        """Return the helper's answer as `ask` does, but block until it arrives: for requests that take no time."""

    async def fetch(self, verb: str, **args: object) -> tuple[Mapping[str, Any], tuple[int, ...]]:
        """Return the helper's answer and the descriptors that came with it. The caller must close them."""


def encode_error(error: RaidbenchError) -> dict[str, Any]:
    """Return an error as the JSON object that represents it in an answer of the helper."""
    devices = {"devices": list(error.devices)} if isinstance(error, ToolTimeoutError) else {}
    return {
        **devices,
        "kind": _NAMES.get(type(error), "RefusedError"),
        "message": error.message,
        "hint": error.hint,
        "evidence": error.evidence[:65536],
    }


def decode_error(data: Mapping[str, Any]) -> RaidbenchError:
    """Return the error that an answer contains; an unknown kind becomes a RefusedError."""
    error = ERRORS.get(str(data.get("kind")), RefusedError)(
        str(data.get("message", "The root helper refused the request.")),
        hint=str(data.get("hint", "")),
        evidence=str(data.get("evidence", "")),
    )
    if isinstance(error, ToolTimeoutError) and isinstance(data.get("devices"), list):
        error.devices = tuple(map(str, data["devices"]))
    return error
