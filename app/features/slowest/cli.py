"""The `slowest` command, which reads the members of an array one after the other and compares them."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

import click

from app.cli.async_runner import Interruption
from app.cli.command import command
from app.cli.exit_status import DONE, FOUND, INTERRUPTED
from app.cli.options import gather_options
from app.cli.output import lines, print_json, say
from app.cli.render import table_lines
from app.cli.session_context import on_workbench, open_session
from app.cli.shared_options import dry_run_option, json_option, seed_option
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.workbench import Workbench
    from app.features.slowest.engine import MemberPlan, MemberRead


@dataclass(frozen=True, slots=True, kw_only=True)
class _SlowestOptions:
    """The options of `slowest`."""

    array: str
    rounds: int
    seed: int | None
    dry_run: bool
    as_json: bool


@command("slowest", "raidbench slowest md:md1", "raidbench slowest md:md1 --rounds 20 --dry-run")
@click.argument("array")
@click.option(
    "--rounds",
    type=click.IntRange(3, 50),
    default=5,
    show_default=True,
    metavar="N",
    help="Number of reads of each member.",
)
@seed_option
@dry_run_option
@json_option
@gather_options(_SlowestOptions)
def slowest_command(options: _SlowestOptions) -> int:
    """Find slow or hung members of an array.

    ARRAY may also be a controller. Each member is read with random 4 KiB reads at queue depth 1, in a new random order
    each round. Nothing is written. If the array is in use, reads take at most 5 % of the time of a member. --dry-run
    shows which difference the rounds can detect. A read that takes over 10 s is reported at once. The exit status is 5
    if a member is slow or hung.
    """
    return on_workbench(_slowest, options, dry=options.dry_run, rights=not options.dry_run)


async def _slowest(bench: Workbench, interruption: Interruption, options: _SlowestOptions) -> int:
    from app.features.slowest.engine import ANSWER_S, WORTH_SHOWING, compare_members, hung_members, plan_reading
    from app.features.slowest.presentation import members_json, members_table, plan_text, slowest_text

    plan = plan_reading(bench, await bench.hardware.find(options.array), options.rounds)
    say(plan_text(plan))
    if options.dry_run:
        nodes = [drive.device or "" for drive in plan.drives]
        if options.as_json:
            shown: dict[str, float | None] = {"shows_percent": 100 * plan.detectable_share, "answer_limit_s": ANSWER_S}
            shown[f"rounds_for_{100 * WORTH_SHOWING:.0f}_percent"] = plan.rounds_needed
            print_json(dry_run=True, drives=nodes, seconds=plan.seconds, **shown)
        else:
            lines(nodes)
        say("Dry run: nothing was read.")
        return DONE
    await open_session(bench)
    reads = await _read(bench, interruption, plan, options.seed)
    if interruption.is_requested():
        return INTERRUPTED
    comparisons = compare_members(plan, reads)
    hung = hung_members(reads)
    if not comparisons and not hung:
        say("Stopped before three rounds were complete.")
        return INTERRUPTED
    if options.as_json:
        print_json(dry_run=False, drives=members_json(plan, reads, comparisons))
    else:
        lines(table_lines(members_table(plan, reads, comparisons)))
    say(slowest_text(reads, comparisons))
    return FOUND if hung or any(comparison.is_slow for comparison in comparisons) else DONE


async def _read(bench: Workbench, interruption: Interruption, plan: MemberPlan, seed: int | None) -> list[MemberRead]:
    from app.features.slowest.engine import member_reads
    from app.features.slowest.presentation import hung_text

    reads: list[MemberRead] = []
    with interruption.stop_on_signal(bench.jobs.stop):
        async with aclosing(member_reads(bench, plan, interruption.is_requested, seed)) as readings:
            async for read in readings:
                if reads and reads[-1].round < read.round:
                    say(f"Round {reads[-1].round} of {plan.rounds} is complete.")
                reads.append(read)
                if read.latency_ns is None:
                    say(hung_text([read.device]))
    if reads and not interruption.is_requested():
        say(f"Round {reads[-1].round} of {plan.rounds} is complete.")
    return reads
