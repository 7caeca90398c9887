"""Whether a machine has logical volumes: device-mapper's UUIDs of them begin alike."""

from __future__ import annotations

from backends.host import Host
from backends.topology.layers import MARK

__all__ = ["MARK", "any_volume"]


async def any_volume(host: Host) -> bool:
    """Whether one is active, at the price of reading a few files."""
    texts = await host.read_many(await host.list("/sys/block/dm-*/dm/uuid"))
    return any(text.startswith(MARK) for text in texts.values())
