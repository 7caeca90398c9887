"""The `sweep` command: measure many set-ups under many workloads, then restore all settings."""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from app.cli import confirm
from app.cli.async_runner import Interruption
from app.cli.command import GroupedCommand, command
from app.cli.exit_status import DONE, INTERRUPTED
from app.cli.options import AskingOptions, current, gather_options, policies_of
from app.cli.output import lines, print_json, say, say_lines
from app.cli.render import listing
from app.cli.session_context import (
    loaded_session,
    on_workbench,
    open_checked_session,
    refuse_read_only,
    require_its_machine,
)
from app.cli.shared_options import confirm_option, detach_option, dry_run_option, json_option, seed_option, yes_option
from app.core.presentation.noise_text import noise_json
from app.core.presentation.risk_text import ConfirmationLevel, confirmation_level
from app.core.session.flag_files import STOP
from app.core.session.store import is_being_written
from app.core.workbench import Workbench
from app.features.sweep.cli.attach import SweepFollower, follow
from app.features.sweep.cli.background import HURRY, hand_over
from app.features.sweep.cli.text import order_lines, plan_lines, report, status_of
from app.features.sweep.engine.builtin_plans import plan_files
from app.features.sweep.engine.plan import SweepPlan
from app.features.sweep.engine.plan_expansion import expand
from app.features.sweep.engine.plan_file import load_plan
from app.features.sweep.engine.raid_level_axis import axis_of, with_drives, with_levels
from app.features.sweep.engine.risk_assessment import RiskAssessment, assess_risk
from app.features.sweep.engine.runner import SweepRunner
from app.features.sweep.engine.targets import inspect_targets
from app.features.sweep.presentation.json_schema import design_json
from backends.errors import InvalidValueError, RefusedError, StorageError
from backends.text import clean
from backends.values import dataclass

