"""The feature `slowest`: find slow or hung members of an array."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "slowest": DoorCommand(
            "app.features.slowest.cli:slowest_command", "Which member of an array is slower than its siblings.", 120
        )
    },
    actions={"show": "app.features.slowest.screen:show_slowest"},
)
