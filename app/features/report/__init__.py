"""Report: a session as a document."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "report": DoorCommand(
            path="app.cli.report:report_command",
            help="The session as a document.",
            rank=270,
        ),
    },
    actions={
        "ask": "app.tui.export:ask_export",
    },
)
