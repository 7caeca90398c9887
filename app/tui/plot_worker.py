"""A plot that is computed and painted in threads, so that the screen stays responsive."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from widgets.plot_view import StaticPlotView
from widgets.thread_work import in_thread

if TYPE_CHECKING:
    from widgets.plot_render.plot_data import StaticPlot


class PlotWorker(StaticPlotView):
    """Shows a plot that is computed once for each state."""

    _state: object = None

    def make(self, picture: Callable[[], StaticPlot | None], state: object) -> None:
        """Show the result of `picture`, computed in a thread, unless `state` is the same as before."""
        if state != self._state:
            self._state = state
            self.run_worker(in_thread(self._make_in_thread, picture, state), group="make", exclusive=True)

    def _make_in_thread(self, picture: Callable[[], StaticPlot | None], state: object) -> None:
        self.app.call_from_thread(self._take, picture(), state)

    def _take(self, picture: StaticPlot | None, state: object) -> None:
        if self.is_mounted and state == self._state:
            self.show(picture)
