"""History: the runs of all sessions, and named baselines."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "history": DoorCommand(
            path="app.cli.history:history_command",
            help="The runs of all sessions, and where their level changed.",
            rank=230,
        ),
        "baseline": DoorCommand(
            path="app.cli.baseline:baseline_command",
            help="Save runs under a name, and measure the same again after an update.",
            rank=250,
        ),
    },
    actions={
        "show": "app.tui.screens.history.screen:show_history",
    },
)
