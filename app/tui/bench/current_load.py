"""The present I/O of the target before a run, as curves and numbers. It is kept only here and never stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from app.core.benchmark.device_stats.activity import LATE_S
from app.core.benchmark.device_stats.diskstats import DeviceRates, add_counters
from app.core.presentation.activity import COLUMNS, rate_cells
from app.tui.bench.curves import MEAN_LATENCY, Curves
from widgets.figure_rows import FigureColumn, FigureRow

CURRENT_LOAD = "Current load, not a result"
"""Label of these curves, which look like those of a run."""

SPAN_S = 120.0
"""Seconds of the time axis. When it is full, the older half is dropped, so that a new point changes few cells."""

LOAD_COLUMNS = tuple(
    FigureColumn(label=column.title, tone="plain" if column.key == "busy" else "accent") for column in COLUMNS[:-1]
)
"""Columns of the row of numbers."""


class CurrentLoad:
    """Curves of the present I/O of some devices together."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Create the curves without points. `clock`: returns the time in seconds."""
        self.devices: tuple[str, ...] = ()
        """Kernel names of the devices."""
        self.curves = Curves()
        """The curves."""
        self.rows: tuple[FigureRow, ...] = ()
        """The row with the latest numbers; empty without points."""
        self._clock = clock
        self._begin = 0.0
        self._points: list[tuple[float, DeviceRates]] = []

    def select(self, devices: Sequence[str]) -> None:
        """Show other devices from now on."""
        if tuple(devices) != self.devices:
            self.devices = tuple(devices)
            self.clear()

    def clear(self) -> None:
        """Remove all points."""
        self._points, self.curves, self.rows = [], Curves(), ()

    def add(self, rates: Sequence[DeviceRates]) -> None:
        """Add the rates of the last second of all devices. Begin anew after a pause."""
        now = self._clock()
        if not rates or not self._points or now - self._begin - self._points[-1][0] > LATE_S:
            self.clear()
            self._begin = now
        if not rates:
            return
        together = DeviceRates(add_counters(device.done for device in rates), rates[0].seconds)
        self._points.append((now - self._begin, together))
        if self._points[-1][0] > SPAN_S:
            self._begin += SPAN_S / 2
            self._points = [(at - SPAN_S / 2, point) for at, point in self._points if at >= SPAN_S / 2]
            self.curves = Curves()
            for at, point in self._points:
                self._draw(at, point)
        else:
            self._draw(*self._points[-1])
        *cells, busy = rate_cells(together)
        cells.append(busy if len(rates) == 1 else "")  # the utilisation of several devices has no sum
        self.rows = (FigureRow(cells=tuple((text, "") for text in cells)),)

    def _draw(self, at: float, rates: DeviceRates) -> None:
        self.curves.add_point("read iops", at, rates.read_iops)
        self.curves.add_point("write iops", at, rates.write_iops)
        self.curves.add_point("read rate", at, rates.read_bytes_per_second)
        self.curves.add_point("write rate", at, rates.write_bytes_per_second)
        self.curves.add_point(MEAN_LATENCY, at, rates.latency_ns)
