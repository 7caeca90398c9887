"""Findings: what of the set-up costs speed or safety."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "check": DoorCommand(
            path="app.cli.check:check_command",
            help="What of the set-up costs speed or safety, without any load.",
            rank=30,
        ),
    },
    actions={
        "findings": "app.tui.findings:CheckFindings",
        "session": "app.engine.check.recording:check_session",
    },
)
