"""History: the runs of all sessions, and named baselines."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "history": DoorCommand(
            "app.cli.history:history_command", "The runs of all sessions, and where their level changed.", 230
        ),
        "baseline": DoorCommand(
            "app.cli.baseline:baseline_command",
            "Save runs under a name, and measure the same again after an update.",
            250,
        ),
    },
    actions={"show": "app.tui.screens.history.screen:show_history"},
)
