"""Watch: reports changes since the last watch."""

from app.doors import DoorCommand, FeatureDoor, HelpGroup

DOOR = FeatureDoor(
    commands={
        "watch": DoorCommand(
            "app.features.watch.cli:watch_command",
            "Report changes, new findings and drift since the last watch.",
            HelpGroup.REPORTS,
            280,
        )
    },
)
