"""Doctor: checks whether raidbench has what it needs on this machine."""

from app.doors import DoorCommand, FeatureDoor, HelpGroup

DOOR = FeatureDoor(
    commands={
        "doctor": DoorCommand(
            "app.features.doctor.cli:doctor_command",
            "Check that raidbench has what it needs on this machine.",
            HelpGroup.MAINTENANCE,
            300,
        )
    },
)
