"""`devices` and `show`: list devices and their settings, with the reasons why a setting cannot be changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from app.cli.async_runner import Interruption, run
from app.cli.command import command
from app.cli.exit_status import DONE
from app.cli.options import current, over_hosts
from app.cli.output import document, is_text_wanted, print_json, say
from app.cli.session_context import host_of, on_workbench, remember_scan, report_trials, warn_of_journal
from app.cli.shared_options import json_option
from app.core.presentation import json_schema
from backends.did_you_mean import suggestion_hint
from backends.errors import InvalidValueError
from backends.model import Inventory, Problem, kind_of
from backends.settings import Reading
from backends.text import clean

if TYPE_CHECKING:
    from app.core.workbench import Workbench
    from backends.host import Host
    from backends.registry import MachineBackends
    from backends.settings import Setting


@command("devices", "raidbench devices", "raidbench devices --columns name,state,size --wide")
@json_option
@click.option("--wide", is_flag=True, help="Show every column and member, even if the terminal is narrower.")
@click.option(
    "--columns", metavar="NAME,...", help="Columns to show, in this order. To list all columns, give an unknown name."
)
@over_hosts()
def devices_command(as_json: bool, wide: bool, columns: str | None) -> int:
    """List controllers, arrays and drives.

    The table shows the state and the main settings of each. Healthy members of an array share one row unless --wide is
    given.
    """
    from app.core.changes.pending_trials import UndecidedTrials
    from app.core.session.journals import journal_on

    host = host_of(current())
    paths = current().paths
    journal = journal_on(host, paths.journal)
    warn_of_journal(journal)
    report_trials(UndecidedTrials(journal, host.root_side or paths.locks))
    chosen = parse_columns(columns)
    return run(lambda _: _devices(host, chosen, as_json=as_json, wide=wide))


async def _devices(host: Host, columns: tuple[str, ...], *, as_json: bool, wide: bool) -> int:
    """List the devices, as JSON or as a table."""
    from backends.registry import MachineBackends

    machine = MachineBackends.of(host)
    if as_json:
        inventory = await machine.probe()
        settings, problems = await all_settings(machine, inventory)
        inventory = inventory.merge(Inventory(problems=problems))
        remember_scan(machine, inventory)
        fields = json_schema.devices(inventory, settings, host=host.name, simulated=current().simulated)
        document(fields)
        if is_text_wanted():
            from app.cli.devices_progress import tunings
            from app.cli.devices_text import list_heading, print_device_list

            head = list_heading(host.name, simulated=current().simulated)
            print_device_list(inventory, head, await tunings(machine, inventory), columns, wide=wide)
            _report_problems(inventory)
        return DONE
    from app.cli.devices_progress import DevicesProgress

    inventory = await DevicesProgress(machine, columns, wide=wide, simulated=current().simulated).run()
    remember_scan(machine, inventory)
    _report_problems(inventory)
    return DONE


def _report_problems(inventory: Inventory) -> None:
    for problem in inventory.problems:
        say(f"{clean(problem.where)}: {clean(problem.message, 500)} {clean(problem.hint, 500)}".rstrip())


def parse_columns(text: str | None) -> tuple[str, ...]:
    """Return the column keys in the value of --columns; () if it was not given. Raises InvalidValueError for others."""
    from app.core.presentation.device_table import KEYS

    named = tuple(filter(None, (word.strip() for word in (text or "").split(","))))
    unknown = [word for word in named if word not in KEYS]
    if unknown or text == "":
        raise InvalidValueError(
            f"Unknown column: {clean(', '.join(unknown))!r}.",
            hint=suggestion_hint("".join(unknown[:1]), KEYS, f"Columns: {', '.join(KEYS)}."),
        )
    return named


async def all_settings(
    machine: MachineBackends, inventory: Inventory
) -> tuple[json_schema.SettingsOf, tuple[Problem, ...]]:
    """Return the settings of each target (None for one that cannot be read), and the problems of unreadable targets."""
    readings, problems = await machine.read_devices(
        inventory
    )  # before `settings`: only then do the backends know which settings exist
    settings_of: dict[str, list[json_schema.Json] | None] = {str(device.target): None for device in inventory.devices}
    settings_of |= {str(target): _settings(machine.settings(target), values) for target, values in readings.items()}
    return settings_of, problems


def _settings(declared: tuple[Setting, ...], readings: Mapping[str, Reading]) -> list[json_schema.Json]:
    return [json_schema.setting(setting, readings[setting.key]) for setting in declared if setting.key in readings]


@command("show", "raidbench show md:md0", "raidbench show /dev/sda --json")
@click.argument("target")
@json_option
@over_hosts()
def show_command(target: str, as_json: bool) -> int:
    """Show the facts and settings of one target.

    TARGET is an address as `raidbench devices` prints it, or a block device. Settings that cannot be changed show the
    reason.
    """
    return on_workbench(_show, target, as_json)


async def _show(bench: Workbench, _: Interruption, address: str, as_json: bool) -> int:
    device = await bench.hardware.find(address)
    readings = await bench.hardware.read(device.target)
    declared = bench.hardware.settings(device.target)  # after `read`: only then does the backend know them
    queue = bench.session.inventory.twin(device)
    queue_settings = () if queue is None else bench.hardware.settings(queue.target)
    values = {} if queue is None else await bench.hardware.read(queue.target)
    if as_json:
        settings = {str(device.target): _settings(declared, readings)}
        kind = kind_of(device)
        body = {"host": bench.host.name, "simulated": bench.simulated, "kind": kind}
        shared = (
            None if queue is None else {"address": str(queue.target), "settings": _settings(queue_settings, values)}
        )
        shown = bench.jobs.with_history(device)
        fields = {
            **json_schema.device_json(shown, settings),
            **json_schema.names_and_addresses(bench.session.inventory, device),
        }
        print_json(**body, target=fields, queue=shared)
        if not is_text_wanted():
            return DONE
    from app.cli.devices_text import print_target

    parts = [("", declared, readings)]
    if queue is not None:
        parts.append((f"Queue of {queue.device}", queue_settings, values))
    print_target(bench.jobs.with_history(device), parts)
    return DONE
