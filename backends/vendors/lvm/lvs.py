"""Runner of lvs. If an unresponsive disk blocks lvs, it is run again without that disk."""

from __future__ import annotations

import re
from collections.abc import Iterable

from backends.change_steps import evidence_of
from backends.errors import RaidbenchError, ToolFailedError, ToolTimeoutError
from backends.host import STALL, Command, Completed, Host
from backends.json_text import document, table
from backends.protocol import RootReads
from backends.text import clean, clean_lines
from backends.tool_output import CompletenessCheck, line_end, truncation_problem
from backends.topology import Tree, node_path, read_tree
from backends.topology.stacking import MARK
from backends.topology.thin_capacity_scan import THIN_COUNT
from backends.values import dataclass
from backends.vendors.lvm.facts import LVS, MISSING, PVS, LvFacts, parse_lvs
from backends.vendors.lvm.inventory import NAME, group_volumes

SECONDS = 60.0
"""Timeout in seconds of a command that only reads. Changes have no timeout."""

SOON = 2.0
"""Seconds within which lvs must make progress when it is run again without the unresponsive disks."""

FILTER = "devices/filter"
"""LVM's setting for the devices to scan. `global_filter` still applies in addition."""

WITHOUT = (*map(re.escape, LVS), "--config", rf'{FILTER}=\[("[ar][^"\\]{{2,600}}",){{0,63}}"[ar][^"\\]{{2,600}}"\]')
"""Patterns of the arguments of lvs when it skips unresponsive disks."""

WHOLE = CompletenessCheck(
    tool="lvs",
    mark="a complete JSON document with `report`",
    missing=lambda text: "" if "report" in table(document(text)) else "the JSON document is incomplete",
    statuses=frozenset(),
)
"""The exit status is not checked: lvs exits with status 5 if a group lacks a disk, and still reports all other data."""

WHOLE_TABLE = CompletenessCheck(
    tool="dmsetup table", mark="a newline at the end, and a line for each active volume", missing=line_end
)
"""Check that the output with the kernel's tables is complete."""

_CONFIGURED = re.compile(r'filter=(?:\[([^\n]*)\]|("[^"\n]*"))')
_CHANGED = re.compile(r" *Logical volume \S+ changed\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class LvsAnswer:
    """Output of lvs."""

    volumes: tuple[LvFacts, ...]
    """Volumes of all groups except those with a disk that was left out of the query."""
    strange: int = 0
    """Number of unparsable rows."""
    silent: ToolTimeoutError | None = None
    """Timeout after which lvs was run again without some disks. Groups that are not listed are then unknown."""


async def ask_lvs(host: Host) -> LvsAnswer:
    """Return the output of lvs. Raises ToolFailedError, ToolTimeoutError."""
    tool = host.which(("lvs",))
    if tool is None:
        raise ToolFailedError("lvs is not installed, so logical volumes are unknown.", hint="Install lvm2.")
    try:
        volumes, strange = await _run_lvs(host, Command(argv=(tool, *LVS), timeout=SECONDS, stall=STALL))
    except ToolTimeoutError as error:
        partial = await _ask_without_silent_disks(host, tool, error) if error.devices else None
        if partial is None:
            raise
        return partial
    return LvsAnswer(volumes=volumes, strange=strange)


async def _run_lvs(host: Host, command: Command) -> tuple[tuple[LvFacts, ...], int]:
    done = await host.run(command)
    lv_facts, strange = parse_lvs(done.stdout)
    if not lv_facts and done.returncode != 0:
        if not host.is_root:
            raise ToolFailedError("LVM reports logical volumes only to root.", hint="Start raidbench with sudo.")
        raise ToolFailedError(error_sentence(done, "lvs"), evidence=evidence_of(command, done))
    if why := WHOLE.lost(done):
        problem = truncation_problem(NAME, command, why)
        raise ToolFailedError(problem.message, hint=problem.hint, evidence=evidence_of(command, done))
    return lv_facts, strange


async def _ask_without_silent_disks(host: Host, tool: str, error: ToolTimeoutError) -> LvsAnswer | None:
    """Return the output of lvs without the unresponsive disks; None if that is not possible.

    Groups with a physical volume on such a disk are left out, because the filter makes that volume appear missing.
    """
    lvmconfig = host.which(("lvmconfig",))
    if lvmconfig is None:
        return None
    try:
        configuration = await host.run(Command(argv=(lvmconfig, FILTER), timeout=10, stall=SOON))
        configured = _CONFIGURED.fullmatch(configuration.stdout.strip())
        if configuration.returncode == 0 and configured is None:
            return None  # without the configured filter, which cannot be parsed, lvs would scan devices that it hides
        own_filters = (
            (configured[1] or configured[2]) if configured is not None and configuration.returncode == 0 else ""
        )
        patterns = ",".join(filter(None, (*rejection_patterns(await read_tree(host), error.devices), own_filters)))
        command = Command(argv=(tool, *LVS, "--config", f"{FILTER}=[{patterns}]"), timeout=SECONDS, stall=SOON)
        volumes, strange = await _run_lvs(host, command)
    except RaidbenchError:
        return None
    complete_groups = {
        name
        for name, group in group_volumes(volumes).items()
        if all(
            lv_facts.number("vg_missing_pv_count") == 0 and MISSING not in lv_facts.places
            for lv_facts in group.values()
        )
    }
    return LvsAnswer(
        volumes=tuple(volume for volume in volumes if volume.group in complete_groups), strange=strange, silent=error
    )


def rejection_patterns(tree: Tree, devices: Iterable[str]) -> tuple[str, ...]:
    """Return patterns for LVM's filter that reject these disks, their partitions and the devices built on them, by all
    their names.

    Special characters in a name become wildcards, because it is safer to skip too many devices than too few.
    """
    paths: dict[str, None] = {}
    for device in devices:
        paths[node_path(device)] = None
        start = (tree.nodes[device],) if device in tree.nodes else ()
        for node in (*start, *tree.above(device)):
            if not node.attributes.get("dm/uuid", "").startswith(MARK):  # LVM does not scan logical volumes
                dm_name = node.attributes.get("dm/name")
                paths |= dict.fromkeys((node.device, *((f"/dev/mapper/{dm_name}",) if dm_name else ())))
    return tuple('"r|^' + re.sub(r"[^A-Za-z0-9_/-]", ".", path) + '$|"' for path in paths)


def error_sentence(done: Completed, tool: str) -> str:
    """Return the tool's error output as a sentence.

    Warnings are left out, and so are lines with `changed`, because LVM prints them even before a failure.
    """
    lines = f"{done.stderr}\n{done.stdout}".splitlines()
    relevant = [line for line in lines if line.strip() and not _CHANGED.fullmatch(line) and "WARNING:" not in line]
    sentence = clean(clean_lines("\n".join(relevant), lines=6).replace("\n", " "), 300).rstrip(".")
    return f"{sentence}." if sentence else f"{tool} exited with status {done.returncode} and reported no reason."


ROOT_READS: RootReads = {
    ("lvs",): (tuple(map(re.escape, LVS)), WITHOUT, tuple(map(re.escape, THIN_COUNT))),
    ("pvs",): (tuple(map(re.escape, PVS)),),
}
"""Commands that the root helper runs for a user. All of them only read."""
