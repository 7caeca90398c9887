"""Execution of changes of drives, and their persistence over a reboot."""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.change import Change, ChangeStep
from backends.change_steps import evidence_of
from backends.errors import BlockedError, RefusedError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.text import clean
from backends.udev import RuleFile, attribute_assignment
from backends.vendors.scsi import hdparm, sdparm
from backends.vendors.scsi.disks import Disk, Kind
from backends.vendors.scsi.settings import BITS, OPTIONS, SETTINGS

# -- persistent settings: a separate udev rules file, one line per drive ----------------------------------------------

# The write cache is set through sd's cache_type, so that drive and kernel use the same mode. udev expands `*` to the
# only folder (udev(7), ATTR). Settings that need a program are set by running the program when the drive appears.

RULES = RuleFile(
    path="/etc/udev/rules.d/99-raidbench-drives.rules",
    header="# Drive settings persisted by raidbench, one line per drive. `raidbench persist` changes only lines in "
    "this format.",
    event="add",
    action=r'(?:ATTR\{[a-z_/*]+\}="[a-z0-9 ]+"|RUN\+="[^"\\]+")',
    device_kind="drive",
    until="the drive loses power",
)
"""The udev rules file for settings of drives. Settings of request queues are in another file."""


def actions(disk: Disk, tool: str | None, values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the actions of the udev rule that sets these values on a drive, in the order of `SETTINGS`.

    Raises BlockedError for a value that no rule can set.
    """
    rule_actions: list[str] = []
    for setting in SETTINGS:
        value = values.get(setting.key)
        if value is None:
            continue
        if setting.key == "queue_depth":
            rule_actions.append(attribute_assignment("device/queue_depth", value))
        elif setting.key == "drive_cache" and disk.cache_type in ("write back", "write through"):
            word = "write back" if value == "on" else "write through"
            rule_actions.append(attribute_assignment("device/scsi_disk/*/cache_type", word))
        else:
            rule_actions.append(f'RUN+="{_program(disk, tool, setting.key, value)} $devnode"')
    return tuple(rule_actions)


def _program(disk: Disk, tool: str | None, key: str, value: str) -> str:
    """Return the command line that sets `key` to `value`, without the device.

    Raises BlockedError if a rule cannot set it.
    """
    if tool is None or '"' in tool or " " in tool or "%" in tool or "$" in tool:
        raise BlockedError(f"{key} of {disk.node.device} cannot be persisted by a udev rule: its tool is missing.")
    if disk.kind is Kind.ATA and key in OPTIONS:
        word = {"on": "1", "off": "0"}.get(value, value)
        return f"{tool} -q {OPTIONS[key]}{word}"
    if disk.kind is Kind.SCSI and key in BITS:
        name, inverted = BITS[key]
        return f"{tool} --quiet --set={name}={int((value == 'on') is not inverted)}"
    raise BlockedError(f"{key} of {disk.node.device} cannot be persisted by a udev rule.")


# -- execution, step by step, on the planned disk ---------------------------------------------------------------------

SET_SECONDS = 60.0
"""Seconds after which a change counts as slow. raidbench still waits for its end."""


class NotSaveableError(ToolFailedError):
    """Error for a drive that reports saved values but cannot save this mode page."""


async def run_tool(host: Host, step: ChangeStep, kind: Kind) -> None:
    """Run the program of a step. Raises ToolFailedError with the program's message."""
    command = Command(argv=step.argv, timeout=SET_SECONDS, mutates=True)
    done = await host.run(command)
    if kind is Kind.SCSI and sdparm.attention(done.returncode, _text(done)):
        done = await host.run(command)
    reason = _refusal(kind, done)
    if reason is None:
        return
    evidence = evidence_of(command, done)
    if kind is Kind.SCSI and done.returncode == sdparm.NOT_SAVEABLE:
        raise NotSaveableError(
            reason, hint="Plan the change again. The value will then be set without --save.", evidence=evidence
        )
    raise ToolFailedError(reason, evidence=evidence)


def _refusal(kind: Kind, done: Completed) -> str | None:
    """Return why a tool failed; None if it succeeded."""
    if kind is Kind.SCSI:
        return sdparm.refusal(done.returncode, _text(done))
    reason = hdparm.refusal(_text(done))
    if reason is None and done.returncode:
        reason = clean((done.stderr or done.stdout).strip().rsplit("\n", 1)[-1]) or f"exit status {done.returncode}"
    return reason


def _text(done: Completed) -> str:
    return f"{done.stdout}\n{done.stderr}"


def require_own_step(step: ChangeStep, change: Change, disk: Disk, tool: str | None) -> None:
    """Raise RefusedError unless the step belongs to a change of this setting on this disk.

    Steps may come from a journal, which is not trusted.
    """
    if step.path is not None:
        ours = step.path in {disk.device_file("queue_depth"), disk.device_file("rescan"), disk.cache_path}
    else:
        ends = len(step.argv) > 2 and step.argv[0] == tool and step.argv[-1] == disk.node.device
        ours = ends and _is_switch(disk.kind, change.key, " ".join(step.argv[1:-1]))
    if not ours:
        raise RefusedError(
            f"Refusing to run a step that does not belong to {disk.node.device}: {clean(step.shown(), 200)}."
        )


def _is_switch(kind: Kind, key: str, text: str) -> bool:
    """Return whether a command changes the setting `key`. `text`: its arguments between the path of the tool and the
    disk.
    """
    if kind is Kind.ATA and key in OPTIONS:
        return re.fullmatch(OPTIONS[key] + r"\d{1,3}", text, re.ASCII) is not None
    if kind is Kind.SCSI and key in BITS:
        return re.fullmatch(f"--set={BITS[key][0]}=[01]( --save)?", text) is not None
    return False
