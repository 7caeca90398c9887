"""All rules over one sight of a machine: their findings, the gravest first, and the record of them in a session."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from app.core.session.events import MachineChecked, RecordedFinding, last_check
from app.features.check.collector import gather, readings_of
from app.features.check.finding import Finding, RuleResult, Severity, UnknownResult
from app.features.check.rule_table import RULES
from app.features.check.snapshot import SystemSnapshot
from backends.did_you_mean import suggestion_hint
from backends.errors import InvalidValueError, StorageError
from backends.model import Array, Controller, Drive, Inventory, Problem
from backends.registry import MachineBackends
from backends.text import clean
from backends.topology import kernel_name
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.session.recorder import Recorder


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What a check found."""

    findings: tuple[RuleResult, ...] = ()
    """The gravest first."""
    unknown: tuple[RuleResult, ...] = ()
    """What could not be judged."""
    ignored: tuple[RuleResult, ...] = ()
    """Findings that are not to be told."""
    problems: tuple[Problem, ...] = ()
    """What gave no answer: nothing is known of it."""
    rules: int = 0
    """How many rules judged."""
    inventory: Inventory = field(default_factory=Inventory)
    """What was looked at."""
    devices: Mapping[str, str] = field(default_factory=dict)
    """By the place of a finding, the address of the device that it is told at; of what is no device's nothing."""

    def at(self, address: str) -> tuple[RuleResult, ...]:
        """Findings told at a device, the gravest first."""
        return tuple(ruling for ruling in self.findings if self.devices.get(ruling.said.where) == address)

    def from_on(self, severity: Severity) -> tuple[RuleResult, ...]:
        """Findings at least as grave."""
        return tuple(finding for finding in self.findings if finding.rule.severity.rank >= severity.rank)

    def count(self, severity: Severity) -> int:
        """Findings of a severity."""
        return sum(finding.rule.severity is severity for finding in self.findings)


def known_ids(ids: Iterable[str]) -> frozenset[str]:
    """Ids of rules. Raises InvalidValueError for one that there is not."""
    wanted = frozenset(ids)
    for name in sorted(wanted - RULES.keys()):
        raise InvalidValueError(
            f"There is no rule {clean(name, 60)!r}.",
            hint=suggestion_hint(name, RULES, "docs/check.md lists them."),
        )
    return wanted


async def check(
    machine: MachineBackends,
    inventory: Inventory,
    *,
    about: Controller | Array | Drive | None = None,
    ignore: Collection[str] = (),
) -> CheckResult:
    """Judge a machine that was looked for just now; `about`: only what concerns this. Writes nothing, makes no load."""
    readings, problems = await readings_of(machine, inventory)
    sight = await gather(machine.host, inventory, readings)
    return judged(sight, about=about, ignore=ignore, problems=problems)


def judged(
    sight: SystemSnapshot,
    *,
    about: Controller | Array | Drive | None = None,
    ignore: Collection[str] = (),
    problems: Iterable[Problem] = (),
) -> CheckResult:
    """What the rules say of a sight. Pure."""
    places = None if about is None else places_of(sight, about)
    rule_results = [
        RuleResult(rule=rule, said=said)
        for rule in RULES.values()
        if rule.look is not None
        for said in rule.look(sight)
        if places is None or said.where in places
    ]
    matches = [rule_result for rule_result in rule_results if isinstance(rule_result.said, Finding)]
    matches.sort(key=lambda rule_result: -rule_result.rule.severity.rank)  # stable: within one the order of the table
    return CheckResult(
        findings=tuple(rule_result for rule_result in matches if rule_result.rule.id not in ignore),
        unknown=tuple(
            rule_result
            for rule_result in rule_results
            if isinstance(rule_result.said, UnknownResult) and rule_result.rule.id not in ignore
        ),
        ignored=tuple(rule_result for rule_result in matches if rule_result.rule.id in ignore),
        problems=tuple(
            problem
            for problem in (*sight.inventory.problems, *problems)
            if about is None or places is None or _concerns(problem, about, places)
        ),
        rules=sum(rule.look is not None and rule.id not in ignore for rule in RULES.values()),
        inventory=sight.inventory,
        devices={ruling.said.where: at for ruling in matches if (at := device_at(sight, ruling.said.where))},
    )


