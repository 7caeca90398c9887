"""The feature `arrays`: create and delete arrays."""

from app.doors import DoorCommand, FeatureDoor, HelpGroup

DOOR = FeatureDoor(
    commands={
        "array": DoorCommand(
            "app.features.arrays.cli:array_command", "List, create and delete arrays.", HelpGroup.ARRAYS, 230
        )
    },
    actions={"create": "app.features.arrays.screen:open_new_array"},
)
