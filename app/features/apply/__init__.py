"""Settings as a file: written, compared, applied."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "export": DoorCommand(
            path="app.cli.export:export_command",
            help="The settings of the machine as a file.",
            rank=90,
        ),
        "apply": DoorCommand(
            path="app.cli.apply:apply_command",
            help="Make the machine what such a file says, or tell how it differs.",
            rank=100,
        ),
    },
    actions={
        "drift": "app.tui.drifted:SettingsDrift",
        "export": "app.tui.screens.devices.exporting:export_settings",
    },
)
