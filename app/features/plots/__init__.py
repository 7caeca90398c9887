"""Plots: runs, experiments and sweeps as pictures."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "plot": DoorCommand(
            "app.cli.plot:plot_command", "A picture of runs, an A/B, a sweep or all sessions of a target.", 240
        )
    },
    actions={
        "run": "app.engine.picture.making:run_picture",
        "sides": "app.engine.picture.making:sides_picture",
        "sweep": "app.engine.picture.making:sweep_picture",
        "run_lines": "app.cli.plot:run_lines",
        "sweep_lines": "app.cli.plot:sweep_lines",
        "history": "app.engine.picture.histories:history_picture",
        "history_lines": "app.cli.plot:history_lines",
        "session_lines": "app.engine.picture.making:session_lines",
        "explore": "app.tui.screens.explore.screen:open_explore",
    },
)
