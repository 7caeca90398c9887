"""Sweeps: many set-ups measured under many workloads."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "sweep": DoorCommand(
            path="app.cli.sweep:sweep_command",
            help="Measure many set-ups under many workloads, and put everything back.",
            rank=150,
        ),
        "curve": DoorCommand(
            path="app.cli.curve:curve_command",
            help="Measure throughput against latency, and find the knee.",
            rank=160,
        ),
        "attach": DoorCommand(
            path="app.cli.attach:attach_command",
            help="Show a sweep that runs in the background, or stop it.",
            rank=170,
        ),
    },
    screens={
        "sweep": "app.tui.screens.sweep.screen:SweepScreen",
    },
    background={
        "sweep": "app.tui.screens.sweep.control:Sweeping",
    },
    actions={
        "give_up": "app.engine.sweep.runner:give_up",
        "shipped": "app.engine.sweep.shipped:shipped",
        "screen_options": "app.cli.sweep_background:screen_options",
        "compare_levels": "app.tui.screens.sweep.control:compare_levels",
    },
)
