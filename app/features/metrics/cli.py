"""The `metrics` command, which exports settings, states and findings to a monitoring system."""

from __future__ import annotations

from pathlib import Path

import click

from app.cli.async_runner import run
from app.cli.command import command
from app.cli.exit_status import DONE
from app.cli.options import current, over_hosts
from app.cli.output import data, is_text_wanted, print_json, say
from app.cli.session_context import host_of
from app.cli.shared_options import json_option, output_option, unit_option
from backends.text import clean

TEXTFILE = "/var/lib/prometheus/node-exporter/raidbench.prom"
"""Default file of the systemd unit. Debian's node_exporter reads this folder (--collector.textfile.directory)."""


@command("metrics", "raidbench metrics -o raidbench.prom", "raidbench metrics --unit")
@output_option()
@click.option("--no-serials", is_flag=True, help="Leave serial numbers and WWNs out of the info metrics.")
@unit_option
@click.option("--alerts", is_flag=True, help="Print alerting rules for Prometheus.")
@click.option("--board", is_flag=True, help="Print a Grafana dashboard.")
@json_option
@over_hosts("output", "unit", "alerts", "board")
def metrics_command(
    output: Path | None, no_serials: bool, unit: str | None, alerts: bool, board: bool, as_json: bool
) -> int:
    """Export settings, states and findings as OpenMetrics.

    For the textfile collector of node_exporter, name a FILE that ends in .prom. The command does not listen on a port.
    """
    if (unit is not None) + alerts + board + as_json > 1:
        raise click.UsageError("--unit, --alerts, --board and --json cannot be combined.")
    if alerts or board:
        from app.features.metrics.alerts import board_text, rules_text

        return _print_or_write(rules_text() if alerts else board_text(), None)
    if unit is not None:
        return _print_or_write(_units(unit, output or Path(TEXTFILE), no_serials), None)
    return run(lambda _: _metrics(output, serials=not no_serials, as_json=as_json))


async def _metrics(output: Path | None, *, serials: bool, as_json: bool) -> int:
    from app.features.metrics.openmetrics import metrics_text, take_snapshot
    from backends.registry import MachineBackends

    snapshot = await take_snapshot(MachineBackends.of(host_of(current())))
    if as_json:
        from app.features.metrics.openmetrics import metrics_json

        print_json(metrics=metrics_json(snapshot, serials=serials))
        if not is_text_wanted():
            return DONE
    return _print_or_write(metrics_text(snapshot, serials=serials), output)


def _print_or_write(text: str, output: Path | None) -> int:
    if output is None:
        data(text.rstrip("\n"))
        return DONE
    from app.features.metrics.openmetrics import write

    write(output, text)
    say(f"Written to {clean(str(output), 300)}")
    return DONE


def _units(which: str, file: Path, no_serials: bool) -> str:
    from app.core.changes.systemd_units import units_text
    from backends.self_exec import persistent_argv

    command = (
        *persistent_argv(),
        "metrics",
        "--output",
        str(file.absolute()),
        *(["--no-serials"] if no_serials else []),
    )
    return units_text(
        "raidbench-metrics",
        which,
        command,
        description="Metrics of storage settings and health",
        calendar="*:0/5",
        spread="30s",
    )
