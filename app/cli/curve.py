"""`curve`: the latency of a workload under rising load, and the knee."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import click

from app.cli.bench import job_options
from app.cli.grouping import GroupedCommand
from app.cli.options import CONFIRM_HELP, current
from app.cli.sweep import SweepOptions, start
from app.engine.fio.profiles import profile as profile_named
from app.engine.sweep.plan import SweepPlan
from app.engine.sweep.plan_file import load_plan

PLAN = "throughput-latency"
"""The plan that it is."""

_FOUND = ("iodepth", "rate_iops", "arrival")
"""Fields of the job that it tries values of itself."""


@click.command("curve", cls=GroupedCommand)
@click.argument("target")
@click.option("--profile", metavar="NAME", help="A workload by name; `raidbench profiles` lists them.")
@job_options
@click.option(
    "--repeats", type=click.IntRange(3, 100), default=3, metavar="N", help="Runs of each load; 3 unless named."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option("--yes", is_flag=True, help="Do not ask about what is harmless.")
@click.option("--confirm", "typed", metavar="WORD", help=CONFIRM_HELP)
@click.option("--detach", is_flag=True, help="Run it in the background; `raidbench attach` shows it.")
@click.option("--seed", type=click.IntRange(0, 2**31), metavar="N", help="Decides the random orders.")
@click.option("--json", "as_json", is_flag=True, help="The outcome as JSON.")
def curve_command(
    target: str,
    profile: str | None,
    repeats: int,
    dry_run: bool,
    yes: bool,
    typed: str | None,
    detach: bool,
    seed: int | None,
    as_json: bool,
    **fields: str | None,
) -> int:
    """Measure throughput against latency of TARGET, and find the knee.

    The queue depth is raised until more brings nothing. Then the target is asked for rates from a tenth of that to
    slightly more than all of it, with requests that come at random and wait for none before. It is a sweep: it outlives
    its terminal, `raidbench attach` shows it, `raidbench sweep --resume` goes on with it.
    """
    texts = {key.removeprefix("job_"): text for key, text in fields.items() if text is not None}
    for key in _FOUND:
        if key in texts:
            raise click.UsageError(f"--{key.replace('_', '-')} is what a curve tries by itself.")
    how = SweepOptions(
        targets={},
        seed=seed,
        dry_run=dry_run,
        order=False,
        yes=yes,
        typed=typed,
        detach=detach,
        as_json=as_json,
    )
    return start(_plan(target, profile or current().load_config().profile, texts, repeats), how)


def _plan(target: str, profile: str, texts: Mapping[str, str], repeats: int) -> SweepPlan:
    """The plan that comes along, of another target and workload."""
    plan = load_plan(PLAN)
    own = {
        key: text for key, text in plan.job.items() if key != "ramp" or "runtime" not in texts
    }  # one that fits to it
    return replace(
        plan,
        title=f"{plan.title} of {profile_named(profile).name} on {target}",
        targets={plan.measure: target},
        profile=profile,
        job={**own, **texts},
        repeats=repeats,
    )
