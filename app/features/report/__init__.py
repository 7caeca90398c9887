"""Report: writes a session as a document."""

from app.doors import DoorCommand, FeatureDoor, HelpGroup

DOOR = FeatureDoor(
    commands={
        "report": DoorCommand(
            "app.features.report.cli:report_command", "Write the session as a report.", HelpGroup.REPORTS, 250
        )
    },
    actions={"ask": "app.features.report.screen:ask_export"},
)
