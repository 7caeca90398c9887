"""Findings: what of the set-up costs speed or safety."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "check": DoorCommand(
            "app.cli.check:check_command", "What of the set-up costs speed or safety, without any load.", 30
        )
    },
    actions={
        "findings": "app.tui.findings:CheckFindings",
        "session": "app.engine.check.checking:check_session",
    },
)
