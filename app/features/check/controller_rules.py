"""Rules about controllers: PCIe links, interrupts, rebuild rate, and protection of caches."""

from __future__ import annotations

from app.features.advice.condition_rules import POLICIES
from app.features.check.finding import FAULT, NOTE, WARN, Finding, RuleOutput, UnknownResult, rule
from app.features.check.snapshot import PciSlot, SystemSnapshot, fact
from backends.pci import Link, rate_of
from backends.settings import NOT_UNDERSTOOD

ALWAYS_CACHED = "always-write-back"
"""Value of `write_cache` with which a controller caches writes even without a healthy battery."""

UNPROTECTED = ("failed", "missing", "degraded")
"""States of a battery or capacitor in which it does not protect the cache."""

HIGHEST_REBUILD_RATE = 50
"""Highest acceptable percentage of a controller's time for a rebuild. Above it, the rebuild gets more time than I/O.

The default is 30 (Broadcom, MegaRAID SAS software user guide, rebuild rate).
"""


def _slots_by_name(snapshot: SystemSnapshot) -> list[tuple[str, PciSlot]]:
    """Return, for each controller and NVMe drive on the PCI bus, its address in raidbench and its slot."""
    named = {pci: f"nvme:{name}" for name, pci in snapshot.nvme.items()}
    named = {
        controller.pci: str(controller.target)
        for controller in reversed(snapshot.inventory.controllers)
        if controller.pci
    } | named
    return [(named[pci], slot) for pci, slot in snapshot.slots.items() if pci in named]


