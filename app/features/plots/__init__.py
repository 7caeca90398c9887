"""Plots: runs, experiments and sweeps as pictures."""

from app.doors import Door, DoorCommand

DOOR = Door(
    commands={
        "plot": DoorCommand(
            path="app.cli.plot:plot_command",
            help="A picture of runs, an A/B, a sweep or all sessions of a target.",
            rank=240,
        ),
    },
    actions={
        "plots.explore": "app.tui.screens.explore.screen:open_explore",
    },
)
