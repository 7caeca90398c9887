"""Advice rules about the state of array, controller and host, and about other activity during the run."""

from __future__ import annotations

from app.core.benchmark.conditions.facts import Condition, RunFacts
from app.core.benchmark.device_stats.diskstats import SECTOR
from app.core.benchmark.task_names import TASKS
from app.core.session.results import Advice
from backends.model import BROKEN, GONE, Task
from backends.sizes import size_words
from widgets.text_utils import units

POLICIES = ("write_cache", "read_cache", "read_ahead", "io_policy")
"""Settings whose effective value a controller may change on its own."""

FOREIGN_SHARE = 0.05
"""Advice is given if other programs moved more than this share of the job's bytes."""

OTHER_WAY_SHARE = 0.01
"""`FOREIGN_SHARE` for a direction (read or write) that the job does not use, so that all its bytes are foreign."""

FOREIGN_BYTES = 16 << 20
"""Up to this number of bytes, I/O of other programs is ignored: logs and access times cause that much."""

PERFORMANCE = "performance"
"""Name of the frequency governor that keeps the CPU frequency constant."""

LIMIT = "sync_speed_max"
"""Setting that limits the speed of an md array's background tasks."""


def background_task(facts: RunFacts) -> Advice | None:
    """Return advice if a rebuild, check or initialisation is running at the same time as the job."""
    later = facts.after.tasks if facts.after is not None else ()
    kinds = {task.kind: task for task in (*facts.before.tasks, *later)}
    if not kinds:
        return None
    begun = {task.kind for task in facts.before.tasks}
    named = [_task_text(task) + ("" if kind in begun else ", started during the run") for kind, task in kinds.items()]
    state = None if facts.array is None else facts.array.state
    lacks = " The array is degraded: missing data is rebuilt from the other members." if state in BROKEN else ""
    pause = "pause it with the array's tool"
    if LIMIT in facts.before.policies:
        pause = f"slow it down with a low {LIMIT} of the array"
    return Advice(
        key="background-task",
        message=f"A background task is running: {'; '.join(named)}. It competes with the job for the drives.{lacks}",
        do=f"Wait until it ends, or {pause}, and resume it afterwards.",
        about=tuple(kinds),
    )


def _task_text(task: Task) -> str:
    done = f" ({units.fraction(task.progress)} done)" if task.progress is not None else ""
    return TASKS.get(task.kind, task.kind) + done


def array_degraded(facts: RunFacts) -> Advice | None:
    """Return advice if the array is degraded or failed. During a rebuild, `background_task` reports it."""
    state = None if facts.array is None else facts.array.state
    if state is not None and state in GONE:
        return Advice(
            key="array-degraded",
            message=f"The array is {state.value}. I/Os may fail, or only be served from a cache.",
            do="Repair the array before you measure.",
        )
    if state is None or state not in BROKEN or facts.before.tasks:
        return None
    return Advice(
        key="array-degraded",
        message=f"The array is {state.value}. The other members also serve the reads of the missing one.",
        do="Replace the drive, and wait for the rebuild before you measure.",
    )


def battery_learning(facts: RunFacts) -> Advice | None:
    """Return advice if the battery of the controller is in a learn cycle."""
    if facts.protection is None or facts.protection.state != "learning":
        return None
    return Advice(
        key="battery-learning",
        message="The battery of the controller is in a learn cycle. The controller uses write-through until the"
        " battery is charged, which takes hours.",
        do="Measure after the end of the learn cycle.",
    )


def policy_not_in_force(facts: RunFacts) -> Advice | None:
    """Return advice if the effective value of a cache policy differs from the configured value."""
    for key in POLICIES:
        policy = facts.before.policies.get(key)
        if policy is not None and policy.effective not in (None, policy.now, "unknown"):
            why = f": {policy.why}" if policy.why else ""
            return Advice(
                key="policy-not-in-force",
                message=f"{policy.label} is set to {policy.now}, but the effective value is {policy.effective}{why}.",
                do="The results apply to the effective value. Fix the cause, or report the effective value with the"
                " results.",
                about=(key, policy.effective),
            )
    return None


def policy_changed(facts: RunFacts) -> Advice | None:
    """Return advice if the effective value of a setting changed during the run."""
    if facts.after is None:
        return None
    moved = _changed_policies(facts.before, facts.after)
    if not moved:
        return None
    return Advice(
        key="policy-changed",
        message=f"During the run, {'; '.join(moved)}. The results mix both states.",
        do="Find the cause of the change (battery, another program), then measure again.",
    )


def _changed_policies(before: Condition, after: Condition) -> list[str]:
    changes = []
    for key, old in before.policies.items():
        new = after.policies.get(key)
        if new is not None and new.in_force != old.in_force:
            why = f" ({new.why})" if new.why else ""
            changes.append(f"{old.label} changed from {old.in_force} to {new.in_force}{why}")
    return changes


def device_busy(facts: RunFacts) -> Advice | None:
    """Return advice if other programs used the disk, so that the kernel counted more bytes than fio."""
    done = facts.measured
    if done is None or done.device is None or not facts.job.direct:
        return None
    job_bytes = done.read_bytes + done.written_bytes
    # During the run, the kernel counters may lack the last seconds, so fio's bytes cannot be subtracted from them. Only
    # directions that the job does not use are then reported.
    reads = done.device.sectors_read * SECTOR - (done.read_bytes if facts.job.reads else 0)
    writes = done.device.sectors_written * SECTOR - (done.written_bytes if facts.job.writes_data else 0)
    if not done.ended:
        reads = 0 if facts.job.reads else reads
        writes = 0 if facts.job.writes_data else writes
    transfers = [
        f"{size_words(count)} {verb}"
        for count, verb, ours in ((reads, "read", facts.job.reads), (writes, "written", facts.job.writes_data))
        if count > max(FOREIGN_BYTES, job_bytes * (FOREIGN_SHARE if ours else OTHER_WAY_SHARE))
    ]
    if not transfers:
        return None
    return Advice(
        key="device-busy",
        message=f"Other programs used the disk during the run: {' and '.join(transfers)}.",
        do="Stop these programs (find them with iotop and lsof), or measure at a quiet time.",
    )


def throttled(facts: RunFacts) -> Advice | None:
    """Return advice if drives or CPUs were throttled during the run because of their temperature."""
    done = facts.measured
    if done is None:
        return None
    causes = [*done.drives_throttled]
    if done.cpu_throttles:
        causes.append(f"CPUs were throttled {units.plural(done.cpu_throttles, 'time')}")
    if not causes:
        return None
    return Advice(
        key="throttled",
        message=f"During the run, drives or CPUs were throttled because of their temperature: {'; '.join(causes)}.",
        do="Check airflow and fans. Measure again when the temperature is normal.",
    )


def governor(facts: RunFacts) -> Advice | None:
    """Return advice if a frequency governor makes the CPU frequency depend on the load."""
    others = {name: count for name, count in facts.governors.items() if name != PERFORMANCE}
    if not others:
        return None
    total = sum(facts.governors.values())
    named = ", ".join(f"{name} on {count} of {total} CPUs" for name, count in others.items())
    return Advice(
        key="governor",
        message=f"The frequency governor is {named}. Latency depends on the CPU load of the host.",
        do="Run `cpupower frequency-set -g performance`, at least for the measurement.",
    )
