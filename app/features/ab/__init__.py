"""A/B experiments: measure one setting against another value, in pairs of runs."""

from app.doors import DoorCommand, FeatureDoor, HelpGroup

DOOR = FeatureDoor(
    commands={
        "ab": DoorCommand(
            "app.features.ab.cli:ab_command",
            "Compare two values of a setting by paired runs.",
            HelpGroup.MEASURE,
            120,
        )
    },
    actions={
        "measure_staged": "app.features.ab.screen:begin_staged",
        "go_on": "app.features.ab.screen:go_on",
    },
)
