"""Arrays: created and deleted."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "array": DoorCommand(
            path="app.cli.array:array_command",
            help="The arrays, the drives that one can be made of, and what makes one.",
            rank=40,
        ),
    },
    actions={
        "create": "app.tui.screens.devices.new_array:open_new_array",
    },
)
