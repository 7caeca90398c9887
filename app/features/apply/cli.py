"""The `apply` command: make the machine match a settings file, or report how it differs."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli import confirm
from app.cli.async_runner import Interruption
from app.cli.command import command
from app.cli.confirm import review_lines
from app.cli.exit_status import DONE, FAILED, FOUND, INTERRUPTED
from app.cli.options import gather_options
from app.cli.output import Verbatim, lines, print_json, prose_to_stderr, report_error, say
from app.cli.persist import rule_rows
from app.cli.render import with_sign
from app.cli.session_context import on_workbench, open_session, refuse_read_only
from app.cli.shared_options import dry_run_option, json_option, yes_option
from app.cli.trial import decide_trial
from app.core.presentation.risk_text import outcome_cell
from backends.device_label import confirm_token
from backends.errors import RefusedError
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.workbench import Workbench
    from app.features.apply.applying import ApplyResult, DesiredPlan, Place, StepOutcome
    from app.features.apply.drift import DesiredState, Drift
    from app.features.apply.settings_file import DesiredFile


@dataclass(frozen=True, slots=True, kw_only=True)
class _ApplyOptions:
    """Options of `apply`."""

    file: Path
    check: bool
    diff: bool
    dry_run: bool
    yes: bool
    keep_going: bool
    as_json: bool


@command("apply", "raidbench apply site.toml --check", "raidbench apply site.toml")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Only report differences (exit status 5 if there are any, else 0).")
@click.option("--diff", is_flag=True, help="Like --check, as a diff.")
@dry_run_option
@yes_option
@click.option("--keep-going", is_flag=True, help="Continue after a failed step and undo nothing.")
@json_option
@gather_options(_ApplyOptions)
def apply_command(options: _ApplyOptions) -> int:
    """Apply a settings file, or show how the machine differs.

    All changes are planned and confirmed as one set, verified and recorded. The first step that fails ends the set, and
    the applied steps are undone. Steps that destroy data are never applied from a file, only reported. Risky steps need
    a `confirm` line in the file. The exit status is 5 if a difference remains.
    """
    looks = options.check or options.diff or options.dry_run
    if not looks:
        refuse_read_only()
    from app.features.apply.settings_file import read_file

    wanted = read_file(options.file)
    return on_workbench(_apply, wanted, options, dry=looks, quiet=looks, rights=not looks)


async def _apply(bench: Workbench, interruption: Interruption, wanted: DesiredFile, options: _ApplyOptions) -> int:
    from app.features.apply.applying import plan_set, unsaved_differences
    from app.features.apply.drift import DriftScan

    await bench.hardware.probe()
    state = await DriftScan(bench, wanted).look()
    missing = await unsaved_differences(bench, state) if wanted.persist and (options.check or options.diff) else ()
    drifts = (*state.drifts, *missing)
    if options.check or options.diff:
        return _print_drift(drifts, options)
    plan = await plan_set(bench, state, persist=wanted.persist, trial=wanted.trial)
    others = state.unsettable()
    if plan.is_empty or options.dry_run:
        return _print_plan(plan, state, others, options)
    _ask(plan, others, options)
    await open_session(bench)
    return await _apply_plan(bench, interruption, plan, others, wanted, options)


def _ask(plan: DesiredPlan, others: tuple[Drift, ...], options: _ApplyOptions) -> None:
    """Show the plan and ask for confirmation.

    Raises RefusedError when the plan is not confirmed, EOFError when stdin is closed.
    """
    with prose_to_stderr():
        lines(_review(plan, others))
    say()
    typed = confirm_token(plan.plates) if plan.plates else None
    confirm.require_confirmation(plan.risk, plan.plates, yes=options.yes, typed=typed, action="Apply")


def _print_drift(drifts: tuple[Drift, ...], options: _ApplyOptions) -> int:
    from app.features.apply import presentation

    if options.as_json:
        print_json(drift=[presentation.drift_json(drift) for drift in drifts])
    elif options.diff:
        lines(Verbatim(clean(row, 500)) for row in presentation.diff_lines(drifts))
    else:
        lines(presentation.drift_line(drift) for drift in drifts)
    from widgets.text_utils.units import plural

    say(f"{plural(len(drifts), 'difference')}." if drifts else "No differences.")
    return FOUND if drifts else DONE


def _print_plan(plan: DesiredPlan, state: DesiredState, others: tuple[Drift, ...], options: _ApplyOptions) -> int:
    from app.features.apply import presentation

    if options.as_json:
        drift = [presentation.drift_json(drift) for drift in state.drifts]
        print_json(dry_run=options.dry_run, drift=drift, not_done=[], **presentation.plan_json(plan))
    else:
        lines(_review(plan, others))
    say("Nothing needs to be set." if plan.is_empty else "Dry run: nothing was changed.")
    return FOUND if others or (options.dry_run and not plan.is_empty) else DONE


def _review(plan: DesiredPlan, others: tuple[Drift, ...]) -> list[str]:
    from app.features.apply import presentation

    rows = review_lines(plan.changes) if plan.changes else []
    for keep in plan.keeps:
        rows += ["", *map(Verbatim, rule_rows(keep.rule))]
    if others:
        rows += ["", "Not set by the file:", *(f"  {presentation.drift_line(other)}" for other in others)]
    if plan.changes and _may_follow(others):
        rows.append("  Blocked settings are tried after the others.")
    return rows


def _may_follow(others: tuple[Drift, ...]) -> bool:
    """Return whether one of the differences is blocked, and may become settable once other settings are set."""
    from app.features.apply.drift import DriftKind

    return any(other.kind is DriftKind.BLOCKED for other in others)


async def _apply_plan(
    bench: Workbench,
    interruption: Interruption,
    plan: DesiredPlan,
    others: tuple[Drift, ...],
    wanted: DesiredFile,
    options: _ApplyOptions,
) -> int:
    from app.features.apply.applying import apply_set, plan_rest

    async def plan_more(made: Collection[Place]) -> DesiredPlan | None:
        nonlocal others
        others, more = await plan_rest(bench, wanted, made)
        if more is not None:
            try:
                _ask(more, others, options)
            except EOFError:
                raise RefusedError("Nothing was changed: confirmation is required, but there was no answer.") from None
        return more

    with interruption.stop_on_signal(lambda: say("Stopping after this change."), patient=True):
        outcome = await apply_set(
            bench,
            plan,
            trial=wanted.trial,
            keep_going=options.keep_going,
            asked_to_stop=interruption.is_requested,
            plan_more=plan_more if wanted.trial is None and _may_follow(others) else None,
        )
    _print_outcome(bench, outcome, others, options)
    if not outcome.is_complete:
        stopped = interruption.is_requested() and all(step.ended.result == "verified" for step in outcome.steps)
        return INTERRUPTED if stopped and outcome.trouble is None else FAILED
    if wanted.trial is not None and bench.changes.trials() and not await decide_trial(bench, wanted.trial):
        return FAILED
    return FOUND if others else DONE


def _print_outcome(bench: Workbench, outcome: ApplyResult, others: tuple[Drift, ...], options: _ApplyOptions) -> None:
    from app.features.apply import presentation

    if outcome.trouble is not None and not options.as_json:
        report_error(outcome.trouble)
    if options.as_json:
        drift = [presentation.drift_json(drift) for drift in others]
        ending = confirm.ending_json(bench, outcome.trouble)
        print_json(dry_run=False, drift=drift, **ending, **presentation.outcome_json(outcome))
        return
    for step in outcome.steps:
        lines(_step_rows(step))
    confirm.report_not_done(outcome.left)
    for planned in outcome.kept:
        lines([f"Written: {planned.rule.path}"])
    for target, why in outcome.unkept.items():
        say(f"Not persistent: {target}: {clean(why, 300)}")
    for other in others:
        say(presentation.drift_line(other))


def _step_rows(step: StepOutcome) -> list[str]:
    rows = confirm.outcome_lines(step.change, step.ended)
    if not step.ended.was_set:
        return rows
    head = f"{step.ended.id}  {step.change.target} {step.change.key}"
    if step.back is not None and not step.stuck:
        rows.append(f"{with_sign(outcome_cell(step.back.result))}  {head}: undone")
    if step.stuck:
        rows.append(f"{with_sign(outcome_cell('failed'))}  {head}: not undone: {clean(step.stuck, 400)}")
    return rows
