"""The `hosts` command: shows how hosts differ, prepares hosts, and prints the facts that are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.cli.async_runner import run
from app.cli.command import CliGroup
from app.cli.exit_status import DONE, FOUND
from app.cli.output import lines, paint, print_json, say
from app.cli.session_context import workbench
from app.cli.shared_options import json_option
from app.features.fleet.cli.host_options import host_options
from app.features.fleet.cli.prepare import prepare_command
from backends.errors import RefusedError
from backends.text import clean

if TYPE_CHECKING:
    from app.core.workbench import Workbench

_NAMED, _TIMEOUT, _PROGRAM = host_options(required=True)


@click.group("hosts", cls=CliGroup)
def hosts_command() -> None:
    """Compare and prepare many hosts over SSH.

    A NODESET is node[1-40], or a group such as @raid; !node7 excludes a host.
    """


@hosts_command.command(
    "diff", examples=("raidbench hosts diff node[1-8]", "raidbench hosts diff @raid --export site.toml")
)
@_NAMED
@click.option("--against", metavar="HOST", help="Compare with this host instead of the majority of each role.")
@click.option(
    "--export",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the settings of the majority, or of the host of --against, to FILE for `raidbench apply`.",
)
@_TIMEOUT
@_PROGRAM
@json_option
def diff_command(
    hosts: str,
    against: str | None,
    file: Path | None,
    host_timeout: float | None,
    host_program: str | None,
    as_json: bool,
) -> int:
    """Show how hosts of one role differ.

    Compares hardware, firmware, effective settings, the system and findings of the check. Hosts have the same role if
    they have the same number of controllers and drives of the same models, and the same RAID levels. The value of the
    majority is shown. The exit status is 5 if something differs and 6 if a host is missing.
    """
    from app.features.fleet.cli.query import collect_into, combined_status, gather, print_losses
    from app.features.fleet.hosts.difference_rows import comparison_json, difference_rows, role_heading
    from app.features.fleet.hosts.differences import compare_hosts
    from app.features.fleet.hosts.facts import HostFacts, host_facts
    from app.features.fleet.hosts.grouping import HostResponses, counts_json, losses_json
    from app.features.fleet.ssh.nodesets import parse_hosts

    (first,) = (None,) if against is None else parse_hosts(against)
    gathered = HostResponses(asked=parse_hosts(hosts if first is None else f"{hosts},{first}"))
    fields: dict[str, tuple[HostFacts, Mapping[str, Any]]] = {}
    collect = collect_into(
        gathered,
        fields,
        lambda answer: (host_facts(answer.host, answer.document), {"targets": answer.document.get("targets")}),
    )
    argv = ("hosts", "facts", "--json", *(("--settings",) if file is not None else ()))
    gather(gathered, argv, seconds=host_timeout, program=host_program, take=collect)
    host_facts_list = [fields[host][0] for host in gathered.asked if host in fields]
    if first is not None and first not in fields:
        say(f"{first} did not respond, so nothing is compared with it.")
        host_facts_list = []
    comparison = compare_hosts(host_facts_list, first)
    if as_json:
        counts = counts_json(gathered)
        print_json(**comparison_json(comparison), missing=losses_json(gathered), counts=counts)
    else:
        for role in comparison.roles:
            rows = list(difference_rows(comparison, role))
            lines([paint(role_heading(role), "bold"), *(rows or ["  no differences"])])
    print_losses(gathered)
    if file is not None and host_facts_list:
        if len(comparison.roles) > 1:
            raise RefusedError(
                f"Nothing was written: the hosts have {len(comparison.roles)} roles, but a settings file is for one"
                " role.",
                hint="Specify hosts of one role, or use --against HOST.",
            )
        most_of = comparison.roles[0].hosts if first is None else (first,)
        _write_majority([fields[host][1] for host in most_of], file)
    return combined_status(gathered, FOUND if comparison.differences else DONE)


def _write_majority(documents: Sequence[Mapping[str, Any]], file: Path) -> None:
    """Write the settings that more than half of the hosts have in common to a file.

    Raises RefusedError if there are none, and whatever `write_settings` raises.
    """
    from app.features.apply.exporting import write_settings
    from app.features.fleet.hosts.majority_config import majority_settings

    most = majority_settings(documents)
    if not most.targets:
        raise RefusedError("Nothing was written: no setting has the same value on more than half of the hosts.")
    write_settings(file, most.targets)
    for name in most.left_out:
        say(clean(f"Omitted, because no value is on more than half of the hosts: {name}", 300))
    say(f"Written to {clean(str(file), 300)}")


hosts_command.add_command(prepare_command)


@hosts_command.command("facts", examples=("raidbench hosts facts --json",))
@click.option(
    "--settings", is_flag=True, help="With --json: include the output of `raidbench export --by-model --json`."
)
@json_option
def facts_command(settings: bool, as_json: bool) -> int:
    """Print the facts of this host that `raidbench hosts diff` compares.

    Facts that are unique to a host, such as serial numbers, are left out.
    """
    if settings and not as_json:
        raise click.UsageError("--settings needs --json.")
    with workbench(quiet=True) as bench:
        body = run(lambda _: _facts(bench, settings=settings))
    if as_json:
        print_json(host=bench.host.name, **body)
        return DONE
    say(f"raidbench {body['program']}, kernel {clean(str(body['kernel']), 64)}")
    lines(f"{clean(item['address'])}  {clean(item['of'])}{_settings(item)}" for item in body["things"])
    return DONE


def _settings(record: Mapping[str, Any]) -> str:
    settings = ", ".join(f"{key}={value}" for key, value in record["setting"].items())
    return f"  {clean(settings, 600)}" if settings else ""


async def _facts(bench: Workbench, *, settings: bool) -> dict[str, Any]:
    from app.features.check.collector import gather
    from app.features.check.runner import evaluate
    from app.features.fleet.hosts.facts import facts_json

    inventory = await bench.hardware.probe()
    readings, problems = await bench.hardware.machine.read_devices(inventory)
    checked = evaluate(await gather(bench.host, inventory, readings), problems=problems)
    kernel = clean(await bench.host.read("/proc/sys/kernel/osrelease") or "", 64)
    body = facts_json(inventory, readings, checked, kernel)
    if settings:
        from app.features.apply.exporting import export_targets
        from app.features.apply.presentation import export_json
        from app.features.apply.selectors import all_devices

        targets, _ = await export_targets(bench, all_devices(inventory), by_model=True)
        body["targets"] = export_json(targets)
    return body
