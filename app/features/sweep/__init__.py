"""Sweeps: many set-ups measured under many workloads."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "sweep": DoorCommand(
            "app.cli.sweep:sweep_command", "Measure many set-ups under many workloads, and put everything back.", 150
        ),
        "curve": DoorCommand(
            "app.cli.curve:curve_command", "Measure throughput against latency, and find the knee.", 160
        ),
        "attach": DoorCommand(
            "app.cli.attach:attach_command", "Show a sweep that runs in the background, or stop it.", 170
        ),
    },
    screens={"sweep": "app.tui.screens.sweep.screen:SweepScreen"},
    background={"sweep": "app.tui.screens.sweep.control:Sweeping"},
    actions={
        "give_up": "app.engine.sweep.runner:give_up",
        "shipped": "app.engine.sweep.shipped:shipped",
        "screen_options": "app.cli.sweep_background:screen_options",
        "compare_levels": "app.tui.screens.sweep.control:compare_levels",
    },
)
