"""Devices that the root helper opens: their facts, and the descriptors that it passes to this process."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import asdict
from types import TracebackType
from typing import Any

from backends.helper_interface import HelperClient
from backends.identity import Identity, Signature, Use
from backends.topology.facts import DeviceFacts
from backends.topology.thin_capacity import ThinCapacity
from backends.values import dataclass


def _node(device: str) -> str:
    """Return the node to which a path leads. The helper accepts only nodes, not links to them."""
    return os.path.realpath(device)


async def helper_device_facts(side: HelperClient, device: str, *, writing: bool) -> DeviceFacts:
    """Return the facts of a device as the root helper reads them. Raises RefusedError if the helper refuses."""
    data: dict[str, Any] = (await side.ask("facts", device=_node(device), writing=writing))["facts"]
    return DeviceFacts(
        **{
            **data,
            "identity": None if data["identity"] is None else Identity(**data["identity"]),
            "uses": tuple(Use(**item) for item in data["uses"]),
            "signatures": tuple(Signature(**item) for item in data["signatures"]),
            "unknown": tuple(data["unknown"]),
            "along": tuple(Identity(**item) for item in data["along"]),
            "rooms": tuple(ThinCapacity(**{**item, "beside": tuple(item["beside"])}) for item in data["rooms"]),
            "copies": tuple(data["copies"]),
            "others": tuple(Identity(**item) for item in data["others"]),
        }
    )


async def helper_content_check(
    side: HelperClient, device: str, shown: Collection[Signature] | None
) -> tuple[Signature, ...]:
    """Return the content of an unused device, checked as by `guard.require_free`. `shown`: see there.

    Raises RefusedError if the guard refuses, DeviceGoneError if the device vanished.
    """
    confirmed = None if shown is None else [asdict(signature) for signature in shown]
    reply = await side.ask("free", device=_node(device), shown=confirmed)
    return tuple(Signature(**item) for item in reply["signatures"])


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperClaim:
    """A device that the root helper has open for reading."""

    number: int
    """Number by which the helper identifies the claim."""
    lent: bool
    """Whether the helper passed its descriptor on.

    It does not for a device in use: the helper runs fio there itself.
    """


class HelperDevice:
    """A device opened by the root helper, which usually passes its descriptor on; an asynchronous context manager."""

    def __init__(
        self,
        side: HelperClient,
        device: str,
        *,
        writing: bool,
        typed: str | None,
        meant: Identity | None,
        shown: Collection[str] | None,
    ) -> None:
        """Store the arguments, as for `guard.claim_device`. The helper opens the device when the context is entered."""
        self._side = side
        self._asked = {
            "device": _node(device),
            "writing": writing,
            "typed": typed,
            "meant": None if meant is None else asdict(meant),
            "shown": None if shown is None else list(shown),
        }
        self._writing = writing
        self._hold = 0
        self._descriptors: tuple[int, ...] = ()

    @property
    def path(self) -> str:
        """Return the path that a program should open: of the passed descriptor if there is one, else of the node."""
        return f"/proc/{os.getpid()}/fd/{self._descriptors[0]}" if self._descriptors else str(self._asked["device"])

    @property
    def root(self) -> HelperClaim | None:
        """Return the helper's claim; None for a device that is open for writing."""
        return None if self._writing else HelperClaim(number=self._hold, lent=bool(self._descriptors))

    async def __aenter__(self) -> HelperDevice:
        """Open the device. Raises RefusedError if the guard refuses, DeviceGoneError if the device vanished."""
        reply, self._descriptors = await self._side.fetch("hold", **self._asked)
        self._hold = reply["hold"]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        await self._side.ask("release", hold=self._hold)
