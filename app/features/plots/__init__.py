"""Plots of runs, experiments and sweeps."""

from app.doors import DoorCommand, FeatureDoor, HelpGroup

DOOR = FeatureDoor(
    commands={
        "plot": DoorCommand(
            "app.features.plots.cli:plot_command",
            "Draw runs, an A/B, a sweep or the history of a target.",
            HelpGroup.COMPARE,
            220,
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
