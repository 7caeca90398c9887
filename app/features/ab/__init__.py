"""A/B experiments: measure one setting against another value, in pairs of runs."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "ab": DoorCommand(
            "app.features.ab.cli:ab_command",
            "Measure one setting against another value, in pairs, and put it back.",
            140,
        )
    },
    actions={
        "measure_staged": "app.features.ab.screen:begin_staged",
        "go_on": "app.features.ab.screen:go_on",
    },
)
