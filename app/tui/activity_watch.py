"""Reads the present I/O once a second while a screen shows it."""

from __future__ import annotations

from collections.abc import Callable, Collection

from app.core.benchmark.device_stats.activity import EVERY_S, ActivityMeter
from app.tui.base import WorkbenchScreen


class ActivityWatch:
    """Calls a meter for one screen. Reads nothing while another screen or a dialog is in front."""

    def __init__(
        self, screen: WorkbenchScreen, devices: Callable[[], Collection[str]], show: Callable[[], None]
    ) -> None:
        """Start the watch. `devices`: returns the kernel names of the shown devices. `show`: shows the new rates."""
        self.meter = ActivityMeter(screen.workbench_app.workbench.host)
        """Has the rates of the shown devices."""
        self._screen = screen
        self._devices = devices
        self._show = show
        self._timer = screen.set_interval(EVERY_S, self.read)

    async def read(self) -> None:
        """Read the counters if the screen is in front and shows devices that have some."""
        if self._screen.is_active and (devices := self._devices()):
            await self.meter.take(devices)
            if self._devices():  # a run may have begun meanwhile
                self._show()

    def restart(self) -> None:
        """Read the counters now and then once a second, because other devices are shown from now on."""
        self._timer.reset()
        self._screen.call_next(self.read)
