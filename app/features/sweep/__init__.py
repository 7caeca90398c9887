"""Sweeps: measure many set-ups under many workloads."""

from app.doors import DoorCommand, FeatureDoor, HelpGroup

DOOR = FeatureDoor(
    commands={
        "sweep": DoorCommand(
            "app.features.sweep.cli.sweep:sweep_command",
            "Measure every combination of settings and workloads.",
            HelpGroup.MEASURE,
            130,
        ),
        "curve": DoorCommand(
            "app.features.sweep.cli.load_curve:curve_command",
            "Measure throughput against latency and find the knee.",
            HelpGroup.MEASURE,
            140,
        ),
        "attach": DoorCommand(
            "app.features.sweep.cli.attach:attach_command",
            "Follow or stop a sweep that runs in the background.",
            HelpGroup.MEASURE,
            160,
        ),
    },
    screens={"sweep": "app.features.sweep.screen.screen:SweepScreen"},
    background={"sweep": "app.features.sweep.screen.sweep_control:SweepController"},
    actions={
        "give_up": "app.features.sweep.engine.runner:restore_and_stop",
        "shipped": "app.features.sweep.engine.builtin_plans:plan_files",
        "screen_options": "app.features.sweep.cli.background:screen_options",
        "compare_levels": "app.features.sweep.screen.sweep_control:compare_levels",
    },
)
