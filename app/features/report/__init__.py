"""Report: a session as a document."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={"report": DoorCommand("app.features.report.cli:report_command", "The session as a document.", 270)},
    actions={"ask": "app.features.report.screen:ask_export"},
)
