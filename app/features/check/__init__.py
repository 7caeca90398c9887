"""Check the configuration for performance and safety problems."""

from app.doors import DoorCommand, FeatureDoor, HelpGroup

DOOR = FeatureDoor(
    commands={
        "check": DoorCommand(
            "app.features.check.cli:check_command",
            "Check the configuration for faults and slow settings.",
            HelpGroup.LOOK,
            30,
        )
    },
    actions={
        "beneath": "app.features.check.beneath:check_beneath",
        "findings": "app.features.check.tracker:CheckFindings",
        "session": "app.features.check.runner:check_session",
        "show": "app.features.check.screen:show_findings",
    },
)
