"""The `curve` command: measure the latency of a workload under rising load, and find the knee."""

from __future__ import annotations

from dataclasses import replace

import click

from app.cli.bench_job import JobOptions, job_options
from app.cli.options import CONFIRM_HELP, GroupedCommand, current, gather_options
from app.core.fio.profiles import profile as profile_named
from app.features.sweep.cli.sweep import StartOptions, start
from app.features.sweep.engine.plan_file import load_plan
from backends.values import dataclass

PLAN = "throughput-latency"
"""Name of the plan that it runs."""

_CHOSEN_FIELDS = ("iodepth", "rate_iops", "arrival")
"""Fields of the job whose values the curve chooses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _CurveOptions(StartOptions):
    """Options of `curve`."""

    target: str
    job: JobOptions
    repeats: int


@click.command("curve", cls=GroupedCommand)
@click.argument("target")
@job_options()
@click.option(
    "--repeats", type=click.IntRange(3, 100), default=3, metavar="N", help="Runs of each load; 3 unless named."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option("--yes", is_flag=True, help="Do not ask about what is harmless.")
@click.option("--confirm", "typed", metavar="WORD", help=CONFIRM_HELP)
@click.option("--detach", is_flag=True, help="Run it in the background; `raidbench attach` shows it.")
@click.option("--seed", type=click.IntRange(0, 2**31), metavar="N", help="Decides the random orders.")
@click.option("--json", "as_json", is_flag=True, help="The outcome as JSON.")
@gather_options(_CurveOptions)
def curve_command(options: _CurveOptions) -> int:
    """Measure throughput against latency of TARGET, and find the knee.

    The queue depth is raised until more brings nothing. Then the target is asked for rates from a tenth of that to
    slightly more than all of it, with requests that come at random and wait for none before. It is a sweep: it outlives
    its terminal, `raidbench attach` shows it, `raidbench sweep --resume` goes on with it.
    """
    for key in _CHOSEN_FIELDS:
        if key in options.job.texts:
            raise click.UsageError(f"--{key.replace('_', '-')} is what a curve tries by itself.")
    profile = options.job.profile or current().load_config().profile
    plan = load_plan(PLAN)
    job = dict(plan.job)
    if "runtime" in options.job.texts:
        job.pop("ramp", None)  # the plan's ramp suits only the plan's run time
    plan = replace(
        plan,
        title=f"{plan.title} of {profile_named(profile).name} on {options.target}",
        targets={plan.measure: options.target},
        profile=profile,
        job={**job, **options.job.texts},
        repeats=options.repeats,
    )
    return start(plan, options, {})