@rule(
    WARN,
    "pcie-link-slow",
    "a PCIe link is slower than controller and slot support",
    "Documentation/ABI/testing/sysfs-bus-pci, max_link_speed",
)
def slow_links(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield PCIe links that run slower than both the device and the slot support."""
    for where, slot in _slots_by_name(snapshot):
        card, port = slot.link, slot.port
        if not card.link_degraded:
            continue
        if port.max_speed is None or port.max_width is None:
            yield UnknownResult(where=where, why=f"the link is {card.shown}; the speed of the slot is not reported")
            continue
        if _is_slower(card, port):
            yield Finding(
                where=where,
                message=f"The PCIe link runs at {card.speed} x{card.width}. The controller supports {card.best}, the"
                f" slot {port.best}.",
                evidence=f"current_link_speed {card.speed}, current_link_width {card.width}",
                do="Reseat the controller or use another slot. Check the BIOS for a speed limit of the slot.",
            )


def _is_slower(card: Link, port: Link) -> bool:
    """Return whether the link runs slower, or with fewer lanes, than both ends support."""
    lanes = [number for number in (card.max_width, port.max_width) if number is not None]
    rates = [value for value in (rate_of(card.max_speed), rate_of(port.max_speed)) if value is not None]
    now = rate_of(card.speed)
    return bool(card.width and lanes and card.width < min(lanes)) or bool(now and rates and now < min(rates))


@rule(
    WARN, "irq-one-cpu", "all interrupts of a controller go to one CPU", "Documentation/core-api/irq/irq-affinity.rst"
)
def single_cpu_interrupts(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield controllers with several interrupts that all go to one CPU."""
    for where, slot in _slots_by_name(snapshot):
        cpus = frozenset().union(*slot.interrupts.values()) if slot.interrupts else frozenset()
        if len(slot.interrupts) > 1 and len(cpus) == 1 and snapshot.cores > 1:
            yield Finding(
                where=where,
                message=f"All {len(slot.interrupts)} interrupts go to CPU {min(cpus)}. This CPU limits the controller.",
                evidence=f"/proc/irq/{min(slot.interrupts, key=int)}/effective_affinity_list and the others:"
                f" {min(cpus)}",
                do="Distribute them with irqbalance, or write other CPUs to /proc/irq/N/smp_affinity_list.",
            )


@rule(
    WARN,
    "irq-far",
    "no interrupt of a controller is on its NUMA node",
    "Documentation/ABI/testing/sysfs-bus-pci, numa_node",
)
def distant_interrupts(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield controllers whose interrupts are all on another NUMA node."""
    if len(snapshot.nodes) < 2:
        return
    for where, slot in _slots_by_name(snapshot):
        near = snapshot.nodes.get(slot.node) if slot.node is not None else None
        cpus = frozenset().union(*slot.interrupts.values()) if slot.interrupts else frozenset()
        if not near or not cpus:
            why = "its interrupts are not reported" if near else "its NUMA node is not reported"
            yield UnknownResult(where=where, why=why)
        elif cpus.isdisjoint(near):
            yield Finding(
                where=where,
                message=f"The controller is on NUMA node {slot.node}, but all of its interrupts go to other nodes."
                " Each interrupt crosses the CPU interconnect.",
                evidence=f"numa_node {slot.node}; interrupts on CPUs {', '.join(map(str, sorted(cpus)[:8]))}",
                do=f"Write CPUs of node {slot.node} to /proc/irq/N/smp_affinity_list, or run irqbalance.",
            )


@rule(FAULT, "battery-failed", "the battery or capacitor of a controller is failed or missing", "the controller's tool")
def failed_batteries(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield controllers whose battery or capacitor is failed or missing."""
    for card in snapshot.inventory.controllers:
        guard = card.protection
        if guard is None and any(
            array.controller == card.target and "write_cache" in snapshot.readings.get(array.target, {})
            for array in snapshot.inventory.arrays
        ):
            yield UnknownResult(
                where=str(card.target), why="the protection of its cache against power loss is not reported"
            )
        if guard is None or guard.kind == "none":
            continue
        if guard.state in UNPROTECTED:
            yield Finding(
                where=str(card.target),
                message="The write cache is not protected against power loss. The controller falls back to"
                " write-through, or loses the cached data.",
                evidence=f"{guard.kind} {guard.state}",
                do="Replace the battery or capacitor.",
            )
        elif guard.state == "unknown":
            yield UnknownResult(where=str(card.target), why=f"the state of its {guard.kind} is not reported")


@rule(
    NOTE,
    "writes-always-cached",
    "a controller caches writes even without a healthy battery",
    "the write policy, in the controller's tool",
)
def unconditional_write_caches(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield controllers that cache writes even without a healthy battery: one finding per controller."""
    for card in snapshot.inventory.controllers:
        readings = {
            str(array.target): snapshot.readings.get(array.target, {}).get("write_cache")
            for array in snapshot.inventory.arrays
            if array.controller == card.target
        }
        kept = [
            name
            for name, reading in readings.items()
            if reading and (reading.effective or reading.now) == ALWAYS_CACHED
        ]
        if kept:
            more = f" and {len(kept) - 1} more arrays" if len(kept) > 1 else ""
            yield Finding(
                where=str(card.target),
                message=f"Writes to {kept[0]}{more} are cached even without a healthy battery. A power loss then"
                " loses acknowledged writes.",
                evidence=f"write_cache {ALWAYS_CACHED}",
                do="Set write_cache to write-back, or monitor the battery.",
            )


@rule(NOTE, "battery-learning", "a battery is in a learn cycle or charging", "the controller's tool; docs/advice.md")
def learning_batteries(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield controllers whose battery is in its learn cycle or charging."""
    for card in snapshot.inventory.controllers:
        if card.protection is not None and card.protection.state in ("learning", "charging"):
            yield Finding(
                where=str(card.target),
                message="The battery is in a learn cycle or charging. Until it is ready, the controller uses"
                " write-through.",
                evidence=f"{card.protection.kind} {card.protection.state}",
                do="Wait some hours. Schedule learn cycles for times of low load.",
            )


@rule(WARN, "battery-replace", "a battery or capacitor needs replacement", "the controller's tool")
def aging_batteries(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield controllers that report that their battery or capacitor needs replacement."""
    for card in snapshot.inventory.controllers:
        label = next((fact.label for fact in card.facts if fact.label.endswith("Replacement required")), None)
        text = fact(card, label) if label is not None else None
        if label is not None and (text or "").lower() == "yes":
            yield Finding(
                where=str(card.target),
                message="The controller reports that its battery or capacitor needs replacement.",
                evidence=f"{label}: {text}",
                do="Replace the battery or capacitor before it fails.",
            )


@rule(
    WARN,
    "policy-not-in-force",
    "a configured cache policy, such as write-back, is not effective",
    "the controller's tool; docs/advice.md",
)
def ineffective_policies(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield arrays whose effective cache policy is not the configured one, such as write-back."""
    for array in snapshot.inventory.arrays:
        for key in POLICIES:
            reading = snapshot.readings.get(array.target, {}).get(key)
            if reading is None or not reading.overruled or reading.effective == NOT_UNDERSTOOD:
                continue
            why = f": {reading.why_effective}" if reading.why_effective else ""
            yield Finding(
                where=str(array.target),
                message=f"{key} is set to {reading.now}, but {reading.effective_clause}{why}.",
                evidence=f"{key} {reading.now}, effective {reading.effective}",
                do="Fix the cause; `raidbench show` has details.",
                setting=key,
            )


@rule(
    WARN,
    "drive-cache-unprotected",
    "drive caches are on although the controller has no protection",
    "Broadcom, MegaRAID SAS software user guide, disk cache policy",
)
def drive_caches(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield arrays whose drive caches are on although their controller has no protection against a power loss."""
    for array in snapshot.inventory.arrays:
        card = snapshot.controller(array)
        if card is None or snapshot.now(array.target, "drive_cache") != "on":
            continue
        if card.protection is None:
            yield UnknownResult(
                where=str(array.target), why="drive caches are on; the battery of the controller is not reported"
            )
        elif card.protection.state in UNPROTECTED:
            guard = f"{card.protection.kind} {card.protection.state}"
            yield Finding(
                where=str(array.target),
                message="The write caches of the drives are on, and nothing protects them. A power loss loses their"
                " content.",
                evidence=f"drive_cache on, {guard}",
                do="Set drive_cache to off unless the drives have power-loss protection.",
                staged=snapshot.staged(array.target, "drive_cache", "off"),
            )


@rule(
    NOTE,
    "rebuild-rate-high",
    "a rebuild may use more than half of a controller's time",
    "Broadcom, MegaRAID SAS software user guide, rebuild rate",
)
def rebuild_rate(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield controllers whose rebuild rate is above `HIGHEST_REBUILD_RATE`."""
    for card in snapshot.inventory.controllers:
        text = snapshot.now(card.target, "rebuild_rate") or ""
        if text.isdigit() and int(text) > HIGHEST_REBUILD_RATE:
            yield Finding(
                where=str(card.target),
                message=f"A rebuild may use {text} % of the controller's time. During a rebuild, only the rest is"
                " left for I/O.",
                evidence=f"rebuild_rate {text}",
                do="Set rebuild_rate to 30, unless the shortest rebuild time matters more.",
                staged=snapshot.staged(card.target, "rebuild_rate", "30"),
            )


@rule(
    FAULT,
    "flushes-off",
    "a drive caches writes, but the kernel sends no flushes",
    "Documentation/block/writeback_cache_control.rst",
)
def missing_flushes(snapshot: SystemSnapshot) -> RuleOutput:
    """Yield drives that cache writes while the kernel sends them no flushes."""
    for drive in snapshot.inventory.drives:
        reading = snapshot.readings.get(drive.target, {}).get("drive_cache")
        if reading is None or reading.effective != "without flushes" or drive.interface not in ("sata", "sas", "nvme"):
            continue  # volumes of storage systems are skipped, because a battery protects their cache
        yield Finding(
            where=str(drive.target),
            message="The drive caches writes, but the kernel sends no flushes. A power loss loses synced writes.",
            evidence="drive cache on; queue/write_cache: write through",
            do="Set write_cache of the kernel disk to write-back, or switch off the drive's cache.",
            staged=snapshot.staged(snapshot.queue_of(drive), "write_cache", "write-back"),
        )
