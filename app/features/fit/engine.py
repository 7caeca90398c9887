"""Plans a fit and measures it: refusals, the runs and their pauses, and what is beneath the folder."""

from __future__ import annotations

import asyncio
import posixpath
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from app.core.benchmark.device_stats.diskstats import parse, since
from app.core.benchmark.device_stats.sampler import PATH
from app.core.benchmark.run_plan import RunPlan
from app.core.benchmark.runner import BenchmarkRequest
from app.core.session.results import RunStatus
from app.core.workbench import Workbench
from app.doors import action
from app.features.fit.assessment import FitResult, Foundation, assess
from app.features.fit.decision import RUNS, SECONDS
from app.features.fit.demands import Demands
from app.features.fit.profiles import RAMP, FitProfile, NetworkRule, job_of, limits_of
from app.features.fit.runs import FitRun, read_fit_run
from app.features.fit.safety import Safety, SafetyJudgement, judge_safety
from backends.errors import InvalidValueError, RefusedError, ToolFailedError
from backends.model import Drive, Media
from backends.text import clean
from backends.topology import kernel_name
from backends.topology.mounts import SHARED, Mount, file_mount, parse_mountinfo
from backends.values import dataclass

BUSY_SHARE = 0.9
"""A disk that other programs keep busy for more than this share of the time is not measured."""

BUSY_S = 2.0
"""Seconds for which the disk is watched before the first run."""

PAUSE_S = (1.0, 2.0)
"""Range of the random pause between two runs, so that periodic load does not match the runs."""

_NOT_POSIX = frozenset(("vfat", "msdos", "exfat", "ntfs", "ntfs3", "fuseblk"))
"""Filesystems of other systems, without the permissions and links of POSIX. ntfs-3g is `fuseblk`."""

_IN_MEMORY = frozenset(("tmpfs", "ramfs", "devtmpfs"))