def _concerns(problem: Problem, about: Controller | Array | Drive, places: frozenset[str]) -> bool:
    """Return whether a problem is about a target: about one of its places, or about the whole tool that reports it."""
    backends = {about.target.backend, *(place.partition(":")[0] for place in places if ":" in place)}
    return problem.where in places or problem.where in backends


def device_at(sight: SystemSnapshot, where: str) -> str:
    """The address of the device that a place is, lies on or is mounted from; "" of what is no device's."""
    if (device := sight.inventory.find(where)) is not None:
        views = () if isinstance(device, Controller) else sight.views(device)
        return str(views[0].target if views else device.target)
    mounted = (kernel_name(mount.source) for mount in sight.mounts if mount.where() == where)
    name = next(mounted, where.partition(" on ")[0])
    block = sight.block_called(name)
    views = () if block is None else sight.inventory.at(f"/dev/{block.name.replace('!', '/')}")
    return str(views[0].target) if views else ""


def places_of(sight: SystemSnapshot, device: Controller | Array | Drive) -> frozenset[str]:
    """Return the places that belong to a target, by all their names.

    To a controller belong its arrays and drives; to an array its members and its controller; to a drive its controller.
    With each come its disk, partitions and filesystems in the kernel. Other arrays of a drive's controller, and what
    concerns the whole machine, such as its processors, belong to no target.
    """
    inventory = sight.inventory
    things: list[Controller | Array | Drive] = [device]
    if isinstance(device, Controller):
        things += [array for array in inventory.arrays if array.controller == device.target]
        things += [drive for drive in inventory.drives if drive.controller == device.target]
    else:
        things += list(sight.views(device))
    for other_device in tuple(things):
        if isinstance(other_device, Array):
            members = sight.members(other_device)
            things += [*members, *(view for drive in members for view in sight.views(drive))]
    for other_device in tuple(things):
        card = None if isinstance(other_device, Controller) else sight.controller(other_device)
        things += [card] if card is not None else []
    matches = {str(one.target) for one in things}
    matches |= {one.target.address.partition("/")[0] for one in things if one.target.backend == "lvm"}
    names = {kernel_name(one.device) for one in things if not isinstance(one, Controller) and one.device is not None}
    for block in sight.blocks.values():
        if block.name in names:
            matches |= {block.name, block.attributes.get("dm/name", block.name)}
            matches |= {part.name for part in block.parts} | {f"{block.name} on {below}" for below in block.below}
            names |= {part.name for part in block.parts}
    matches |= names & sight.filesystem_errors.keys()
    matches |= {mount.where() for mount in sight.mounts if kernel_name(mount.source) in names}
    pci = {one.pci for one in things if isinstance(one, Controller)}
    matches |= {f"nvme:{name}" for name, address in sight.nvme.items() if address in pci}
    return frozenset(matches)


def record(session: Recorder, checked: CheckResult) -> None:
    """Put the findings into the session, unless they are those of its last check. Never raises."""
    findings = tuple(
        RecordedFinding(
            rule=ruling.rule.id,
            severity=ruling.rule.severity.value,
            where=ruling.said.where,
            message=ruling.said.message,
            evidence=ruling.said.evidence,
            mends=ruling.said.mends,
        )
        for ruling in checked.findings
        if isinstance(ruling.said, Finding)
    )
    last = last_check(session.session.events)
    if session.logs and findings != (last.findings if last is not None else ()):
        with contextlib.suppress(StorageError):
            session.emit(MachineChecked(at=time.time(), findings=findings, rules=checked.rules))


async def check_session(session: Recorder, machine: MachineBackends) -> None:
    """Judge what the session has seen of its machine; no program runs for it."""
    record(session, judged(await gather(machine.host, session.session.inventory, dict(machine.read_so_far))))
