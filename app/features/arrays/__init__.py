"""Arrays: created and deleted."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "array": DoorCommand(
            "app.cli.array:array_command", "The arrays, the drives that one can be made of, and what makes one.", 40
        )
    },
    actions={"create": "app.tui.screens.devices.new_array:open_new_array"},
)
