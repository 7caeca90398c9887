"""Execution of changes of arrays with validation of each step, and persistence of settings over a reboot."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from backends.change import Change, ChangeStep
from backends.change_steps import evidence_of, run_steps
from backends.errors import BlockedError, RefusedError, ToolFailedError
from backends.guard import require_free
from backends.host import Command, Completed, Host
from backends.text import clean, clean_lines
from backends.topology import node_path
from backends.udev import attribute_assignment, queue_rules
from backends.vendors.mdraid.facts import ArrayFacts
from backends.vendors.mdraid.plans import kernel_word
from backends.vendors.mdraid.recreate import devices_in

# -- persistent settings: one line per array in a udev rules file -----------------------------------------------------

# SYSFS lines of mdadm.conf cannot persist settings: up to mdadm 4.6 their `uuid=` never matches on little-endian
# CPUs (github.com/md-raid-utilities/mdadm/issues/242), and `mdadm --incremental`, with which udev assembles
# arrays, ignores them (verified with mdadm 4.2). A udev rule can match ENV{MD_UUID}, which udev sets for every
# running array (63-md-raid-arrays.rules).

RULES = queue_rules("md", "array")
"""Part of the udev rules file for the `md` attributes of an array; the block backend writes those of its queue."""

KEPT = (
    "stripe_cache_size",
    "preread_bypass_threshold",
    "group_thread_cnt",
    "skip_copy",
    "sync_speed_min",
    "sync_speed_max",
    "safe_mode_delay",
    "journal_mode",
)
"""Settings that a reboot resets. The stripe cache comes before the threshold, because it limits the threshold."""

_UUID = re.compile(r"[0-9a-f]{8}(:[0-9a-f]{8}){3}")


def match_of(uuid: str | None) -> tuple[str, ...]:
    """Return the match keys by which a udev rule finds the array with this UUID.

    Raises BlockedError if `uuid` is missing or illegal.
    """
    if uuid is None or not _UUID.fullmatch(uuid):
        raise BlockedError("The array has no UUID, so a udev rule cannot identify it.")
    return (f'ENV{{MD_UUID}}=="{uuid}"',)


def actions(values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the assignments of the udev rule that sets these values. Raises BlockedError for an illegal value."""
    return tuple(attribute_assignment(f"md/{key}", kernel_word(key, values[key])) for key in KEPT if key in values)


# -- execution: every step is validated against the legal steps of an array -------------------------------------------

SECONDS = 300.0
"""Seconds after which a change counts as slow. A change is never killed."""

_FILES = re.compile(
    r"/sys/block/([^/]+)/md/"
    r"(?:stripe_cache_size|preread_bypass_threshold|group_thread_cnt|skip_copy|sync_speed_min|sync_speed_max"
    r"|safe_mode_delay|journal_mode|dev-[^/]+/state)"
)
"""Pattern of the files that may be written.

Writing level, layout, chunk_size or raid_disks takes effect at once and would destroy the array, so they are not
included.
"""

OPTIONS = {
    "--grow": re.compile(
        r"--(?:chunk=\d{1,7}K|layout=[a-zN0-9-]{1,24}|bitmap=(?:none|internal)|bitmap-chunk=\d{1,9}K"
        r"|consistency-policy=(?:ppl|resync)|backup-file=/\S{1,255})",
        re.ASCII,
    ),
    "--stop": re.compile(r"(?!)"),
    "--create": re.compile(
        r"--(?:run|metadata=1\.[012]|level=raid\d{1,2}|raid-devices=\d{1,4}|chunk=\d{1,7}K|layout=[a-z0-9-]{1,24}"
        r"|uuid=[0-9a-f:]{35}|name=.{1,64}|data-offset=\d{1,12}K|size=\d{1,18}K|bitmap=(?:none|internal))|/dev/\S{1,128}",
        re.ASCII,
    ),
}
"""Pattern of the legal arguments of each mode of mdadm, in addition to the node of the array."""


MAKING = (("--create",), ("--stop",), ("--zero-superblock",))
"""Modes of mdadm that create and delete an array."""


class MdRaidRunner:
    """Runs changes on one host."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def run(self, change: Change, array: ArrayFacts, device: str) -> None:
        """Run all steps in order, up to the first that fails.

        Raises RefusedError for an illegal step or if the array is in use, ToolFailedError with the message of the
        kernel or of mdadm.
        """
        for write in change.writes:
            self._require_ours(write, array.name, device)
        creation = next((write for write in change.writes if write.argv[1:2] == ("--create",)), None)
        if creation is not None:
            self._require_members(creation, array, change)
            await require_free(self._host, device, change.found)
        await run_steps(change, self._run_step, apart="" if creation is None else "stopped")

    def _require_ours(self, write: ChangeStep, name: str, device: str) -> None:
        """Raise RefusedError unless the step `write` is legal for this array.

        Steps may come from a journal, which is not trusted.
        """
        if write.path is not None:
            match = _FILES.fullmatch(write.path)
            if match is None or match[1] != name or write.text is None:
                raise RefusedError(f"Refusing to write {clean(write.path)}: it is not a setting of {device}.")
            return
        tool = self._host.which(("mdadm",))
        if len(write.argv) < 3 or write.argv[0] != tool or device not in write.argv[2:]:
            raise RefusedError(f"Refusing to run {clean(' '.join(write.argv), 200)}: it is not a command for {device}.")
        legal = OPTIONS.get(write.argv[1])
        for word in write.argv[2:]:
            if word != device and (legal is None or not legal.fullmatch(word)):
                raise RefusedError(
                    f"Refusing to run mdadm {clean(write.argv[1], 40)} {clean(word, 80)}: it is not a command of "
                    "raidbench."
                )

    def _require_members(self, creation: ChangeStep, array: ArrayFacts, change: Change) -> None:
        named = [name for name in devices_in(creation.argv) if name != node_path(array.name)]
        present = [node_path(device.name) for device in array.active]
        if named != present or not any(word == f"--uuid={array.uuid}" for word in creation.argv):
            raise RefusedError(
                f"The members of {change.target} are now {', '.join(present)}, not {', '.join(named)}.",
                hint="Plan the change again.",
            )

    async def run_making(self, steps: Sequence[ChangeStep]) -> None:
        """Run steps that create or delete an array.

        Raises RefusedError for any other step, ToolFailedError if mdadm fails.
        """
        tool = self._host.which(("mdadm",))
        for step in steps:
            if step.argv[:1] != (tool,) or step.argv[1:2] not in MAKING:
                raise RefusedError(
                    f"Refusing to run {clean(step.shown(), 200)}: it neither creates nor stops an array."
                )
        for step in steps:
            await self._run_step(step)

    async def _run_step(self, write: ChangeStep) -> None:
        if write.path is not None:
            await self._host.write(write.path, write.text or "")
            return
        # without udev mdadm would wait for a node that is never created (mdadm(8), ENVIRONMENT)
        env = {} if await self._host.stat("/run/udev/control") is not None else {"MDADM_NO_UDEV": "1"}
        command = Command(argv=write.argv, timeout=SECONDS, mutates=True, env=env)
        done = await self._host.run(command)
        if done.returncode != 0:
            raise ToolFailedError(_error_sentence(done), evidence=evidence_of(command, done))


def _error_sentence(done: Completed) -> str:
    """Return mdadm's message as a sentence."""
    output = clean_lines(f"{done.stderr}\n{done.stdout}".strip(), lines=6).replace("\n", " ")
    text = clean(re.sub(r"\bmdadm: ", "", output), 300).rstrip(".")
    return f"{text}." if text else f"mdadm exited with status {done.returncode} and reported no reason."
