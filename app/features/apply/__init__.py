"""Settings as a file: written, compared, applied."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "export": DoorCommand("app.cli.export:export_command", "The settings of the machine as a file.", 90),
        "apply": DoorCommand(
            "app.cli.apply:apply_command", "Make the machine what such a file says, or tell how it differs.", 100
        ),
    },
    actions={
        "drift": "app.tui.drifted:SettingsDrift",
        "export": "app.tui.screens.devices.exporting:export_settings",
    },
)
