"""A job on a device, which is as fast as its cache is full."""

from __future__ import annotations

from backends.racks.caches import fullness
from backends.racks.diskstats import shares
from backends.racks.load import IoPattern, Layout, expect
from backends.racks.rack import Rack


class LoadedDisk:
    """What is done there now."""

    def __init__(self, rack: Rack, disk: str, layout: Layout, work: IoPattern) -> None:
        self._rack, self._disk, self._work = rack, disk, work
        self._is(layout)

    def _is(self, layout: Layout) -> None:
        self.layout = layout
        self.expected = expect(layout, self._work)
        self.disks = shares(self._disk, self._rack.members, layout, self._work, self.expected)
        self._fullness = fullness(layout, self._work)

    def became(self, layout: Layout) -> bool:
        """Whether it is as fast as before no longer."""
        self.layout = layout
        if fullness(layout, self._work) == self._fullness:
            return False
        self._is(layout)
        return True
