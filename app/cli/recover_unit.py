"""`recover --install-unit` and `--remove-unit`: a systemd unit that reverts unfinished trials at boot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.cli.confirm import confirm_harmless
from app.cli.exit_status import DONE
from app.cli.options import current
from app.cli.output import lines, say
from app.cli.session_context import refuse_read_only
from app.core.changes import systemd_units
from backends.errors import RefusedError
from backends.self_exec import persistent_argv

if TYPE_CHECKING:
    from app.core.workbench import Workbench
    from backends.host import Host


async def install(bench: Workbench, *, dry: bool, yes: bool) -> int:
    """Show the unit, ask, then write and enable it.

    Raises RefusedError, StorageError, ToolFailedError.
    """
    host = _this_machine(bench)
    side = host.root_side
    if side is None:
        unit = await systemd_units.plan_unit(host, persistent_argv(), bench.changes.journal.file)
    else:
        unit = systemd_units.BootUnit(**await side.ask("unit", do="plan"))
    say(f"{systemd_units.PATH} {'contains' if unit.there else 'will contain'}:")
    for row in unit.text.splitlines():
        say(f"  {row}" if row else "")
    say()
    if dry:
        say("Dry run: nothing was written.")
        return DONE
    refuse_read_only()
    confirm_harmless("Write and enable the unit", yes=yes)
    if side is None:
        await systemd_units.install_unit(host, unit)
    else:
        await side.ask("unit", do="install")
    lines([f"{systemd_units.NAME} is enabled: at boot it reverts trials that were not kept"])
    return DONE


async def remove(bench: Workbench, *, dry: bool, yes: bool) -> int:
    """Ask, then disable and remove the unit. Raises RefusedError, StorageError, ToolFailedError."""
    host = _this_machine(bench)
    say(f"{systemd_units.PATH} will be disabled and removed.")
    if dry:
        say("Dry run: nothing was removed.")
        return DONE
    refuse_read_only()
    confirm_harmless("Remove the unit", yes=yes)
    side = host.root_side
    was_there = (
        await systemd_units.remove_unit(host) if side is None else (await side.ask("unit", do="remove"))["there"]
    )
    lines([f"{systemd_units.NAME} is removed" if was_there else f"{systemd_units.NAME} did not exist"])
    return DONE


def _this_machine(bench: Workbench) -> Host:
    if current().simulated:
        raise RefusedError(
            "The unit is only for the host that raidbench runs on.", hint="Leave out --demo and --machine."
        )
    return bench.host