_TRIES = 20
"""Maximum number of attempts to open a session, which are 50 ms apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOptions(AskingOptions):
    """Options of every command that starts a sweep."""

    seed: int | None
    order: bool = False
    detach: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _SweepOptions(StartOptions):
    """Options of `sweep`."""

    plan: str | None
    targets: tuple[str, ...]
    levels: str | None
    drives: str | None
    members: int | None
    pool: str | None
    strip: str | None
    layout: str | None
    spans: str | None
    birth: tuple[str, ...]
    assume_clean: bool
    resume: str | None
    listing: bool
    handed_over: bool


@command(
    "sweep",
    "raidbench sweep --list",
    "raidbench sweep queue-depth --target md:md0 --dry-run",
    "raidbench sweep queue-depth --target md:md0 --detach",
    cls=GroupedCommand,
)
@click.argument("plan", required=False)
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="[ROLE=]ADDRESS",
    help="Device for a role of the plan. May be repeated.",
)
@click.option("--level", "levels", metavar="LEVEL,...", help="Create arrays of these levels and measure each.")
@click.option("--drives", metavar="DRIVE,...", help="Drives of these arrays, as in `raidbench array create`.")
@click.option("--members", type=click.IntRange(1, 256), metavar="N", help="Number of drives from --pool.")
@click.option("--pool", metavar="SELECTION", help='Select free drives: "unassigned ssd of c1", "hdd of kernel".')
@click.option("--strip", metavar="SIZE,...", help="Strip sizes of the arrays.")
@click.option("--layout", metavar="LAYOUT,...", help="Layouts of an md raid10: n2, f2, o2.")
@click.option("--spans", metavar="N,...", help="Spans of raid10, raid50 and raid60, or `every` possible number.")
@click.option(
    "--set", "birth", metavar="KEY=VALUE", multiple=True, help="Policy of a controller's array. May be repeated."
)
@click.option(
    "--assume-clean",
    is_flag=True,
    help="md: skip the initial sync. Parity is correct after every stripe was written once.",
)
@dry_run_option
@click.option("--order", is_flag=True, help="With --dry-run: show every step in order.")
@yes_option
@confirm_option
@detach_option
@click.option("--resume", metavar="SESSION", help="Continue the sweep of a session.")
@seed_option
@click.option("--list", "listing", is_flag=True, help="List the built-in plans.")
@click.option("--handed-over", is_flag=True, hidden=True, help="Stop requests are still honoured.")
@json_option
@gather_options(_SweepOptions)
def sweep_command(options: _SweepOptions) -> int:
    """Measure every combination of settings and workloads.

    PLAN is a TOML file or the name of a plan that --list shows. Slow settings change as rarely as possible. The rest of
    the order is random. The settings are restored at the end, after Ctrl-C, and after a crash when the sweep is
    resumed. A sweep survives the end of its terminal; `raidbench attach` shows it.
    """
    if options.listing:
        return _list(options.as_json)
    if (options.plan is None) == (options.resume is None):
        raise click.UsageError("Specify a plan, or a session with --resume.")
    if options.resume is not None:
        if options.dry_run or options.targets or options.levels or options.seed is not None:
            raise click.UsageError(
                "--resume continues the existing plan; it cannot be combined with --dry-run,"
                " --target, --level or --seed."
            )
        return _resume(options.resume, options)
    plan = _with_arrays(load_plan(options.plan or ""), options)
    return start(plan, options, _targets(options.targets, plan.measure))


def _with_arrays(plan: SweepPlan, options: _SweepOptions) -> SweepPlan:
    """Return the plan with the arrays that the command-line options request.

    Raises UsageError for array options without --level, InvalidValueError or PlanError for values that are not valid.
    """
    drives, members, pool = options.drives, options.members or 0, options.pool or ""
    if options.levels is not None:
        axis = axis_of(
            options.levels,
            drives=drives,
            members=members,
            pool=pool,
            strip=options.strip,
            assume_clean=options.assume_clean,
            spans_text=options.spans,
            layout=options.layout,
            birth=policies_of(options.birth),
        )
        return with_levels(plan, axis)
    if options.strip or options.spans or options.layout or options.birth or options.assume_clean:
        raise click.UsageError("--strip, --spans, --layout, --set and --assume-clean need --level.")
    return with_drives(plan, drives=drives, members=members, pool=pool) if drives or members or pool else plan


def _targets(parts: tuple[str, ...], measured: str) -> dict[str, str]:
    """Return the target addresses by role, from the `--target` options in `parts`, such as `array=md:md0`.

    An empty address (`array=`) leaves the role out. An address without a role belongs to the role `measured`, the
    benchmark target. Raises InvalidValueError for an incomplete option.
    """
    addresses: dict[str, str] = {}
    for word in parts:
        role, equals, address = (part.strip() for part in word.partition("="))
        if not equals:
            role, address = measured, role
        if not role or not (address or equals):
            raise InvalidValueError(
                f"Invalid value for --target: {clean(word, 60)!r}. Use ROLE=ADDRESS.", hint="For example: array=md:md0"
            )
        addresses[role] = address
    return addresses


def _list(as_json: bool) -> int:
    plans = {name: load_plan(str(file)) for name, file in plan_files().items()}
    if as_json:
        listed = [{"name": name, "title": plan.title, "about": plan.about} for name, plan in plans.items()]
        print_json(plans=listed)
    else:
        lines(listing(("Plan", "What it measures"), [(name, plan.title) for name, plan in plans.items()]))
    return DONE


def start(plan: SweepPlan, options: StartOptions, targets: Mapping[str, str]) -> int:
    """Show the plan, ask for confirmation, and run it; return the exit status. `targets` contains addresses by role."""
    with _outliving_terminal():
        return on_workbench(_plan_and_run, plan, options, targets, dry=options.dry_run, hurry=HURRY, rights=True)


@contextmanager
def _outliving_terminal() -> Iterator[None]:
    """Ignore SIGHUP inside the context, so that the sweep continues without its terminal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


async def _plan_and_run(
    bench: Workbench, interruption: Interruption, plan: SweepPlan, options: StartOptions, targets: Mapping[str, str]
) -> int:
    await bench.hardware.probe()
    facts = await inspect_targets(bench, plan, targets)
    seeds = (seed for seed in (options.seed, plan.seed) if seed is not None)
    seed = next(seeds, random.SystemRandom().randrange(2**31))
    assessment = await assess_risk(bench, expand(plan, facts, seed), facts)
    if options.dry_run:
        if options.as_json:
            noise = {column: noise_json(facts) for column, facts in assessment.noise.items()}
            fields = {"sweep": design_json(assessment.design), "refused": list(assessment.refused), "noise": noise}
            print_json(dry_run=True, **fields)
        else:
            lines(plan_lines(assessment, _simulation_speed(bench)))
            if options.order:
                lines(["", *order_lines(assessment.design)])
            say("Dry run: nothing was changed or measured.")
        return DONE
    _require_agreed(assessment, options, _simulation_speed(bench))
    await open_checked_session(bench, fresh=True)

    runner = SweepRunner(bench)
    runner.begin(assessment.design)
    assert bench.folder is not None
    say(f"Session {bench.folder.name} in {clean(str(bench.folder), 300)}")
    if options.detach:
        return await _hand_over(bench, as_json=options.as_json)
    return await _run_all(bench, interruption, as_json=options.as_json)


