"""Declarations of the settings of controllers and namespaces, and their bits in features."""

from __future__ import annotations

from backends.settings import Effect, Persistence, Risk, Setting
from backends.values import dataclass

_LOST = " A controller reset or power cycle restores the drive's own value."

DRIVE_CACHE = Setting(
    key="drive_cache",
    label="Drive cache",
    help="The drive's volatile write cache (feature 0x06). If it is off, a write is acknowledged when it is on the "
    "flash. Write cache (kernel) is a separate setting: the kernel continues to send flushes when this cache is "
    "off." + _LOST,
    risk=Risk.POWER_LOSS,
    risk_text="A power failure loses acknowledged writes that were not flushed, unless the drive protects its cache "
    "with "
    "capacitors. NVMe has no field that reports this.",
)
POWER_STATE = Setting(
    key="power_state",
    label="Power state",
    help="Power limit of the drive (feature 0x02). 0 is full speed. With autonomous transitions (APST) an idle drive "
    "changes its state automatically." + _LOST,
    risk=Risk.PERFORMANCE,
    risk_text="A lower power state makes the drive slower. After each pause in a non-operational state the drive needs "
    "time to wake up.",
)
THRESHOLD = Setting(
    key="irq_coalescing_threshold",
    label="Coalescing threshold",
    help="Number of completions that the drive may collect before an interrupt (feature 0x08, bits 7:0). 1 disables "
    "coalescing. It has an effect only with a coalescing time." + _LOST,
    risk=Risk.PERFORMANCE,
    risk_text="Coalescing saves interrupts but adds latency at small queue depths.",
    unit="completions",
)
TIME = Setting(
    key="irq_coalescing_time",
    label="Coalescing time",
    help="Longest delay of a completion while the drive collects more (feature 0x08, bits 15:8, in steps of 100 us). "
    "0 disables the delay." + _LOST,
    risk=Risk.PERFORMANCE,
    risk_text="At small queue depths it adds up to this time to the latency of every request.",
    unit="us",
)
BURST = Setting(
    key="arbitration_burst",
    label="Arbitration burst",
    help="Number of commands that the drive fetches from one queue before the next (feature 0x01, bits 2:0). Larger "
    "values favour throughput, smaller values favour fairness between queues." + _LOST,
    risk=Risk.PERFORMANCE,
    risk_text="A large burst lets one busy queue delay the others.",
)
LBA_FORMAT = Setting(
    key="lba_format",
    label="LBA format",
    help="Size of a logical block and its metadata in bytes. Changing it formats the namespace. Many drives are "
    "faster with 4096. Only special software uses a format with metadata, and the kernel may show the namespace "
    "with no capacity. nvme-cli waits ten seconds before it starts.",
    risk=Risk.DESTROYS_DATA,
    risk_text="The namespace is formatted. All data on it is lost. Undo restores the old block size, not the data.",
    effect=Effect.RECREATED,
    persistence=Persistence.STORED,
    unit="bytes",
)

CONTROLLER_SETTINGS = (DRIVE_CACHE, POWER_STATE, THRESHOLD, TIME, BURST)
"""Settings of a controller in display order."""

NAMESPACE_SETTINGS = (DRIVE_CACHE, LBA_FORMAT, POWER_STATE, THRESHOLD, TIME, BURST)
"""Settings of a namespace: its own settings, and those of its controller."""


@dataclass(frozen=True, slots=True)
class FeatureField:
    """Position of a setting in the value of a feature."""

    feature: int
    """Feature identifier."""
    shift: int
    """Number of its lowest bit."""
    width: int
    """Number of bits."""

    @property
    def mask(self) -> int:
        """Return the bit mask of the field."""
        return ((1 << self.width) - 1) << self.shift

    def of(self, value: int) -> int:
        """Return the number in this field of `value`, the value of a feature."""
        return (value & self.mask) >> self.shift

    def into(self, value: int, number: int) -> int:
        """Return `value`, the value of a feature, with this field replaced by `number`."""
        return (value & ~self.mask) | (number << self.shift & self.mask)


FIELDS = {
    "drive_cache": FeatureField(0x06, 0, 1),
    "power_state": FeatureField(0x02, 0, 5),
    "irq_coalescing_threshold": FeatureField(0x08, 0, 8),
    "irq_coalescing_time": FeatureField(0x08, 8, 8),
    "arbitration_burst": FeatureField(0x01, 0, 3),
}
"""Field of each setting (NVMe base specification, Feature Identifiers)."""

FEATURES = tuple(sorted({field.feature for field in FIELDS.values()}))
"""All features that are read for the settings."""

UNLIMITED = "unlimited"
"""Value for an arbitration burst of 7, which means no limit."""


def value_of_number(key: str, number: int) -> str:
    """Return the value of a setting for the number in its field."""
    match key:
        case "drive_cache":
            return "on" if number else "off"
        case "irq_coalescing_threshold":
            return str(number + 1)  # the field counts from 0
        case "irq_coalescing_time":
            return str(number * 100)
        case "arbitration_burst":
            return UNLIMITED if number == 7 else str(1 << number)
        case _:
            return str(number)


def number_of(key: str, value: str) -> int:
    """Return the number in the field for a legal value of a setting."""
    match key:
        case "drive_cache":
            return 1 if value == "on" else 0
        case "irq_coalescing_threshold":
            return int(value) - 1
        case "irq_coalescing_time":
            return int(value) // 100
        case "arbitration_burst":
            return 7 if value == UNLIMITED else int(value).bit_length() - 1
        case _:
            return int(value)
