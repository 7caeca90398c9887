"""The command group `array`: list arrays and free drives, create an array, or delete one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from app.cli import confirm
from app.cli.async_runner import Interruption
from app.cli.command import CliGroup
from app.cli.confirm import step_lines
from app.cli.exit_status import DONE, FAILED, REFUSED
from app.cli.options import gather_options, policies_of
from app.cli.output import lines, print_json, say
from app.cli.render import fact_lines, table_lines
from app.cli.session_context import on_workbench, open_session
from app.cli.shared_options import confirm_option, dry_run_option, json_option
from app.core.fio.sizes import parse_size
from app.core.presentation.table import without_empty_columns
from app.features.arrays import presentation as view
from backends.array_planning import LEVELS, ArrayRequest, confirm_labels
from backends.model import Level, Problem
from backends.raid import layout_of
from backends.settings import Risk
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.workbench import Workbench
    from backends.array_planning import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class _CreateOptions:
    """The options of `array create`."""

    level: str
    drives: tuple[str, ...]
    strip: str | None
    spans: int | None
    layout: str | None
    size: str | None
    name: str | None
    policies: tuple[str, ...]
    assume_clean: bool
    dry_run: bool
    typed: str | None
    as_json: bool


@click.group("array", cls=CliGroup)
def array_command() -> None:
    """List, create and delete arrays."""


@array_command.command("list", examples=("raidbench array list --free",))
@click.option("--free", is_flag=True, help="List only free drives.")
@json_option
def list_command(free: bool, as_json: bool) -> int:
    """List arrays with their members, and the drives that are free.

    Drives that are not free show the reason. Nothing is written.
    """
    return on_workbench(_list, free, as_json, rights=True)


async def _list(bench: Workbench, _: Interruption, free: bool, as_json: bool) -> int:
    candidates, problems = await _candidates(bench)
    shown = [candidate for candidate in candidates if candidate.free or not free]
    inventory = bench.session.inventory
    made = bench.arrays.journal.entries()
    if as_json:
        serials = view.serials_of(inventory)
        arrays = [view.array(array, serials) for array in inventory.arrays]
        drives = [view.candidate(candidate) for candidate in shown]
        made_here = [view.array_entry_json(entry) for entry in made]
        print_json(host=bench.host.name, simulated=bench.simulated, arrays=arrays, drives=drives, made_here=made_here)
        return DONE
    if inventory.arrays and not free:
        lines(table_lines(without_empty_columns(view.arrays_table(inventory))))
        lines([""])
    lines(table_lines(without_empty_columns(view.drives_table(shown))))
    physical = [candidate for candidate in candidates if not candidate.shared]
    count = sum(candidate.free for candidate in physical)
    say(f"{count} of {len(physical)} drives {'is' if count == 1 else 'are'} free for a new array.")
    for group in dict.fromkeys(candidate.controller for candidate in candidates if candidate.shared and candidate.free):
        say(f"The volume group {group} has free extents for a logical volume.")
    for entry in made:
        say(view.made_here_sentence(entry))
    for problem in (*problems, *inventory.problems):
        say(f"{clean(problem.where)}: {clean(problem.message, 500)} {clean(problem.hint, 500)}".rstrip())
    return DONE


async def _candidates(
    bench: Workbench, names: tuple[str, ...] | None = None
) -> tuple[tuple[Candidate, ...], tuple[Problem, ...]]:
    from app.core.changes.arrays.candidates import candidates_of

    inventory = await bench.hardware.probe()
    return await candidates_of(bench.hardware.machine, inventory, names)


@array_command.command(
    "create",
    examples=(
        "raidbench array create raid5 sdb sdc sdd --name fast --dry-run",
        "raidbench array create raid10 252:0 252:1 252:2 252:3 --strip 256k",
    ),
)
@click.argument("level", type=click.Choice([level.value for level in LEVELS]), metavar="LEVEL")
@click.argument("drives", nargs=-1, required=True, metavar="DRIVE...")
@click.option("--strip", metavar="SIZE", help="Strip size, such as 64k, 256k or 1M.")
@click.option(
    "--spans",
    type=click.IntRange(1, 8),
    metavar="N",
    help="Spans of raid10, raid50 and raid60 (default: pairs for raid10, else 2).",
)
@click.option("--layout", metavar="LAYOUT", help="Layout of an md raid10: n2, f2, o2, or with more copies, such as f3.")
@click.option(
    "--size", metavar="SIZE", help="Size of a volume in a volume group, such as 10G (default: all free extents)."
)
@click.option("--name", metavar="NAME", help="Name of the array (default: a generated name).")
@click.option(
    "--set", "policies", metavar="KEY=VALUE", multiple=True, help="Policy of a controller's array. May be repeated."
)
@click.option(
    "--assume-clean",
    is_flag=True,
    help="md: skip the initial sync. Parity is correct after every stripe was written once.",
)
@dry_run_option
@confirm_option
@json_option
@gather_options(_CreateOptions)
def create_command(options: _CreateOptions) -> int:
    """Create an array after a review of the exact commands.

    The review also shows capacity, full stripe, cost and time. DRIVE is an address, a device node, an enclosure slot
    such as 252:3, or a serial number. The order of the drives decides the spans. All drives must be on one controller,
    or be kernel disks: then md creates the array. ALL DATA ON THE DRIVES IS LOST, so a confirmation is required.

    With the name of a volume group instead of drives, a volume is created in its free extents, on the physical volumes
    named after it or on all.
    """
    request = ArrayRequest(
        level=Level(options.level),
        drives=(),
        strip_bytes=None if options.strip is None else parse_size(options.strip),
        spans=options.spans,
        layout=_layout(options.layout),
        size_bytes=None if options.size is None else parse_size(options.size),
        name=options.name or "",
        policies=policies_of(options.policies),
    )
    return on_workbench(_create, request, options, changes=True, dry=options.dry_run, rights=not options.dry_run)


async def _create(bench: Workbench, _: Interruption, request: ArrayRequest, options: _CreateOptions) -> int:
    from app.core.changes.arrays.candidates import choose, new_array_name, plan_array

    candidates = (await _candidates(bench, options.drives))[0]
    request = replace(request, drives=choose(candidates, options.drives), name=request.name or new_array_name())
    plan = await plan_array(bench.hardware.machine, request, assume_clean=options.assume_clean)
    if options.as_json and options.dry_run:
        print_json(dry_run=True, simulated=bench.simulated, array=view.plan(plan))
    else:
        show = say if options.as_json else lambda row: lines([row])
        for row in (*fact_lines(view.plan_facts(plan)), "", "Commands:", *step_lines(plan.steps)):
            show(row)
        for sentence in view.plan_sentences(plan):
            say(clean(sentence, 1000))
    if plan.by_hand and not options.dry_run:
        if options.as_json:
            print_json(dry_run=True, simulated=bench.simulated, array=view.plan(plan))
        say("Nothing was done.")
        return REFUSED
    if options.dry_run:
        if not options.as_json:
            say("Dry run: nothing was changed.")
        return DONE
    await bench.arrays.require_array_support(plan.request.drives[0].controller)
    bench.arrays.require_new_name(plan.request.name)
    word = confirm.require_confirmation(
        Risk.DESTROYS_DATA,
        confirm_labels(plan.request.drives),
        yes=False,
        typed=options.typed,
        action="Create the array",
    )
    await open_session(bench)
    made = await bench.arrays.create(plan, assume_clean=options.assume_clean, typed=word)
    if options.as_json:
        array = {**view.plan(plan), "address": str(made.target), "device": made.device, "differs": dict(made.differs)}
        print_json(dry_run=False, simulated=bench.simulated, array=array)
    else:
        lines([f"created  {plan.request.name}: {clean(made.sentence, 400)}"])
        say(f"To delete it: `raidbench array delete {plan.request.name}`.")
    for sentence in made.differs.values():
        say(clean(sentence, 400))
    return FAILED if request.policies.keys() & made.differs.keys() else DONE


@array_command.command("delete", examples=("raidbench array delete fast --dry-run",))
@click.argument("name", metavar="NAME")
@dry_run_option
@confirm_option
@json_option
def delete_command(name: str, dry_run: bool, typed: str | None, as_json: bool) -> int:
    """Delete an array that raidbench created.

    The array must be empty and unused. It is identified by its UUID, or by name, level and the serial numbers of its
    drives. No other array is deleted.
    """
    return on_workbench(_delete, name, typed, dry_run, as_json, changes=True, dry=dry_run, rights=not dry_run)


async def _delete(bench: Workbench, _: Interruption, name: str, typed: str | None, dry_run: bool, as_json: bool) -> int:
    from app.core.changes.arrays.builder import created_array_label

    await bench.hardware.probe()
    entry, match = await bench.arrays.require_deletable(name, note=not dry_run)
    show = say if as_json else lambda row: lines([row])
    for row in (clean(match.sentence, 400), "", "Commands:", *step_lines(match.remove)):
        show(row)
    if not dry_run:
        word = confirm.require_confirmation(
            Risk.DESTROYS_DATA,
            (created_array_label(entry, bench.session.inventory),),
            yes=False,
            typed=typed,
            action="Delete the array",
        )
        await open_session(bench)
        match = await bench.arrays.delete(name, typed=word)
    if as_json:
        fields = {"name": name, "address": str(match.target), "device": match.device}
        removing = [step.shown() for step in match.remove]
        print_json(dry_run=dry_run, simulated=bench.simulated, array={**fields, "steps": removing})
    elif dry_run:
        say("Dry run: nothing was changed.")
    else:
        lines([f"deleted  {name}"])
    return DONE


def _layout(text: str | None) -> str | None:
    """Return the RAID 10 layout that `text` names; None for None. Raises UsageError if it names none."""
    try:
        return None if text is None else layout_of(text)
    except ValueError as error:
        raise click.UsageError(f"--layout {error}.") from None