_SAMPLE = "raidbench-fit"
"""Name below a folder, to find the mount that contains the folder itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitPlan:
    """What is measured, where, and against which limits."""

    profile: FitProfile
    """The program."""
    demands: Demands
    """Numbers that the user gave."""
    folder: str
    """Absolute path of the folder."""
    mount: Mount | None
    """Mount that contains the folder; None if unknown."""
    unfit_filesystem: str = ""
    """Type of the filesystem if the program does not work on it, so that nothing is measured; "" if it does."""
    ready: RunPlan | None
    """The first run as planned; None if nothing is measured."""
    runs: int = RUNS
    """Number of runs."""

    @property
    def disk(self) -> str | None:
        """Return the node of the disk beneath the folder; None if unknown."""
        return None if self.ready is None else self.ready.only.device

    @property
    def planned_s(self) -> float:
        """Return the longest planned duration in seconds."""
        if self.ready is None:
            return 0.0
        job = self.ready.job
        return self.runs * (job.runtime + job.ramp) + (self.runs - 1) * PAUSE_S[1] + BUSY_S


def runs_for(seconds: float) -> int:
    """Return the number of runs that take about so many seconds, at least `RUNS`."""
    return max(RUNS, int(seconds / (SECONDS + RAMP + sum(PAUSE_S) / 2)))


async def plan_fit(
    bench: Workbench,
    profile: FitProfile,
    folder: str,
    demands: Demands,
    *,
    runs: int = RUNS,
    seconds: int = SECONDS,
) -> FitPlan:
    """Return the plan; change nothing. `seconds`: measured seconds of each run.

    Raises RefusedError or InvalidValueError for a folder that cannot be measured, and what `prepare` raises.
    """
    stat = await bench.host.stat(folder)
    if stat is not None and stat.kind == "block":
        raise RefusedError(
            f"{clean(folder, 300)} is a block device, and `fit` never writes to one.",
            hint="Name a folder on a filesystem of this device.",
        )
    if stat is None or stat.kind != "directory":
        raise InvalidValueError(f"{clean(folder, 300)} is not a folder.", hint="Name an existing folder.")
    mounts = parse_mountinfo(await bench.host.read("/proc/self/mountinfo") or "")
    mount = file_mount(posixpath.join(folder, _SAMPLE), mounts)
    fstype = "" if mount is None else mount.fstype
    if fstype in _IN_MEMORY:
        raise RefusedError(
            f"{clean(folder, 300)} is in memory ({fstype}), so a power loss loses everything in it.",
            hint="Name a folder on a disk.",
        )
    if fstype in SHARED and profile.network is NetworkRule.REFUSED:
        raise RefusedError(
            f"{clean(folder, 300)} is on a network filesystem ({fstype}): {profile.title} would wait for the network"
            " and the server.",
            hint="Name a folder on a local disk.",
        )
    if mount is None and profile.network is NetworkRule.UNFIT:
        raise RefusedError(
            f"The filesystem of {clean(folder, 300)} is not known, and {profile.title} needs a local one.",
            hint="Mount /proc, which lists the filesystems.",
        )
    ready = None
    unfit = fstype if profile.network is NetworkRule.UNFIT and fstype in SHARED | _NOT_POSIX else ""
    if profile.workload and not unfit:
        job = job_of(profile, demands, seconds)
        # A preallocated file is new in each run. Another one is laid out once, and then written again and again.
        request = BenchmarkRequest(
            where=folder,
            name=folder,
            job=job,
            profile=profile.workload,
            again=not job.preallocates,
            length_agreed=True,
        )
        ready = await bench.jobs.prepare(request)
        ready.require_allowed()
    return FitPlan(
        profile=profile,
        demands=demands,
        folder=folder,
        mount=mount,
        unfit_filesystem=unfit,
        ready=ready,
        runs=runs,
    )


async def busy_share(bench: Workbench, disk: str | None, seconds: float = BUSY_S) -> float | None:
    """Return the share of the time in which other programs kept the disk busy; None if the kernel does not count it.

    Raises RefusedError if the share is above `BUSY_SHARE`.
    """
    if disk is None or not bench.host.capabilities.live:
        return None
    name = kernel_name(disk)
    before = parse(await bench.host.read(PATH) or "", (name,)).get(name)
    if before is None:
        return None
    started = time.monotonic()
    await asyncio.sleep(seconds)
    now = parse(await bench.host.read(PATH) or "", (name,)).get(name)
    if now is None:
        return None
    share = min(1.0, since(before, now).busy_ms / (1000 * (time.monotonic() - started)))
    if share > BUSY_SHARE:
        raise RefusedError(
            f"Other programs keep {clean(disk)} busy for {100 * share:.0f} % of the time; `fit` measures up to"
            f" {100 * BUSY_SHARE:.0f} %.",
            hint="Wait until the disk is idle. `raidbench devices` shows what it does.",
        )
    return share


async def measure_fit(
    bench: Workbench,
    plan: FitPlan,
    *,
    begin: Callable[[int], None] = lambda number: None,
    ended: Callable[[FitRun], None] = lambda run: None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> list[FitRun]:
    """Measure and return the runs, fewer if the user stopped. They are ordinary runs of the open session.

    `begin`: called with the number of each run. `ended`: called with each finished run.

    Raises ToolFailedError if a run fails, and the errors of measuring.
    """
    assert plan.ready is not None
    request, job = plan.ready.request, plan.ready.job
    runs: list[FitRun] = []
    due = 0.0

    async def wait() -> None:
        """Wait until the pause is over, or until the user stops, and compute when the next run is due."""
        nonlocal due
        while (left := due - time.monotonic()) > 0 and not is_stopped():
            await asyncio.sleep(min(left, 0.1))
        # The pause includes the reads between two runs.
        pause = random.uniform(*PAUSE_S) if bench.host.capabilities.live else 0.0
        due = time.monotonic() + job.ramp + job.runtime + pause if pause else 0.0

    try:
        for number in range(1, plan.runs + 1):
            ready = await bench.jobs.prepare(replace(request, again=request.again and number < plan.runs))
            ready.require_allowed()
            begin(number)
            record = await bench.jobs.measure(ready, until=wait)
            figures = record.figures
            if figures.status is RunStatus.FAILED:
                reason = clean(figures.reason or "no reason given", 300)
                raise ToolFailedError(f"{record.id} failed: {reason}", hint=figures.hint)
            if figures.status is RunStatus.STOPPED or is_stopped():
                break
            assert record.end is not None
            raw = Path(bench.folder or "") / record.end.folder / "fio.out"
            runs.append(read_fit_run(raw, ready.job, figures))
            ended(runs[-1])
    finally:
        await bench.jobs.forget_scratch(plan.ready)
    return runs


async def judge_fit(bench: Workbench, plan: FitPlan, runs: Sequence[FitRun], busy: float | None) -> FitResult:
    """Return the answer. It reads what is beneath the folder, and writes nothing."""
    inventory = bench.session.inventory
    findings, drives, controllers = None, (), ()
    if (check_beneath := action("check.beneath")) is not None:
        below = await check_beneath(bench.hardware.machine, inventory, plan.disk, plan.mount)
        findings, drives, controllers = below.findings, below.drives, below.controllers
    flushes = [run.flush_histogram.percentile(50.0) for run in runs]
    cpu = await bench.host.read("/proc/cpuinfo") or ""
    safety = judge_safety(
        findings,
        inventory,
        drives,
        controllers,
        in_vm=any(" hypervisor" in line for line in cpu.splitlines() if line.startswith("flags")),
        flush_p50_s=min((flush for flush in flushes if flush), default=0) / 1e9 or None,
    )
    if not plan.profile.workload:
        safety = SafetyJudgement(safety=Safety.UNKNOWN)
    foundation = Foundation(
        safety=safety,
        busy_share=busy,
        preconditioned=_is_preconditioned(bench, drives),
        unfit_filesystem=plan.unfit_filesystem,
    )
    return assess(plan.profile, limits_of(plan.profile, plan.demands, _media(drives)), runs, foundation)


def _media(drives: Sequence[Drive]) -> Media:
    """Return the media of the slowest drive; UNKNOWN if the media of any drive is not known."""
    kinds = {drive.media for drive in drives}
    if not kinds or not kinds <= {Media.HDD, Media.SSD, Media.NVME}:
        return Media.UNKNOWN
    return Media.HDD if Media.HDD in kinds else Media.SSD


def _is_preconditioned(bench: Workbench, drives: Sequence[Drive]) -> bool:
    """Return whether each drive was filled by `precondition` at least once."""
    records = [None if drive.identity is None else bench.jobs.memory.last_written(drive.identity) for drive in drives]
    return bool(records) and all(
        record is not None and record.size_bytes and record.filled_bytes >= record.size_bytes for record in records
    )
