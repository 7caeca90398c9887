"""Metrics for a monitoring system: settings, states and findings."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "metrics": DoorCommand(
            "app.features.metrics.cli:metrics_command",
            "Settings, states and findings as figures for a monitoring.",
            220,
        )
    },
)
