"""Metrics: exports settings, states and findings to a monitoring system."""

from app.doors import DoorCommand, FeatureDoor, HelpGroup

DOOR = FeatureDoor(
    commands={
        "metrics": DoorCommand(
            "app.features.metrics.cli:metrics_command",
            "Export settings, states and findings as OpenMetrics.",
            HelpGroup.REPORTS,
            290,
        )
    },
)
