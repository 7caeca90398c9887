"""Metrics: settings, states and findings for a monitoring."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "metrics": DoorCommand(
            path="app.cli.metrics:metrics_command",
            help="Settings, states and findings as figures for a monitoring.",
            rank=220,
        ),
    },
)
