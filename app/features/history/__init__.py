"""History of the runs of all sessions, and named baselines."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "history": DoorCommand(
            "app.features.history.cli:history_command", "The runs of all sessions, and where their level changed.", 230
        ),
        "baseline": DoorCommand(
            "app.features.history.baseline_cli:baseline_command",
            "Save runs under a name, and measure the same again after an update.",
            250,
        ),
    },
    actions={"show": "app.features.history.screen:show_history"},
)
