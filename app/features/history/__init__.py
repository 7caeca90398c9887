"""The feature `history`: the runs of all sessions over time, and named baselines."""

from app.doors import DoorCommand, FeatureDoor, HelpGroup

DOOR = FeatureDoor(
    commands={
        "history": DoorCommand(
            "app.features.history.cli:history_command",
            "List the runs of all sessions and where results changed.",
            HelpGroup.COMPARE,
            200,
        ),
        "baseline": DoorCommand(
            "app.features.history.baseline_cli:baseline_command",
            "Save runs as a baseline and measure against it later.",
            HelpGroup.COMPARE,
            210,
        ),
    },
    actions={"show": "app.features.history.screen:show_history"},
)
