"""A device that the helper judges and holds: its facts, and its descriptor lent to us (`backends.helper_interface`)."""

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
    """The node itself: a link may lie anywhere, and the helper takes nodes only."""
    return os.path.realpath(device)


async def helper_device_facts(side: HelperClient, device: str, *, writing: bool) -> DeviceFacts:
    """What root finds out about a device. Raises RefusedError."""
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
    """What lies on a device that nothing uses. Raises RefusedError with the guard's reasons, DeviceGoneError."""
    confirmed = None if shown is None else [asdict(signature) for signature in shown]
    reply = await side.ask("free", device=_node(device), shown=confirmed)
    return tuple(Signature(**item) for item in reply["signatures"])


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperClaim:
    """A device that the helper holds for reading."""

    number: int
    """By which the helper knows it."""
    lent: bool
    """Whether its descriptor was handed over: of what is in use it is not, and the helper's own fio reads it."""


class HelperDevice:
    """A device that the helper holds, mostly with a descriptor of it. Use as an asynchronous context manager."""

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
        """Take what `guard.claim_device` takes; nothing is asked before the context is entered."""
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
        """What a program is to be given: it leads to this very device; the node where no descriptor was handed over."""
        return f"/proc/{os.getpid()}/fd/{self._descriptors[0]}" if self._descriptors else str(self._asked["device"])

    @property
    def root(self) -> HelperClaim | None:
        """By what the helper reads it; None of one that is held for writing."""
        return None if self._writing else HelperClaim(number=self._hold, lent=bool(self._descriptors))

    async def __aenter__(self) -> HelperDevice:
        """Raises RefusedError, DeviceGoneError."""
        reply, self._descriptors = await self._side.fetch("hold", **self._asked)
        self._hold = reply["hold"]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        await self._side.ask("release", hold=self._hold)
