"""`devices` and `show`: what there is, what may be set, and why not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from app.cli.failures import DONE
from app.cli.opening import host_of, warn_of_journal, workbench
from app.cli.options import current
from app.cli.output import document, say
from app.cli.running import run
from app.engine.view import schema
from backends.errors import RaidbenchError
from backends.model import Array, Controller, Drive, Inventory, Problem, Target
from backends.protocol import KeepsReadings
from backends.settings import Reading
from backends.text import clean

if TYPE_CHECKING:
    from app.engine.workbench import Workbench
    from backends.host import Host
    from backends.registry import Machine
    from backends.settings import Setting


@click.command("devices")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with every setting.")
def devices_command(as_json: bool) -> int:
    """Everything found: controllers, arrays, drives."""
    from app.engine.session.paths import Paths
    from app.engine.session.root_journal import journal_on

    host = host_of(current())
    warn_of_journal(journal_on(host, Paths.default().journal_of(simulated=current().simulated)))
    return run(lambda _: _devices(host, as_json))


async def _devices(host: Host, as_json: bool) -> int:
    from backends.registry import Machine

    machine = Machine.of(host)
    inventory = await machine.probe()
    if as_json:
        settings, problems = await all_settings(machine, inventory)
        inventory = inventory.merge(Inventory(problems=problems))
        document(schema.devices(inventory, settings, host=host.name, simulated=current().simulated))
        return DONE
    from app.cli.devices_text import devices_table

    devices_table(inventory, host.name, simulated=current().simulated)
    for problem in inventory.problems:
        say(f"{clean(problem.where)}: {clean(problem.message, 500)} {clean(problem.hint, 500)}".rstrip())
    return DONE


async def all_settings(machine: Machine, inventory: Inventory) -> tuple[schema.SettingsOf, tuple[Problem, ...]]:
    """Settings of every target; a target that cannot be read becomes a problem."""
    things: tuple[Controller | Array | Drive, ...] = (*inventory.controllers, *inventory.arrays, *inventory.drives)
    problems: list[Problem] = []

    async def ask(target: Target) -> list[schema.Json]:
        try:
            backend = machine.backend(target)
            read = backend.readings if isinstance(backend, KeepsReadings) else machine.read
            return _settings(machine.settings(target), await read(target))
        except RaidbenchError as error:
            problems.append(Problem(where=str(target), message=error.message, hint=error.hint))
            return []

    found = await asyncio.gather(*(ask(thing.target) for thing in things))
    named = {str(thing.target): settings for thing, settings in zip(things, found, strict=True)}
    return named, tuple(problems)


def _settings(declared: tuple[Setting, ...], readings: Mapping[str, Reading]) -> list[schema.Json]:
    return [schema.setting(each, readings[each.key]) for each in declared if each.key in readings]


@click.command("show")
@click.argument("target")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def show_command(target: str, as_json: bool) -> int:
    """Facts and settings of TARGET, what may be changed and why not.

    TARGET is an address as `devices` prints it, or a block device.
    """
    with workbench() as bench:
        return run(lambda _: _show(bench, target, as_json))


async def _show(bench: Workbench, address: str, as_json: bool) -> int:
    found = await bench.find(address)
    declared = bench.settings(found.target)
    readings = await bench.read(found.target)
    queue = bench.session.inventory.twin(found)
    own = () if queue is None else bench.settings(queue.target)
    values = {} if queue is None else await bench.read(queue.target)
    if as_json:
        settings = {str(found.target): _settings(declared, readings)}
        kind = type(found).__name__.lower()
        body = {"host": bench.host.name, "simulated": bench.simulated, "kind": kind}
        shared = None if queue is None else {"address": str(queue.target), "settings": _settings(own, values)}
        document(schema.document(**body, target=schema.thing(bench.remembered(found), settings), queue=shared))
        return DONE
    from app.cli.devices_text import target_page

    parts = [("", declared, readings)]
    if queue is not None:
        parts.append((f"Queue of {queue.device}", own, values))
    target_page(bench.remembered(found), parts)
    return DONE
