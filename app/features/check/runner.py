"""Applies all rules to a snapshot of a machine, and records the findings in a session."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from app.core.session.events import MachineChecked, RecordedFinding, last_check
from app.features.check.collector import gather
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
    """The result of a check."""

    findings: tuple[RuleResult[Finding], ...] = ()
    """Findings, sorted by severity with faults first."""
    unknown: tuple[RuleResult[UnknownResult], ...] = ()
    """Results of rules that could not decide, because a fact is not reported."""
    ignored: tuple[RuleResult[Finding], ...] = ()
    """Findings of rules that the user ignores."""
    problems: tuple[Problem, ...] = ()
    """Devices and tools that could not be read."""
    rules: int = 0
    """Number of rules that were applied."""
    inventory: Inventory = field(default_factory=Inventory)
    """The inventory that was checked."""
    devices: Mapping[str, str] = field(default_factory=dict)
    """Address of the device at which a finding is shown, by the finding's `where`.

    Findings that belong to no device have no entry.
    """

    def at(self, address: str) -> tuple[RuleResult[Finding], ...]:
        """Return the findings that are shown at the device with this address, faults first."""
        return tuple(ruling for ruling in self.findings if self.devices.get(ruling.outcome.where) == address)

    def from_on(self, severity: Severity) -> tuple[RuleResult[Finding], ...]:
        """Return the findings of at least this severity."""
        return tuple(finding for finding in self.findings if finding.rule.severity.rank >= severity.rank)

    @property
    def severities(self) -> tuple[str, ...]:
        """The severity of each finding, the gravest first."""
        return tuple(finding.rule.severity.value for finding in self.findings)

    def count(self, severity: Severity) -> int:
        """Return the number of findings of a severity."""
        return sum(finding.rule.severity is severity for finding in self.findings)


def require_known_rules(ids: Iterable[str]) -> frozenset[str]:
    """Return the rule ids as a set. Raises InvalidValueError if one is unknown."""
    wanted = frozenset(ids)
    for name in sorted(wanted - RULES.keys()):
        raise InvalidValueError(
            f"Unknown rule {clean(name, 60)!r}.",
            hint=suggestion_hint(name, RULES, "docs/check-rules.md lists them."),
        )
    return wanted


async def check(
    machine: MachineBackends,
    inventory: Inventory,
    *,
    about: Controller | Array | Drive | None = None,
    ignore: Collection[str] = (),
) -> CheckResult:
    """Check a machine that was just scanned, and return the result. With `about`, the result covers only that device.

    The check writes nothing and creates no load.
    """
    readings, problems = await machine.read_devices(inventory)
    snapshot = await gather(machine.host, inventory, readings)
    return evaluate(snapshot, about=about, ignore=ignore, problems=problems)


def evaluate(
    snapshot: SystemSnapshot,
    *,
    about: Controller | Array | Drive | None = None,
    ignore: Collection[str] = (),
    problems: Iterable[Problem] = (),
) -> CheckResult:
    """Return the results of all rules for a snapshot. No I/O."""
    places = None if about is None else places_of(snapshot, about)
    findings: list[RuleResult[Finding]] = []
    unknown: list[RuleResult[UnknownResult]] = []
    for rule in RULES.values():
        for outcome in () if rule.look is None else rule.look(snapshot):
            if places is None or outcome.where in places:
                if isinstance(outcome, Finding):
                    findings.append(RuleResult(rule=rule, outcome=outcome))
                else:
                    unknown.append(RuleResult(rule=rule, outcome=outcome))
    # The sort is stable, so findings of the same severity keep the order of the table.
    findings.sort(key=lambda result: -result.rule.severity.rank)
    return CheckResult(
        findings=tuple(result for result in findings if result.rule.id not in ignore),
        unknown=tuple(result for result in unknown if result.rule.id not in ignore),
        ignored=tuple(result for result in findings if result.rule.id in ignore),
        problems=tuple(
            problem
            for problem in (*snapshot.inventory.problems, *problems)
            if about is None or places is None or _concerns(problem, about, places)
        ),
        rules=sum(rule.look is not None and rule.id not in ignore for rule in RULES.values()),
        inventory=snapshot.inventory,
        devices={ruling.outcome.where: at for ruling in findings if (at := device_at(snapshot, ruling.outcome.where))},
    )


def _concerns(problem: Problem, about: Controller | Array | Drive, places: frozenset[str]) -> bool:
    """Return whether a problem concerns the device `about`: it is at one of its `places`, or in a backend of one."""
    backends = {about.target.backend, *(address.partition(":")[0] for address in places if ":" in address)}
    return problem.where in places or problem.where in backends


def device_at(snapshot: SystemSnapshot, where: str) -> str:
    """Return the address of the device at which a finding with this `where` is shown; "" if there is none."""
    if (device := snapshot.inventory.find(where)) is not None:
        views = () if isinstance(device, Controller) else snapshot.views(device)
        return str(views[0].target if views else device.target)
    mounted = (kernel_name(mount.source) for mount in snapshot.mounts if mount.where() == where)
    name = next(mounted, where.partition(" on ")[0])
    block = snapshot.find_block(name)
    views = () if block is None else snapshot.inventory.at(f"/dev/{block.name.replace('!', '/')}")
    return str(views[0].target) if views else ""


def places_of(snapshot: SystemSnapshot, device: Controller | Array | Drive) -> frozenset[str]:
    """Return all values of `where` with which findings belong to a device.

    A controller includes its arrays and drives. An array includes its members and its controller. A drive includes its
    controller. All of these include their kernel disks, partitions and filesystems. An array or drive does not include
    other arrays of its controller. Findings about the whole machine, such as its CPUs, are not included.
    """
    inventory = snapshot.inventory
    things: list[Controller | Array | Drive] = [device]
    if isinstance(device, Controller):
        things += [array for array in inventory.arrays if array.controller == device.target]
        things += [drive for drive in inventory.drives if drive.controller == device.target]
    else:
        things += list(snapshot.views(device))
    for owner in tuple(things):
        if isinstance(owner, Array):
            members = snapshot.members(owner)
            things += [*members, *(view for drive in members for view in snapshot.views(drive))]
    for owner in tuple(things):
        card = None if isinstance(owner, Controller) else snapshot.controller(owner)
        things += [card] if card is not None else []
    places = {str(related.target) for related in things}
    places |= {related.target.address.partition("/")[0] for related in things if related.target.backend == "lvm"}
    kernel_names = {
        kernel_name(related.device)
        for related in things
        if not isinstance(related, Controller) and related.device is not None
    }
    for block in snapshot.blocks.values():
        if block.name in kernel_names:
            places |= {block.name, block.attributes.get("dm/name", block.name)}
            places |= block.parts.keys() | {f"{block.name} on {below}" for below in block.below}
            kernel_names |= block.parts.keys()
    places |= kernel_names & snapshot.filesystem_errors.keys()
    places |= {mount.where() for mount in snapshot.mounts if kernel_name(mount.source) in kernel_names}
    pci = {related.pci for related in things if isinstance(related, Controller)}
    places |= {f"nvme:{name}" for name, address in snapshot.nvme.items() if address in pci}
    return frozenset(places)


def recorded(ruling: RuleResult[Finding]) -> RecordedFinding:
    """Return a finding in the form that sessions store."""
    return RecordedFinding(
        rule=ruling.rule.id,
        severity=ruling.rule.severity.value,
        where=ruling.outcome.where,
        message=ruling.outcome.message,
        evidence=ruling.outcome.evidence,
        mends=ruling.outcome.fix,
    )


def record(session: Recorder, checked: CheckResult) -> None:
    """Record the findings in the session, unless they equal those of the last recorded check. Never raises."""
    findings = tuple(map(recorded, checked.findings))
    last = last_check(session.session.events)
    if session.is_open and findings != (last.findings if last is not None else ()):
        with contextlib.suppress(StorageError):
            session.emit(MachineChecked(at=time.time(), findings=findings, rules=checked.rules))


async def check_session(session: Recorder, machine: MachineBackends) -> None:
    """Check the inventory of the session, and record the findings."""
    with machine.using_last_scan():
        record(session, await check(machine, session.session.inventory))
