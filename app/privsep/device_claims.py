"""Requests to the root helper that check a raw device, open it, and pass a descriptor to the user's process."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from app.core.config import load_config
from app.privsep.read_policy import node_of
from app.privsep.request_schema import RequestDeniedError
from backends.errors import RaidbenchError
from backends.exclusive_open import DeviceClaim
from backends.guard import Intent, claim_device, judge_device, require_free
from backends.identity import Identity, Signature
from backends.system.local import LocalHost
from backends.system.root_owned import is_owned_by_root

MAX_CLAIMS = 64
"""Maximum number of devices that one connection may have open at a time."""


class DeviceClaims:
    """The devices that the helper has opened for the user.

    The helper checks each device itself and does not rely on checks by the user's process.
    """

    def __init__(self, host: LocalHost, gid: int, config: Path) -> None:
        """`gid`: the group that may use the descriptors. `config`: root's configuration."""
        self._host = host
        self._gid = gid
        self._config = config
        self._claims: dict[int, tuple[AsyncExitStack, DeviceClaim, bool]] = {}
        self._count = 0

    async def facts(self, device: str, writing: bool) -> Mapping[str, Any]:
        """Return all facts from which the guard decides whether a device may be opened.

        `writing`: whether it is to be opened for writing.
        """
        device = _device(device)
        facts, _ = await judge_device(self._host, device, Intent.WRITE if writing else Intent.READ)
        return {"facts": asdict(facts)}

    async def free(self, device: str, shown: list[dict[str, Any]] | None) -> Mapping[str, Any]:
        """Return the signatures on a device that is not in use.

        `shown`: the signatures that the user has confirmed; None if none were shown. Raises RefusedError with the
        guard's reasons if the device is in use.
        """
        device = _device(device)
        confirmed = (
            None
            if shown is None
            else [Signature(**_require_fields(Signature, "signature", record)) for record in shown]
        )
        return {"signatures": [asdict(signature) for signature in await require_free(self._host, device, confirmed)]}

    async def hold(
        self,
        device: str,
        writing: bool,
        typed: str | None,
        meant: dict[str, Any] | None,
        shown: list[str] | None,
    ) -> tuple[Mapping[str, Any], tuple[int, ...]]:
        """Check and open a device; return its number, and a descriptor with which the user's programs can reopen it.

        Return no descriptor for reading a device in use, unless root's configuration permits it: the user could read
        the files of other users on it. `typed`: the confirmation token. `meant`: identity of the device that the user
        chose. `shown`: the content that the user has seen. They are None if there was no question or choice.
        """
        device = _device(device)
        if len(self._claims) >= MAX_CLAIMS:
            raise RequestDeniedError("hold: too many open devices.")
        identity = None if meant is None else Identity(**_require_fields(Identity, "identity", meant))
        intent = Intent.WRITE if writing else Intent.READ
        async with AsyncExitStack() as stack:
            hold = await stack.enter_async_context(claim_device(self._host, device, intent, typed, identity, shown))
            lends = writing or await self._may_lend(hold)
            descriptors = (hold.pass_descriptor(self._gid),) if lends else ()
            self._count += 1
            self._claims[self._count] = stack.pop_all(), hold, writing
        return {"hold": self._count, "lent": lends}, descriptors

    async def _may_lend(self, hold: DeviceClaim) -> bool:
        """Return whether the user may get a descriptor for reading: the device is not in use, or root permits it."""
        facts, verdict = await judge_device(self._host, hold.device, Intent.WRITE)
        free = verdict.ok and facts.identity is not None and facts.identity.same_device(hold.identity)
        return free or may_lend_in_use(self._config)

    def for_reading(self, hold: int) -> DeviceClaim:
        """Return the device with the number `hold`, which is open for reading.

        Raises RequestDeniedError if there is none.
        """
        _, held, writing = self._claims.get(hold, (None, None, False))
        if held is None or writing:
            raise RequestDeniedError("measure: this device is not open for reading.")
        return held

    async def release(self, hold: int) -> Mapping[str, Any]:
        """Close the device whose number is `hold`."""
        if hold not in self._claims:
            raise RequestDeniedError("release: this device is not open.")
        await self._claims.pop(hold)[0].aclose()
        return {}

    async def close(self) -> None:
        """Close all devices."""
        for number in tuple(self._claims):
            await self.release(number)


def may_lend_in_use(config: Path) -> bool:
    """Return whether root's configuration permits passing on descriptors of devices that are in use.

    False if there is no configuration, if it is invalid, or if users other than root may have written it.
    """
    try:
        info = config.lstat()
        alone = stat.S_ISREG(info.st_mode) and info.st_nlink == 1 and not info.st_mode & 0o022
        return alone and is_owned_by_root(str(config)) and load_config(config, required=True).lend_in_use
    except (OSError, RaidbenchError):
        return False


def _device(path: str) -> str:
    """Return the device node to which a path leads. Callers use this node and not the path, which may change.

    Raises RequestDeniedError if the path does not lead to a device.
    """
    node = node_of(path)
    if node is None:
        raise RequestDeniedError(
            "The path is not a device, or it is a link in a folder that other users than root can change."
        )
    return node


def _require_fields(kind: type, called: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `data` if its fields are fields of `kind` and their values are strings, None or sizes in bytes.

    `called`: name of the data in the error message. Raises RequestDeniedError for other data.
    """
    allowed = {field.name for field in fields(kind)}
    sound = all(
        item is None or isinstance(item, str) or (key == "size_bytes" and type(item) is int)
        for key, item in data.items()
    )
    if not set(data) <= allowed or not sound or not (data.get("name") or data.get("kind")):
        raise RequestDeniedError(f"The data does not describe a device {called}.")
    return data
