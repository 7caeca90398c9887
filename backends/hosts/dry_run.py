"""A host that plans as if it were allowed to write, and writes nothing."""

from __future__ import annotations

from backends.host import Denial
from backends.hosts.wrapped import ReadOnlyHost


class DryRunHost(ReadOnlyHost):
    """Answers as root would be answered, so that a plan can be made and shown without root."""

    async def writable(self, path: str) -> str | None:
        """None where only the lack of rights stands against it."""
        reason = await self._inner.writable(path)
        return None if isinstance(reason, Denial) else reason
