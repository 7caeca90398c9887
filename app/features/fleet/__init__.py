"""Fleet: commands and screens for many hosts at once."""

from app.doors import DoorCommand, FeatureDoor, HelpGroup

DOOR = FeatureDoor(
    commands={
        "hosts": DoorCommand(
            "app.features.fleet.cli.hosts:hosts_command",
            "Compare and prepare many hosts over SSH.",
            HelpGroup.HOSTS,
            240,
        )
    },
    actions={
        "over_hosts": "app.features.fleet.cli.host_options:over_hosts",
        "named": "app.features.fleet.cli.query:open_fleet",
        "measure": "app.features.fleet.cli.bench:measure_on_hosts",
        "on_leash": "app.features.fleet.cli.bench_remote:run_remote_controlled",
        "records": "app.features.fleet.multihost.record:joint_records",
        "table": "app.features.fleet.multihost.presentation:joint_table",
        "sentences": "app.features.fleet.multihost.presentation:joint_sentences",
        "document": "app.features.fleet.multihost.presentation:joint_json",
    },
    screens={"hosts": "app.features.fleet.screen.screen:HostsScreen"},
)
