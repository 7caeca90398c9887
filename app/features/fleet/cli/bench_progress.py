"""Progress of a run on many hosts: one line per host and one for all, redrawn in place on a terminal."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time

from app.cli.output import can_redraw, say
from app.features.fleet.multihost.coordinator import Coordinator, HostSession
from app.features.fleet.multihost.presentation import is_fresh, progress_text
from backends.text import clean
from widgets.text_utils import units
from widgets.text_utils.text import shorten

_REDRAW_S = 0.5
_PLAIN_S = 5.0
_SPARE_LINES = 3


class MultiHostProgress:
    """Reports the progress of the hosts of a coordinator."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._redraws = can_redraw()
        self._drawn = 0

    async def report(self) -> None:
        """Report the progress until cancelled."""
        while True:
            await asyncio.sleep(_REDRAW_S if self._redraws else _PLAIN_S)
            if self._redraws:
                self._draw()
            else:
                say(progress_text(self._coordinator, time.monotonic()))

    def say(self, sentence: str) -> None:
        """Print a sentence above the progress lines."""
        self.clear()
        say(clean(sentence, 600))

    def clear(self) -> None:
        """Remove the progress lines."""
        if self._drawn:
            sys.stderr.write(f"\x1b[{self._drawn}A\r\x1b[J")
            sys.stderr.flush()
        self._drawn = 0

    def _draw(self) -> None:
        size = shutil.get_terminal_size()
        now = time.monotonic()
        peers = self._coordinator.peers
        room = max(1, size.lines - _SPARE_LINES)
        lines = [host_progress_line(peer, now) for peer in (peers if len(peers) <= room else peers[: room - 1])]
        if len(lines) < len(peers):
            lines.append(f"and {len(peers) - len(lines)} more")
        lines.append(progress_text(self._coordinator, now))
        self.clear()
        try:
            sys.stderr.write("".join(f"{shorten(line, max(20, size.columns - 1), '..')}\n" for line in lines))
            sys.stderr.flush()
            self._drawn = len(lines)
        except OSError:
            self._redraws = False


def host_progress_line(peer: HostSession, now: float) -> str:
    """Return the progress line of a host: its state and the results of its last interval."""
    parts = [f"{peer.host}: {peer.doing}"]
    if peer.lost:
        parts.append(peer.lost)
    elif is_fresh(peer, now):
        parts += [f"{units.iops(peer.rate[1])} IOPS", units.rate(peer.rate[2])]
    return clean(" · ".join(parts), 400)
