"""Fleet: many hosts at once."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "hosts": DoorCommand(
            path="app.cli.hosts_command:hosts_command",
            help="Many hosts: what is not equal among them, and what each needs.",
            rank=310,
        ),
    },
    screens={
        "hosts": "app.tui.screens.hosts.screen:HostsScreen",
    },
)
