"""Fit: answers whether a folder is fast enough and safe enough for a program."""

from app.doors import DoorCommand, FeatureDoor, HelpGroup

DOOR = FeatureDoor(
    commands={
        "fit": DoorCommand(
            "app.features.fit.cli:fit_command",
            "Answer whether a folder is fit for etcd, a database or VMs.",
            HelpGroup.MEASURE,
            105,
        )
    },
    actions={"choices": "app.features.fit.screen:fit_choices", "show": "app.features.fit.screen:show_fit"},
)
