"""Check the configuration for performance and safety problems."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "check": DoorCommand(
            "app.features.check.cli:check_command", "What of the set-up costs speed or safety, without any load.", 30
        )
    },
    actions={
        "findings": "app.features.check.screen:CheckFindings",
        "session": "app.features.check.runner:check_session",
    },
)
