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
    "DeviceGoneError": errors.DeviceGoneError,
    "AnotherDeviceError": errors.AnotherDeviceError,
    "StorageError": errors.StorageError,
}
"""Errors that an answer can contain, by name. Any other becomes a RefusedError."""
_NAMES = {error: name for name, error in ERRORS.items()}


class HelperClient(Protocol):
    """Connection to the root helper. `app.privsep` lists the verbs and their arguments."""

    async def ask(self, verb: str, **args: object) -> Mapping[str, Any]:
        """Return the answer. Raises the helper's RaidbenchError, RefusedError if it refuses the request."""

    def ask_now(self, verb: str, **args: object) -> Mapping[str, Any]:
        """Return the answer as `ask` does, but block meanwhile: for requests that are answered at once."""

    async def fetch(self, verb: str, **args: object) -> tuple[Mapping[str, Any], tuple[int, ...]]:
        """Return an answer with the descriptors that came with it; the caller closes them."""


def encode_error(error: RaidbenchError) -> dict[str, Any]:
    """Return an error as an answer contains it."""
    devices = {"devices": list(error.devices)} if isinstance(error, ToolTimeoutError) else {}
    return {
        **devices,
        "kind": _NAMES.get(type(error), "RefusedError"),
        "message": error.message,
        "hint": error.hint,
        "evidence": error.evidence[:65536],
    }


def decode_error(data: Mapping[str, Any]) -> RaidbenchError:
    """Return the error of an answer; an unknown kind becomes a RefusedError."""
    error = ERRORS.get(str(data.get("kind")), RefusedError)(
        str(data.get("message", "The root helper refused the request.")),
        hint=str(data.get("hint", "")),
        evidence=str(data.get("evidence", "")),
    )
    if isinstance(error, ToolTimeoutError) and isinstance(data.get("devices"), list):
        error.devices = tuple(map(str, data["devices"]))
    return error
