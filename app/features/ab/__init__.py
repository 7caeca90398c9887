"""Experiments: one setting measured against another value, in pairs."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "ab": DoorCommand(
            path="app.cli.ab:ab_command",
            help="Measure one setting against another value, in pairs, and put it back.",
            rank=140,
        ),
    },
    actions={
        "measure_staged": "app.tui.screens.bench.ab:begin_staged",
        "go_on": "app.tui.screens.bench.ab:go_on",
    },
)
