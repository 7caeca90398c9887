"""`capture`: record this machine in a folder, for tests and bug reports."""

from __future__ import annotations

from pathlib import Path

import click

from app.cli.async_runner import run
from app.cli.command import command
from app.cli.exit_status import DONE
from app.cli.options import current
from app.cli.output import Verbatim, lines, print_json, say
from app.cli.session_context import host_of
from app.cli.shared_options import force_option, json_option, redact_option
from app.core.benchmark.provenance import provenance
from app.core.session.machine import machine_facts
from app.core.session.redaction import identifiers, is_replaced_everywhere, redactor_of_inventories, spellings
from backends.errors import RaidbenchError, RefusedError, StorageError
from backends.protocol import LegalValueQuery
from backends.redaction import Redactor, keyed_values
from backends.registry import MachineBackends
from backends.system.recorded import RecordingHost
from backends.text import clean
from widgets.text_utils import units

FILE = "machine.json"


@command("capture", "raidbench capture ./node7", "raidbench --machine ./node7 devices")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--with-legal-values", is_flag=True, help="Record the legal values of each setting, too.")
@redact_option
@force_option
@json_option
def capture_command(folder: Path, with_legal_values: bool, redact: bool, force: bool, as_json: bool) -> int:
    """Record this machine for a test or a bug report.

    DIR gets everything that raidbench reads. Nothing is changed. Serial numbers and WWNs are replaced by pseudonyms of
    the same form.
    """
    file = folder / FILE
    if file.exists() and not force:
        raise RefusedError(f"{clean(str(file), 300)} exists already.", hint="Use another folder, or add --force.")
    return run(lambda _: _capture(folder, redact=redact, legal=with_legal_values, as_json=as_json))


async def _capture(folder: Path, *, redact: bool, legal: bool, as_json: bool) -> int:
    host = RecordingHost(host_of(current()))
    machine = MachineBackends.of(host)
    facts = await machine_facts(host)
    inventory = await machine.probe()
    targets = [device.target for device in inventory.devices]
    for target in targets:
        try:
            await machine.read(target)
            backend = machine.backend(target)
            if legal and isinstance(backend, LegalValueQuery):
                await backend.ask_legal_values(target)
        except RaidbenchError as error:
            say(f"{target}: {clean(error.message, 300)}")
    for device in dict.fromkeys(device.device for device in inventory.block_devices if device.device is not None):
        await provenance(host, inventory, device)
    secrets = set(identifiers(inventory))
    if redact:
        mounts = [line.split()[4] for line in (await host.read("/proc/self/mountinfo") or "").splitlines()]
        names = {keyed_value for text in host.texts() for keyed_value in keyed_values(text)}
        redactor = redactor_of_inventories((inventory,), (facts.host,), mounts, others=names)
    else:
        redactor = Redactor(
            serials={
                spelling for secret in secrets if is_replaced_everywhere(secret) for spelling in spellings(secret)
            },
            patterns=False,
        )
    try:
        host.save(folder, redactor)
    except OSError as error:
        raise StorageError(f"{clean(str(folder), 300)} cannot be written: {error.strerror}.") from error
    if as_json:
        print_json(file=str(folder / FILE), devices=len(targets), masked=len(secrets), redacted=redact)
    else:
        lines([str(folder / FILE)])
    count = units.plural(len(secrets), "serial number or world wide name", "serial numbers and world wide names")
    say(f"{units.plural(len(targets), 'device')} recorded. Masked: {count}.")
    more = "array names" if redact else "host and user names, mount points, labels (--redact masks them, too)"
    say(f"Not masked: models, firmware, {more}. Check the files before you share them.")
    say(Verbatim(f"Try it: raidbench --machine {clean(str(folder), 300)} devices"))
    return DONE
