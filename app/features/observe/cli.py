"""The command `observe`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from app.cli.async_runner import Interruption
from app.cli.command import command
from app.cli.exit_status import DONE, INTERRUPTED
from app.cli.options import DURATION, over_hosts
from app.cli.output import is_text_wanted, lines, print_json, say
from app.cli.session_context import on_workbench, open_session
from app.cli.shared_options import json_option
from backends.errors import StorageError

if TYPE_CHECKING:
    from app.core.workbench import Workbench


@command("observe", "raidbench observe", "raidbench observe md:md0 --for 5m", "raidbench observe nvme0n1 --json")
@click.argument("target", required=False)
@click.option(
    "--for", "seconds", type=DURATION, default="60s", show_default=True, metavar="TIME", help="Duration, such as 15m."
)
@json_option
@over_hosts()
def observe_command(target: str | None, seconds: int, *, as_json: bool) -> int:
    """Show what a disk does and which services wait.

    TARGET is a device, partition, file or folder (default: all disks). The command needs no root and creates no load.
    Ctrl-C ends it early. The result becomes a note of the session.
    """
    return on_workbench(_observe, target, seconds, as_json)


async def _observe(
    bench: Workbench, interruption: Interruption, target: str | None, seconds: int, as_json: bool
) -> int:
    from app.features.observe.observer import Observer, find_device
    from app.features.observe.presentation import note_text, observation_json, observation_lines

    device = None if target is None else await find_device(bench, target)
    observer = Observer(bench.host, device)
    await observer.open()
    say(f"Observing {device or 'all disks'} for {seconds} s. Ctrl-C ends it early.")
    with interruption.stop_on_signal(lambda: None):
        seen = await observer.run(seconds, interruption.is_requested)
    if as_json:
        print_json(**observation_json(seen))
    if not as_json or is_text_wanted():
        lines(observation_lines(seen))
    try:
        await open_session(bench)
        bench.note(note_text(seen))
    except StorageError as error:  # such as a full disk, which the user may be looking into
        say(f"The observation is not recorded: {error.message}")
    return INTERRUPTED if interruption.is_requested() else DONE
