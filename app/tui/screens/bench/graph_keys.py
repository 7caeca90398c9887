"""The keys of whatever shows the graphs of a run: the Bench screen, and a run that is opened again."""

from __future__ import annotations

from typing import Protocol

from app.tui.screens.bench.run_graphs import RunGraphs

GRAPH_COMMANDS = (
    "bench.heat",
    "bench.unit",
    "bench.scale",
    "bench.fit",
    "bench.zoom-in",
    "bench.zoom-out",
)
"""Commands that these actions are for."""


class _Showing(Protocol):
    @property
    def graphs(self) -> RunGraphs: ...

    def say(self, message: str) -> None: ...


class GraphKeys:
    """Actions on the graphs; a screen that has them has `graphs` and `say`."""

    def action_heat(self: _Showing) -> None:
        """Latency as percentiles, or how all of it is spread."""
        self.graphs.switch_lower()

    def action_zoom(self: _Showing, step: int) -> None:
        """Show less or more time."""
        if said := self.graphs.zoom(step):
            self.say(said)

    def action_fit(self: _Showing) -> None:
        """Show the time that there is, or all that the job takes."""
        self.graphs.switch_fit()

    def action_unit(self: _Showing) -> None:
        """IOPS or MiB/s."""
        self.graphs.switch_unit()

    def action_scale(self: _Showing) -> None:
        """Linear or logarithmic latency."""
        self.graphs.switch_scale()
