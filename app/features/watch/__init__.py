"""The feature `watch`: report changes since the last watch."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "watch": DoorCommand(
            "app.features.watch.cli:watch_command",
            "What has changed since last time, what is wrong, what drifted.",
            210,
        )
    },
)
