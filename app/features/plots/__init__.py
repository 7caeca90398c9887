"""Plots: runs, experiments and sweeps as pictures."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "plot": DoorCommand(
            "app.features.plots.cli:plot_command",
            "A picture of runs, an A/B, a sweep or all sessions of a target.",
            240,
        )
    },
    actions={
        "run": "app.features.plots.builder:run_picture",
        "sides": "app.features.plots.builder:sides_picture",
        "sweep": "app.features.plots.builder:sweep_picture",
        "run_lines": "app.features.plots.cli:run_lines",
        "sweep_lines": "app.features.plots.cli:sweep_lines",
        "history": "app.features.plots.builder:history_picture",
        "history_lines": "app.features.plots.cli:history_lines",
        "session_lines": "app.features.plots.builder:session_lines",
        "explore": "app.features.plots.screen.screen:open_explore",
    },
)
