"""The feature `arrays`: create and delete arrays."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "array": DoorCommand(
            "app.features.arrays.cli:array_command",
            "The arrays, the drives that one can be made of, and what makes one.",
            40,
        )
    },
    actions={"create": "app.features.arrays.screen:open_new_array"},
)
