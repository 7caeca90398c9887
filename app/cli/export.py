"""`export`: the settings of a machine as a file that `apply` takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli.opening import workbench
from app.cli.output import data, document, say
from app.cli.running import run
from app.cli.status import DONE
from backends.errors import NotFoundError
from backends.text import clean

if TYPE_CHECKING:
    from app.engine.workbench import Workbench


@click.command("export")
@click.argument("targets", nargs=-1, metavar="[TARGET...]")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write it there; what is there keeps its comments.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def export_command(targets: tuple[str, ...], output: Path | None, as_json: bool) -> int:
    """The settings of TARGETs, or of all, as a file that `raidbench apply` takes, commented with what each means.

    Over a FILE of settings that is there, its values become those of now: comments, order and what it names besides
    stay, new things come at its end.
    """
    with workbench(quiet=True) as bench:
        return run(lambda _: _export(bench, targets, output, as_json))


async def _export(bench: Workbench, targets: tuple[str, ...], output: Path | None, as_json: bool) -> int:
    from app.engine.desired.exporting import all_of, document_of, exported

    inventory = await bench.hardware.probe()
    things = [await bench.hardware.find(one) for one in targets] if targets else all_of(inventory)
    found, troubles = await exported(bench, things)
    for trouble in troubles:
        say(clean(trouble, 500))
    if as_json:
        from app.engine.view import schema
        from app.engine.view.desired import export_json

        document(schema.document(targets=export_json(found)))
        return DONE
    if output is None:
        data(document_of(found).rstrip("\n"))
        return DONE
    from app.engine.report.writing import write_file

    older = _older(output)
    write_file(output, document_of(found, older), force=older is not None)
    say(f"Written to {clean(str(output), 300)}")
    return DONE


def _older(file: Path) -> str | None:
    """What is in the file; None where there is none. Raises NotFoundError where it cannot be read."""
    from app.engine.desired.file import LARGEST

    try:
        with file.open("rb") as handle:
            return handle.read(LARGEST).decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise NotFoundError(f"{clean(str(file), 300)} cannot be read: {clean(str(error), 200)}.") from None
