"""Work of a feature that goes on whichever screen is in front."""

from __future__ import annotations


class BackgroundWork:
    """What the app asks of such work; a feature overrides what applies to it."""

    @property
    def measuring(self) -> bool:
        """Whether it measures on this machine now."""
        return False

    async def find(self) -> None:
        """Look for work that an earlier raidbench left, once the devices are known."""

    async def may_leave(self) -> bool:
        """Ask what becomes of it; return whether to go on leaving."""
        return True

    def progress_text(self, now: float) -> str:
        """Return how far it is, for the header; "" while nothing of it runs."""
        return ""
