"""Slowest member: the drives of an array read in turn."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "slowest": DoorCommand(
            "app.features.slowest.cli:slowest_command", "Which member of an array is slower than its siblings.", 120
        )
    },
    actions={"show": "app.features.slowest.screen:show_slowest"},
)
