"""The `curve` command: measure the latency of a workload under rising load, and find the knee."""

from __future__ import annotations

from dataclasses import replace

import click

from app.cli.bench_job import JobOptions, job_options
from app.cli.command import GroupedCommand, command
from app.cli.options import current, gather_options
from app.cli.shared_options import confirm_option, detach_option, dry_run_option, json_option, seed_option, yes_option
from app.core.fio.profiles import profile as profile_named
from app.features.sweep.cli.sweep import StartOptions, start
from app.features.sweep.engine.plan_file import load_plan
from backends.values import dataclass

PLAN = "throughput-latency"
"""Name of the plan that `curve` runs."""

_CHOSEN_FIELDS = ("iodepth", "rate_iops", "arrival")
"""Job fields that the curve varies, so that the user cannot set them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _CurveOptions(StartOptions):
    """Options of `curve`."""

    target: str
    job: JobOptions
    repeats: int


@command("curve", "raidbench curve md:md0", "raidbench curve sda --rw randread --bs 8k", cls=GroupedCommand)
@click.argument("target")
@job_options()
@click.option(
    "--repeats", type=click.IntRange(3, 100), default=3, metavar="N", show_default=True, help="Runs of each load."
)
@dry_run_option
@yes_option
@confirm_option
@detach_option
@seed_option
@json_option
@gather_options(_CurveOptions)
def curve_command(options: _CurveOptions) -> int:
    """Measure throughput against latency and find the knee.

    First the queue depth is raised until throughput stops growing. Then open-loop loads run at rates from a tenth of
    that throughput to slightly above it, with random arrival times. A curve is a sweep: it survives the end of its
    terminal, `raidbench attach` shows it, and `raidbench sweep --resume` continues it.
    """
    for key in _CHOSEN_FIELDS:
        if key in options.job.texts:
            raise click.UsageError(f"--{key.replace('_', '-')} cannot be used: a curve varies it automatically.")
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
