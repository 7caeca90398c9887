"""Settings as a file: export, compare and apply."""

from app.doors import DoorCommand, FeatureDoor, HelpGroup

DOOR = FeatureDoor(
    commands={
        "export": DoorCommand(
            "app.features.apply.export_cli:export_command",
            "Write the machine's settings to a file.",
            HelpGroup.CHANGE,
            80,
        ),
        "apply": DoorCommand(
            "app.features.apply.cli:apply_command",
            "Apply a settings file, or show how the machine differs.",
            HelpGroup.CHANGE,
            90,
        ),
    },
    actions={
        "drift": "app.features.apply.drift_screen:SettingsDrift",
        "export": "app.features.apply.export_screen:export_settings",
    },
)