def _require_agreed(assessment: RiskAssessment, options: StartOptions, speed: float | None) -> None:
    """Show the plan, and ask for confirmation if it changes anything.

    Raises RefusedError when the plan is refused or not confirmed.
    """
    if assessment.refused:
        raise RefusedError(" ".join(assessment.refused), hint=assessment.hint)
    say_lines(plan_lines(assessment, speed))
    if assessment.design.changes_anything:
        refuse_read_only()
        typed = None if confirmation_level(assessment.risk) is ConfirmationLevel.HARMLESS else options.typed
        confirm.require_confirmation(assessment.risk, assessment.plates, yes=options.yes, typed=typed, action="Sweep")


def _simulation_speed(bench: Workbench) -> float | None:
    """Return the speed-up of the simulation; None on a real machine."""
    return (current().demo_speed or HURRY) if bench.simulated else None


async def _run_all(bench: Workbench, interruption: Interruption, *, as_json: bool) -> int:
    """Run the rest of the session's sweep in this process, and print its results; return the exit status."""
    runner = SweepRunner(bench)
    follower = SweepFollower(speed=_simulation_speed(bench) or 1.0)
    forget = bench.subscribe(follower.handle_event)

    def stop() -> None:
        follower.clear()
        say("Stopping: the settings are restored first.")
        runner.stop()

    with interruption.stop_on_signal(stop, patient=True):
        try:
            record = await runner.run_all()
        finally:
            follower.clear()
            forget()
    report(bench.session, record, str(bench.folder), as_json=as_json)
    if interruption.is_requested():
        return INTERRUPTED
    return status_of(record)


def _resume(name: str, options: _SweepOptions) -> int:
    loaded = loaded_session(name)
    if loaded.session.sweep is None:
        raise InvalidValueError(f"The session {loaded.folder.name} has no sweep.", hint="`raidbench log --list`")
    if is_being_written(loaded.folder):
        say("The sweep is running in another process. Its progress follows.")
        return follow(loaded.folder, as_json=options.as_json)
    if loaded.session.sweep.finished:
        report(loaded.session, loaded.session.sweep, str(loaded.folder), as_json=options.as_json)
        return DONE
    require_its_machine(loaded.folder)
    if not options.handed_over:
        STOP.remove(loaded.folder)
    with _outliving_terminal():
        return on_workbench(_continue, loaded.folder, options, quiet=True, hurry=HURRY, rights=True)


async def _continue(bench: Workbench, interruption: Interruption, folder: Path, options: StartOptions) -> int:
    refuse_read_only()
    await _open(bench, folder)
    await bench.hardware.probe()
    if options.detach:
        return await _hand_over(bench, as_json=options.as_json)
    await SweepRunner(bench).resume()
    return await _run_all(bench, interruption, as_json=options.as_json)


async def _open(bench: Workbench, folder: Path) -> None:
    """Open the session, and retry for 1 s, because a process that checks the session may lock it briefly.

    Raises StorageError when it is still locked afterwards.
    """
    for _ in range(_TRIES):
        try:
            return await bench.open(folder)
        except StorageError:
            await asyncio.sleep(0.05)
    return await bench.open(folder)


async def _hand_over(bench: Workbench, *, as_json: bool) -> int:
    """Continue the session's sweep in a background process, and print how to follow it."""
    folder = bench.folder
    assert folder is not None
    bench.close("handed over")  # from now on, the other process writes the session
    pid = await hand_over(folder, current())
    if as_json:
        print_json(session=str(folder), pid=pid)
    say(f"The sweep runs in the background (PID {pid}). Show it: `raidbench attach {folder.name}`")
    say(f"Stop it: `raidbench attach {folder.name} --stop`")
    return DONE
