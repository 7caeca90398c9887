"""Settings as a file: export, compare and apply."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "export": DoorCommand(
            "app.features.apply.export_cli:export_command", "The settings of the machine as a file.", 90
        ),
        "apply": DoorCommand(
            "app.features.apply.cli:apply_command",
            "Make the machine what such a file says, or tell how it differs.",
            100,
        ),
    },
    actions={
        "drift": "app.features.apply.drift_screen:SettingsDrift",
        "export": "app.features.apply.export_screen:export_settings",
    },
)
