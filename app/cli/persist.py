"""`persist`: write a file that sets values again at boot. The file is shown before it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from app.cli.async_runner import Interruption
from app.cli.command import command
from app.cli.confirm import confirm_harmless
from app.cli.exit_status import DONE
from app.cli.options import gather_options
from app.cli.output import Verbatim, lines, print_json, say, say_lines
from app.cli.session_context import on_workbench, open_session, session_with_changes
from app.cli.set_command import parse_assignments
from app.cli.shared_options import dry_run_option, json_option, yes_option
from backends.errors import NotFoundError, RaidbenchError
from backends.model import Target
from backends.settings import Persistence
from backends.text import clean, exact_rows
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.changes.persistence import PlannedRule
    from app.core.workbench import Workbench
    from backends.protocol import PersistRule


@dataclass(frozen=True, slots=True, kw_only=True)
class _PersistOptions:
    """The options of `persist`."""

    target: str
    values: tuple[str, ...]
    remove: bool
    dry_run: bool
    yes: bool
    as_json: bool


@command("persist", "raidbench persist sda read_ahead_kb=512", "raidbench persist sda --remove")
@click.argument("target")
@click.argument("values", nargs=-1, metavar="[KEY=VALUE...]")
@click.option("--remove", is_flag=True, help="Remove the target's settings from the file.")
@dry_run_option
@yes_option
@json_option
@gather_options(_PersistOptions)
def persist_command(options: _PersistOptions) -> int:
    """Make settings survive a reboot.

    Without KEY=VALUE, raidbench persists the settings of TARGET that the session changed and that are still in force.
    The exact text of the file is shown before the question.
    """
    if options.remove and options.values:
        raise click.UsageError("KEY=VALUE cannot be combined with --remove.")
    wanted = parse_assignments(options.values)
    return on_workbench(_persist, wanted, options, changes=True, dry=options.dry_run, rights=True)


async def _persist(bench: Workbench, _: Interruption, wanted: dict[str, str], options: _PersistOptions) -> int:
    target = (await bench.hardware.find(options.target)).target
    values: Mapping[str, str] = (
        {} if options.remove else wanted or _values_in_force(target, bench.hardware.views_of(target))
    )
    rules = await bench.keeping.plan_rules(target, values)
    for planned in rules:
        say_lines(map(Verbatim, rule_rows(planned.rule)))
        say()
        say(clean(planned.rule.explanation, 1000))
    files = [{"target": str(planned.target), "path": planned.rule.path, "text": planned.rule.text} for planned in rules]
    fields = {
        "dry_run": options.dry_run,
        "target": str(rules[0].target),
        "values": dict(values),
        "files": files,
        "explanation": rules[0].rule.explanation,
    }
    if options.dry_run:
        if options.as_json:
            print_json(**fields)
        say("Dry run: nothing was written.")
        return DONE
    confirm_harmless("Write the file" if len(rules) == 1 else f"Write the {len(rules)} files", yes=options.yes)
    await open_session(bench)
    written: list[str] = []
    for planned in rules:
        try:
            await bench.keeping.install_rule(planned.target, planned.rule, planned.values)
        except RaidbenchError as error:
            if written:
                error.hint = " ".join(filter(None, (error.hint, f"{' and '.join(written)} was written before that.")))
            raise
        if planned.rule.changes:
            written.append(planned.rule.path)
    if options.as_json:
        print_json(**fields)
        return DONE
    lines([_outcome_text(planned) for planned in rules])
    return DONE


def _outcome_text(planned: PlannedRule) -> str:
    """Return a line about the values that were saved in the file for the next boot, or removed from it."""
    path = planned.rule.path
    if planned.values:
        values = ", ".join(f"{key}={text}" for key, text in planned.values.items())
        return f"{planned.target}: {clean(values, 400)} saved in {path}"
    if not planned.rule.changes:
        return f"{planned.target}: no settings were persisted, nothing to remove"
    return f"{planned.target}: removed from {path}"


def rule_rows(rule: PersistRule) -> list[str]:
    """Return lines that show how a file will change: its path and every line of its new content."""
    if not rule.changes:
        return [f"{rule.path} needs no change." if rule.before is not None else f"{rule.path} does not exist."]
    if not rule.content:
        return [f"{rule.path} will be removed."]
    return [f"{rule.path} will contain:", *(f"  {row}" for row in exact_rows(rule.content))]


def _values_in_force(target: Target, views: tuple[Target, ...]) -> dict[str, str]:
    """Return, by key, the values of a target that the session set and that a reboot would lose.

    `views`: all addresses of the target's block device, the target included. Raises NotFoundError without such values.
    """
    pair = session_with_changes()
    records = () if pair is None else pair[1]
    values: dict[str, str] = {}
    for record in records:
        change = record.change
        if change.target in views and change.persistence is not Persistence.STORED:
            values.setdefault(change.key, change.after)
    if not values:
        raise NotFoundError(
            f"A reboot would lose no changed setting of {target}.",
            hint="Name the values to persist: raidbench persist TARGET KEY=VALUE",
        )
    return values
