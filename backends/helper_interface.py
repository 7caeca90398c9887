"""What root does for a raidbench that runs as a user: asked by fixed verbs, and refused by the other side. No I/O."""

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
"""Every error that an answer can carry, by its name there; any other arrives as a refusal."""
_NAMES = {error: name for name, error in ERRORS.items()}


class HelperClient(Protocol):
    """The connection to the helper that runs as root. `app.privsep` lists its verbs and what they take."""

    async def ask(self, verb: str, **args: object) -> Mapping[str, Any]:
        """The answer. Raises the RaidbenchError that the helper met, RefusedError where it does not do that."""
        ...

    def ask_now(self, verb: str, **args: object) -> Mapping[str, Any]:
        """The same where nothing else may happen meanwhile: for what the helper answers at once."""
        ...

    async def fetch(self, verb: str, **args: object) -> tuple[Mapping[str, Any], tuple[int, ...]]:
        """An answer with the descriptors that came with it; they are the caller's to close."""
        ...


def encode_error(error: RaidbenchError) -> dict[str, Any]:
    """An error as an answer carries it."""
    devices = {"devices": list(error.devices)} if isinstance(error, ToolTimeoutError) else {}
    return {
        **devices,
        "kind": _NAMES.get(type(error), "RefusedError"),
        "message": error.message,
        "hint": error.hint,
        "evidence": error.evidence[:65536],
    }


def decode_error(data: Mapping[str, Any]) -> RaidbenchError:
    """The error that an answer carries; a kind that is not of the family is a refusal."""
    error = ERRORS.get(str(data.get("kind")), RefusedError)(
        str(data.get("message", "The root helper refused it.")),
        hint=str(data.get("hint", "")),
        evidence=str(data.get("evidence", "")),
    )
    if isinstance(error, ToolTimeoutError) and isinstance(data.get("devices"), list):
        error.devices = tuple(map(str, data["devices"]))
    return error
