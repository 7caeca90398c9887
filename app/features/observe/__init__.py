"""Observe: what a disk does, which services wait for storage, and what follows from it."""

from app.doors import DoorCommand, FeatureDoor, HelpGroup

DOOR = FeatureDoor(
    commands={
        "observe": DoorCommand(
            "app.features.observe.cli:observe_command",
            "Show what a disk does and which services wait.",
            HelpGroup.LOOK,
            35,
        )
    },
    actions={"show": "app.features.observe.screen:show_observation"},
)
