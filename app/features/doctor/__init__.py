"""The feature `doctor`: check what raidbench needs on this machine."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "doctor": DoorCommand(
            "app.features.doctor.cli:doctor_command", "What works here, what is missing, what to do.", 300
        )
    },
)
