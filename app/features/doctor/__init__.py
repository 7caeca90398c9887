"""Doctor: what works here, and what is missing."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "doctor": DoorCommand(
            path="app.cli.doctor:doctor_command",
            help="What works here, what is missing, what to do.",
            rank=300,
        ),
    },
)
