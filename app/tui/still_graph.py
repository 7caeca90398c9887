"""A graph that stands still until what it shows is another one."""

from __future__ import annotations

from app.engine.view.plot import PlotView
from app.plotting import chart_of
from widgets.chart import ChartData, LineChart, Series


class StillGraph(LineChart):
    """Points and lines with error bars, drawn as the graphs of a run are."""

    DEFAULT_CSS = "StillGraph { height: 1fr; min-height: 8; padding: 0 1; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._seen: object = None

    def show(self, view: PlotView | None, state: object, above: tuple[Series, ...] = ()) -> None:
        """Draws it, unless `state` says that it is the same as before; `above` its points."""
        if state == self._seen:
            return
        self._seen = state
        self.title = "" if view is None else view.title
        self.log_scale = view is not None and view.y_log
        self.data = ChartData(waiting="") if view is None else chart_of(view, ascii=self.ascii, above=above)
