"""Watch: what changed since last time."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "watch": DoorCommand(
            path="app.cli.watch:watch_command",
            help="What has changed since last time, what is wrong, what drifted.",
            rank=210,
        ),
    },
)
