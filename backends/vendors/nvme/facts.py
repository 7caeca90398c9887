"""Values that a drive reports, in base units, and the state of a controller or namespace at one moment. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from backends.values import dataclass
from backends.vendors.nvme.sysfs import KernelController, KernelNamespace

PERFORMANCE_WORDS = ("best", "better", "good", "degraded")
"""Relative performance of an LBA format by number (NVMe base specification, LBA Format, RP)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerState:
    """One power state. A value is None if the drive or the tool does not report it."""

    number: int
    """Number of the state; 0 is full speed."""
    watts: float | None = None
    """Maximum power in watts."""
    operational: bool | None = None
    """Whether the drive processes I/O in this state."""
    entry_us: int | None = None
    """Maximum time in microseconds for entering the state."""
    exit_us: int | None = None
    """Maximum time in microseconds for leaving the state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerId:
    """The used fields of Identify Controller, None if not reported. Bit fields have the layout of the specification."""

    model: str | None = None
    """Model number (MN)."""
    serial: str | None = None
    """Serial number (SN)."""
    firmware: str | None = None
    """Firmware revision (FR)."""
    vwc: int | None = None
    """Volatile Write Cache. Bit 0: the drive has one."""
    oacs: int | None = None
    """Optional Admin Command Support. Bit 1: Format NVM. Bit 3: namespace management."""
    oncs: int | None = None
    """Optional NVM Command Support. Bit 4: Get Features has the field Select (Save and Select)."""
    fna: int | None = None
    """Format NVM Attributes. Bit 0: a format applies to all namespaces."""
    warning_kelvin: int | None = None
    """Warning temperature in kelvin; None if it is not reported."""
    power_states: tuple[PowerState, ...] = ()
    """Power states, ordered by number."""

    @property
    def has_cache(self) -> bool | None:
        """Return whether the drive has a volatile write cache; None if it is not reported."""
        return None if self.vwc is None else bool(self.vwc & 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LbaFormat:
    """One format that the namespace supports."""

    index: int
    """Number of the format for `nvme format --lbaf`."""
    data_bytes: int
    """Logical block size in bytes."""
    metadata_bytes: int
    """Metadata bytes per block."""
    performance: int | None = None
    """Relative performance, from 0 (best) to 3 (degraded); None if it is not reported."""

    @property
    def sizes_text(self) -> str:
        """Return a string such as `4096 bytes, best`, `512 + 8 bytes`."""
        size = f"{self.data_bytes} + {self.metadata_bytes} bytes" if self.metadata_bytes else f"{self.data_bytes} bytes"
        if self.performance is None or self.performance >= len(PERFORMANCE_WORDS):
            return size
        return f"{size}, {PERFORMANCE_WORDS[self.performance]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceId:
    """The used fields of Identify Namespace. A field is None if it is not reported."""

    formats: tuple[LbaFormat, ...] = ()
    """Usable formats, ordered by number."""
    in_use: int | None = None
    """Number of the current format."""
    extended: bool | None = None
    """Whether metadata follows the data instead of being in a separate buffer."""
    protection: int | None = None
    """Current type of end-to-end protection, 0..3."""
    protection_first: bool | None = None
    """Whether protection information is at the beginning of the metadata."""
    shared: bool | None = None
    """Whether several controllers may use the namespace at the same time (NMIC bit 0)."""
    blocks: int | None = None
    """Size in logical blocks (NSZE)."""

    @property
    def current(self) -> LbaFormat | None:
        """Return the current format, or None."""
        return next((entry for entry in self.formats if entry.index == self.in_use), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class NvmeHealth:
    """Values of the log page SMART / Health Information. A value is None if it is not reported."""

    kelvin: int | None = None
    """Composite temperature in kelvin."""
    percent_used: int | None = None
    """Used share of the rated endurance in percent; may exceed 100."""
    spare: int | None = None
    """Remaining spare capacity in percent."""
    spare_threshold: int | None = None
    """Warning threshold of the spare capacity in percent."""
    critical_warning: int | None = None
    """Bit field of faults. Bit 0: spare, 1: temperature, 2: reliability, 3: read-only, 4: backup of volatile memory."""
    media_errors: int | None = None
    """Unrecovered data integrity errors."""
    warning_minutes: int | None = None
    """Time above the warning temperature in minutes."""
    throttled_light: int | None = None
    """Number of times the drive was lightly throttled because of its temperature."""
    throttled_heavy: int | None = None
    """Number of times the drive was heavily throttled because of its temperature."""
    hours: int | None = None
    """Power-on hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureState:
    """Current state of a feature."""

    value: int | None = None
    """The 32 bits of the feature; None if it could not be read."""
    changeable: bool | None = None
    """Whether it can be changed; None if the drive does not report it."""
    why_not: str | None = None
    """Reason why it could not be read; None if it was read."""
    refused: bool = False
    """Whether the drive refused to return the value. It then does not accept a new value either."""


# -- state of a controller or namespace at one moment, from which readings and plans are derived ----------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerView:
    """A controller as reported by the kernel and the drive."""

    controller: KernelController
    """The kernel's values of the controller."""
    namespaces: tuple[KernelNamespace, ...]
    """Namespaces of its subsystem that the kernel lists."""
    program: str | None = None
    """Path of nvme-cli; None if it is not installed."""
    blind: str | None = None
    """Reason why the drive could not be queried; None if it was queried."""
    frozen: str | None = None
    """Reason why no setting may be changed (not root, read-only mode); None if there is none."""
    about: ControllerId | None = None
    """Result of Identify Controller; None if it is unknown."""
    features: Mapping[int, FeatureState] = field(default_factory=dict)
    """State of the features that settings need, by number."""

    def feature(self, number: int) -> FeatureState:
        """Return the state of a feature."""
        return self.features.get(number, FeatureState(why_not="it was not read"))

    @property
    def only(self) -> KernelNamespace | None:
        """Return the only namespace that the controller's settings affect; None if they affect several or none."""
        return self.namespaces[0] if len(self.namespaces) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceView(ControllerView):
    """A namespace with its controller."""

    namespace: KernelNamespace
    """The kernel's values of the namespace."""
    ident: NamespaceId | None = None
    """Result of Identify Namespace; None if it is unknown."""
    allocated: tuple[int, ...] | None = None
    """IDs of all namespaces of the subsystem, even those that the kernel does not list; None if they are unknown."""
    uses: tuple[str, ...] = ()
    """Descriptions of the uses of the namespace, as far as they are visible without opening its device."""
