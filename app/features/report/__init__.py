"""Report: a session as a document."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={"report": DoorCommand("app.cli.report:report_command", "The session as a document.", 270)},
    actions={"ask": "app.tui.export:ask_export"},
)
