"""Fleet: many hosts at once."""

from app.doors import DoorCommand, FeatureDoor

DOOR = FeatureDoor(
    commands={
        "hosts": DoorCommand(
            "app.cli.hosts_command:hosts_command", "Many hosts: what is not equal among them, and what each needs.", 310
        )
    },
    actions={
        "over_hosts": "app.cli.hosts:over_hosts",
        "named": "app.cli.hosts_asking:fleet_named",
        "measure": "app.cli.bench_hosts:measure_on_hosts",
        "on_leash": "app.cli.bench_leash:on_leash",
        "records": "app.engine.joint.record:joint_records",
        "table": "app.engine.view.joint:joint_table",
        "sentences": "app.engine.view.joint:joint_sentences",
        "document": "app.engine.view.joint:joint_json",
    },
    screens={"hosts": "app.tui.screens.hosts.screen:HostsScreen"},
)
