"""What all vendors do alike in a change: what stands against it, what is wanted, the same device, the steps."""

from __future__ import annotations

from backends.host import Denial, Host


async def denial_of(host: Host, path: str | None) -> Denial | None:
    """What stands against any change by a tool or file; None if one may be tried.

    A dry run is answered as root would be.
    """
    reason = await host.writable(path) if path is not None else None
    return reason if isinstance(reason, Denial) else None
