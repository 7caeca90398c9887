"""The `export` command: write the settings of a machine as a file for `apply`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli.async_runner import Interruption
from app.cli.command import command
from app.cli.exit_status import DONE
from app.cli.options import over_hosts
from app.cli.output import data, is_text_wanted, print_json, say
from app.cli.session_context import on_workbench
from app.cli.shared_options import json_option, output_option
from backends.text import clean

if TYPE_CHECKING:
    from app.core.workbench import Workbench


@command("export", "raidbench export -o site.toml", "raidbench export --by-model -o fleet.toml")
@click.argument("targets", nargs=-1, metavar="[TARGET...]")
@output_option()
@click.option(
    "--by-model",
    is_flag=True,
    help="Select devices by model and level instead of serial number, for use on other machines.",
)
@json_option
@over_hosts("output")
def export_command(targets: tuple[str, ...], output: Path | None, by_model: bool, as_json: bool) -> int:
    """Write the machine's settings to a file.

    The file is input for `raidbench apply`. A comment explains each setting. Without TARGET, the file covers all
    targets. In an existing FILE the values are updated: comments and order stay, and new settings are appended. With
    --by-model, the file has the settings that all devices of a model or all arrays of a level share.
    """
    return on_workbench(_export, targets, output, as_json, by_model, quiet=True)


async def _export(
    bench: Workbench, _: Interruption, targets: tuple[str, ...], output: Path | None, as_json: bool, by_model: bool
) -> int:
    from app.features.apply.exporting import export_targets, render_document
    from app.features.apply.selectors import all_devices

    inventory = await bench.hardware.probe()
    things = [await bench.hardware.find(target) for target in targets] if targets else all_devices(inventory)
    matches, troubles = await export_targets(bench, things, by_model=by_model)
    for trouble in troubles:
        say(clean(trouble, 500))
    if as_json:
        from app.features.apply.presentation import export_json

        print_json(targets=export_json(matches))
        if not is_text_wanted():
            return DONE
    if output is None:
        data(render_document(matches).rstrip("\n"))
        return DONE
    from app.features.apply.exporting import write_settings

    write_settings(output, matches)
    say(f"Written to {clean(str(output), 300)}")
    return DONE
