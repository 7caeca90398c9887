"""Slowest: finds slow or hung members of an array."""

from app.doors import DoorCommand, FeatureDoor, HelpGroup

DOOR = FeatureDoor(
    commands={
        "slowest": DoorCommand(
            "app.features.slowest.cli:slowest_command",
            "Find slow or hung members of an array.",
            HelpGroup.MEASURE,
            150,
        )
    },
    actions={"show": "app.features.slowest.screen:show_slowest"},
)
