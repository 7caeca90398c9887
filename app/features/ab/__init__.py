"""Experiments: one setting measured against another value, in pairs."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "ab": DoorCommand(
            "app.cli.ab:ab_command", "Measure one setting against another value, in pairs, and put it back.", 140
        )
    },
    actions={
        "measure_staged": "app.tui.screens.bench.ab:begin_staged",
        "go_on": "app.tui.screens.bench.ab:go_on",
    },
)
