"""`set`: show the exact commands for new values, ask, run the commands, and verify the result."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

import click

from app.cli import confirm
from app.cli.async_runner import Interruption
from app.cli.command import command
from app.cli.confirm import review_lines
from app.cli.exit_status import DONE, FAILED, INTERRUPTED
from app.cli.options import AskingOptions, gather_options
from app.cli.output import lines, print_json, prose_to_stderr, say
from app.cli.session_context import on_workbench, open_session
from app.cli.shared_options import confirm_option, dry_run_option, json_option, yes_option
from app.cli.trial import decide_trial
from app.core.presentation import change as view
from app.core.presentation import json_schema
from backends.errors import InvalidValueError, RaidbenchError
from backends.settings import worst
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.session.events import ChangeEnded
    from app.core.workbench import Workbench
    from backends.change import Change


@dataclass(frozen=True, slots=True, kw_only=True)
class _SetOptions(AskingOptions):
    """The options of `set`."""

    target: str
    values: tuple[str, ...]
    trial: float | None


@command("set", "raidbench set sda read_ahead_kb=512 --dry-run", "raidbench set md:md1 read_ahead_kb=4096 --trial 60")
@click.argument("target")
@click.argument("values", nargs=-1, required=True, metavar="KEY=VALUE...")
@dry_run_option
@yes_option
@confirm_option
@click.option(
    "--trial",
    type=float,
    metavar="SECONDS",
    help="Revert the change after 10 to 600 s unless `raidbench keep` confirms it.",
)
@json_option
@gather_options(_SetOptions)
def set_command(options: _SetOptions) -> int:
    """Change settings after a review of the exact commands.

    Several settings are planned as one set. Each is planned as if the ones before it were applied, so a re-created
    array gets all new values. The set stops at the first failure.
    """
    wanted = parse_assignments(options.values)
    return on_workbench(_set, wanted, options, changes=True, dry=options.dry_run, rights=True)


def parse_assignments(texts: tuple[str, ...]) -> dict[str, str]:
    """Return the values of KEY=VALUE arguments by key, in their order. Raises InvalidValueError for an invalid one."""
    values: dict[str, str] = {}
    for text in texts:
        key, equals, wanted = (part.strip() for part in text.partition("="))
        if not equals or not key:
            raise InvalidValueError(f"{clean(text, 60)!r} is not KEY=VALUE.", hint="For example: read_ahead_kb=4096")
        if key in values:
            raise InvalidValueError(f"{clean(key, 60)} is named twice.", hint="Name each setting once.")
        values[key] = wanted
    return values


async def _set(bench: Workbench, interruption: Interruption, wanted: dict[str, str], options: _SetOptions) -> int:
    if options.trial is not None:
        from app.core.changes.trial import check_seconds

        check_seconds(options.trial)
    target = (await bench.hardware.find(options.target)).target
    planned = await bench.hardware.plan_to_show(target, wanted)
    changes = [*bench.hardware.required_changes(planned)]
    already = [change for change in planned if change not in changes]
    for change in already:
        say(f"{clean(view.subject_text(change), 200)} is already {clean(view.new_text(change), 200)}.")
    if options.dry_run:
        return _show_plan(changes, already, options.as_json)
    if not changes:
        _report(bench, [], [], already, None, options.as_json)
        return DONE
    with prose_to_stderr():
        lines(review_lines(changes))
    say()
    homes = {change.target for change in changes}
    label = await bench.hardware.device_label(homes.pop() if len(homes) == 1 else target)
    risk = worst(change.risk for change in changes)
    confirm.require_confirmation(risk, (label,), yes=options.yes, typed=options.typed, action="Apply")
    await open_session(bench)
    return await _apply(bench, interruption, changes, already, options)


def _show_plan(changes: list[Change], already: list[Change], as_json: bool) -> int:
    if as_json:
        print_json(
            dry_run=True,
            changes=[json_schema.change(change) for change in changes],
            already=[json_schema.change(change) for change in already],
        )
        return DONE
    if changes:
        lines(review_lines(changes))
    say("Dry run: nothing was changed." if changes else "Dry run: there is nothing to change.")
    return DONE


async def _apply(
    bench: Workbench, interruption: Interruption, changes: list[Change], already: list[Change], options: _SetOptions
) -> int:
    """Apply the changes in order and return the exit status.

    Report which changes were made and which were not, even after an error.
    """
    done: list[tuple[Change, ChangeEnded]] = []
    failure: RaidbenchError | None = None
    with interruption.stop_on_signal(lambda: say("Stopping after this change."), patient=True):
        try:
            async with aclosing(bench.changes.apply_all(changes, trial=options.trial)) as outcomes:
                async for change, ended in outcomes:
                    done.append((change, ended))
                    if interruption.is_requested():
                        break
        except RaidbenchError as error:
            failure = error
    left = changes[len(done) :]
    _report(bench, done, left, already, failure, options.as_json)
    decided = True
    if options.trial is not None and bench.changes.trials() and failure is None and not interruption.is_requested():
        decided = await decide_trial(bench, options.trial)
    if failure is not None:
        raise failure
    if not decided or any(ended.result != "verified" for _, ended in done):
        return FAILED
    return INTERRUPTED if interruption.is_requested() and left else DONE


def _report(
    bench: Workbench,
    done: list[tuple[Change, ChangeEnded]],
    left: list[Change],
    already: list[Change],
    failure: RaidbenchError | None,
    as_json: bool,
) -> None:
    if as_json:
        print_json(
            dry_run=False,
            changes=[
                {**json_schema.change(change), "outcome": json_schema.change_end(ended)} for change, ended in done
            ],
            not_done=[json_schema.change(change) for change in left],
            already=[json_schema.change(change) for change in already],
            **confirm.ending_json(bench, failure),
        )
        return
    lines(row for change, ended in done for row in confirm.outcome_lines(change, ended))
    confirm.report_not_done(left)
