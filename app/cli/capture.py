"""`capture`: this machine in a folder, for tests and bug reports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from app.cli.failures import DONE
from app.cli.opening import host_of
from app.cli.options import current
from app.cli.output import lines, say
from app.cli.running import run
from app.engine.session.machine import machine_facts
from backends.errors import RaidbenchError, RefusedError, StorageError
from backends.hosts.recorded import RecordingHost
from backends.model import Inventory
from backends.registry import Machine
from backends.text import clean
from widgets.plain import units

FILE = "machine.json"
_SHORTEST = 4


@click.command("capture")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--force", is_flag=True, help="Replace an earlier recording.")
def capture_command(folder: Path, force: bool) -> int:
    """Record this machine into DIR: everything raidbench reads, nothing is changed.

    Serial numbers and world wide names are replaced by stand-ins of the same shape.
    """
    file = folder / FILE
    if file.exists() and not force:
        raise RefusedError(f"{clean(str(file), 300)} is there already.", hint="Name another folder, or add --force.")
    return run(lambda _: _capture(folder))


async def _capture(folder: Path) -> int:
    host = RecordingHost(host_of(current()))
    machine = Machine.of(host)
    await machine_facts(host)
    inventory = await machine.probe()
    targets = [thing.target for thing in inventory.controllers]
    targets += [thing.target for thing in inventory.arrays]
    targets += [thing.target for thing in inventory.drives]
    for target in targets:
        try:
            await machine.read(target)
        except RaidbenchError as error:
            say(f"{target}: {clean(error.message, 300)}")
    secrets = set(filter(None, _identifiers(inventory)))
    try:
        host.save(folder, secrets=sorted({spelling for secret in secrets for spelling in _spellings(secret)}))
    except OSError as error:
        raise StorageError(f"{clean(str(folder), 300)} cannot be written: {error.strerror}.") from error
    lines([str(folder / FILE)])
    count = units.plural(len(secrets), "serial number or world wide name", "serial numbers and world wide names")
    say(f"{units.plural(len(targets), 'device')} recorded. Masked: {count}.")
    say("Not masked: host name, models, firmware, mount points, labels. Read it before you give it away.")
    say(f"Try it: raidbench --machine {clean(str(folder), 300)} devices")
    return DONE


def _identifiers(inventory: Inventory) -> Iterator[str | None]:
    """What tells one device from all others."""
    for controller in inventory.controllers:
        yield controller.serial
    identities = [array.identity for array in inventory.arrays] + [drive.identity for drive in inventory.drives]
    for identity in identities:
        if identity is not None:
            yield from (identity.serial, identity.wwn)
    for drive in inventory.drives:
        yield from (drive.serial, drive.wwn)


def _spellings(text: str) -> Iterator[str]:
    """An identifier without its prefix (`naa.`, `eui.`, `0x`), in either case, with blanks or with udev's underscores.

    Short ones are left: they would be found in the middle of other words.
    """
    bare = re.sub(r"^(?:naa|eui|uuid|nvme)\.|^0x", "", text)
    if len(bare) < _SHORTEST:
        return
    for spelling in (bare, bare.lower(), bare.upper()):
        yield spelling
        yield re.sub(r"\s+", "_", spelling)
    if re.fullmatch(r"5[0-9a-f]{15}", bare.lower()):  # smartctl tells the last 36 bits as a number
        yield str(int(bare[7:], 16))
