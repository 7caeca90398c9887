"""Doctor: what works here, and what is missing."""

from app.doors import Door, DoorCommand

DOOR = Door(
    commands={
        "doctor": DoorCommand(
            path="app.cli.doctor:doctor_command",
            help="What works here, what is missing, what to do.",
            rank=300,
        ),
    },
)
