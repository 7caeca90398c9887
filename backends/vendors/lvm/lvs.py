"""Asks lvs, and where a disk that does not answer keeps it waiting, once more without that disk."""

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
from backends.vendors.lvm.inventory import NAME, by_group

SECONDS = 60.0
"""A look; a change is waited for as long as it takes."""

SOON = 2.0
"""Seconds in which lvs has to get somewhere when it was told to leave alone what does not answer."""

FILTER = "devices/filter"
"""What of LVM's configuration says which devices it looks at; `global_filter` stays in force beside it."""

WITHOUT = (*map(re.escape, LVS), "--config", rf'{FILTER}=\[("[ar][^"\\]{{2,600}}",){{0,63}}"[ar][^"\\]{{2,600}}"\]')
"""Its words then, each a pattern."""

WHOLE = CompletenessCheck(
    tool="lvs",
    mark="a closed JSON document with `report`",
    missing=lambda text: "" if "report" in table(document(text)) else "its document is not closed",
    statuses=frozenset(),
)
"""It ends with status 5 where a group misses a disk, and tells the rest."""

WHOLE_TABLE = CompletenessCheck(
    tool="dmsetup table", mark="a line end, and a line for every active volume", missing=line_end
)
"""What the kernel has of a volume."""

_CONFIGURED = re.compile(r'filter=(?:\[([^\n]*)\]|("[^"\n]*"))')
_CHANGED = re.compile(r" *Logical volume \S+ changed\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class LvsAnswer:
    """What lvs told."""

    volumes: tuple[LvFacts, ...]
    """Of groups that it saw whole."""
    strange: int = 0
    """Rows that could not be understood."""
    silent: ToolTimeoutError | None = None
    """What kept it waiting, where it was asked without that: nothing is known then of groups that are not told."""


async def ask_lvs(host: Host) -> LvsAnswer:
    """Everything lvs tells. Raises ToolFailedError, ToolTimeoutError."""
    tool = host.which(("lvs",))
    if tool is None:
        raise ToolFailedError("lvs is not installed, so nothing is known of volumes.", hint="Install lvm2.")
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
            raise ToolFailedError("LVM tells root alone of its volumes.", hint="Start raidbench with sudo.")
        raise ToolFailedError(error_sentence(done, "lvs"), evidence=evidence_of(command, done))
    if why := WHOLE.lost(done):
        half = truncation_problem(NAME, command, why)
        raise ToolFailedError(half.message, hint=half.hint, evidence=evidence_of(command, done))
    return lv_facts, strange


async def _ask_without_silent_disks(host: Host, tool: str, error: ToolTimeoutError) -> LvsAnswer | None:
    """What lvs tells when it leaves the silent disks alone; None where it cannot be asked like that.

    A group with a physical volume there is not told of: that it is missing is our own doing.
    """
    lvmconfig = host.which(("lvmconfig",))
    if lvmconfig is None:
        return None
    try:
        configuration = await host.run(Command(argv=(lvmconfig, FILTER), timeout=10, stall=SOON))
        configured = _CONFIGURED.fullmatch(configuration.stdout.strip())
        if configuration.returncode == 0 and configured is None:
            return None  # it has a filter that is not understood, and leaving it out shows devices that it hides
        own_filters = (
            (configured[1] or configured[2]) if configured is not None and configuration.returncode == 0 else ""
        )
        patterns = ",".join(filter(None, (*rejected(await read_tree(host), error.devices), own_filters)))
        command = Command(argv=(tool, *LVS, "--config", f"{FILTER}=[{patterns}]"), timeout=SECONDS, stall=SOON)
        volumes, strange = await _run_lvs(host, command)
    except RaidbenchError:
        return None
    whole = {
        name
        for name, group in by_group(volumes).items()
        if all(
            lv_facts.number("vg_missing_pv_count") == 0 and MISSING not in lv_facts.places
            for lv_facts in group.values()
        )
    }
    return LvsAnswer(
        volumes=tuple(volume for volume in volumes if volume.group in whole), strange=strange, silent=error
    )


def rejected(tree: Tree, devices: Iterable[str]) -> tuple[str, ...]:
    """Patterns for the filter: these disks, their partitions, and what is built on them, by each of their names.

    What has a meaning in a pattern stands for any character: too much is left alone rather than too little.
    """
    paths: dict[str, None] = {}
    for device in devices:
        paths[node_path(device)] = None
        start = (tree.nodes[device],) if device in tree.nodes else ()
        for node in (*start, *tree.above(device)):
            if not node.attributes.get("dm/uuid", "").startswith(MARK):  # on volumes LVM looks for no volumes
                dm_name = node.attributes.get("dm/name")
                paths |= dict.fromkeys((node.device, *((f"/dev/mapper/{dm_name}",) if dm_name else ())))
    return tuple('"r|^' + re.sub(r"[^A-Za-z0-9_/-]", ".", path) + '$|"' for path in paths)


def error_sentence(done: Completed, tool: str) -> str:
    """The tool's own words in a sentence, without `changed`, which is said before anything happens."""
    lines = f"{done.stderr}\n{done.stdout}".splitlines()
    relevant = [line for line in lines if line.strip() and not _CHANGED.fullmatch(line) and "WARNING:" not in line]
    sentence = clean(clean_lines("\n".join(relevant), lines=6).replace("\n", " "), 300).rstrip(".")
    return f"{sentence}." if sentence else f"{tool} ended with status {done.returncode} and did not say why."


ROOT_READS: RootReads = {
    ("lvs",): (tuple(map(re.escape, LVS)), WITHOUT, tuple(map(re.escape, THIN_COUNT))),
    ("pvs",): (tuple(map(re.escape, PVS)),),
}
"""What root starts for a user: it reads, and changes nothing."""
