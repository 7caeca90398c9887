"""Plots: runs, experiments and sweeps as pictures."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "plot": DoorCommand(
            path="app.cli.plot:plot_command",
            help="A picture of runs, an A/B, a sweep or all sessions of a target.",
            rank=240,
        ),
    },
    actions={
        "plots.run": "app.engine.picture.making:run_picture",
        "plots.sides": "app.engine.picture.making:sides_picture",
        "plots.sweep": "app.engine.picture.making:sweep_picture",
        "plots.run_lines": "app.cli.still_picture:run_lines",
        "plots.sweep_lines": "app.cli.still_picture:sweep_lines",
        "plots.explore": "app.tui.screens.explore.screen:open_explore",
    },
)
