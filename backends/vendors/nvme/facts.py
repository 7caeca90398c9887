"""Values that a drive reports in base units, and a controller or namespace at one moment. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from backends.values import dataclass
from backends.vendors.nvme.sysfs import KernelController, KernelNamespace

PERFORMANCE_WORDS = ("best", "better", "good", "degraded")
"""Relative performance of an LBA format by number (NVMe base specification, LBA Format, RP)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerState:
    """One power state. None if the drive or the tool does not report a value."""

    number: int
    """0 is the state of full speed."""
    watts: float | None = None
    """Maximum power in watts."""
    operational: bool | None = None
    """Whether it processes I/O in this state."""
    entry_us: int | None = None
    """Maximum entry latency in microseconds."""
    exit_us: int | None = None
    """Maximum exit latency in microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerId:
    """The used fields of Identify Controller. Bit fields are as in the specification."""

    model: str | None = None
    """MN."""
    serial: str | None = None
    """SN."""
    firmware: str | None = None
    """FR."""
    vwc: int | None = None
    """Volatile Write Cache: bit 0, there is one."""
    oacs: int | None = None
    """Optional Admin Command Support: bit 1 Format NVM, bit 3 namespace management."""
    oncs: int | None = None
    """Optional NVM Command Support: bit 4, Get Features can select (Save and Select)."""
    fna: int | None = None
    """Format NVM Attributes: bit 0, a format applies to all namespaces."""
    warning_kelvin: int | None = None
    """Warning temperature; None if not reported."""
    power_states: tuple[PowerState, ...] = ()
    """Power states by number."""

    @property
    def has_cache(self) -> bool | None:
        """Return whether the drive has a volatile write cache; None if not reported."""
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
    """0 best ... 3 degraded; None if not reported."""

    @property
    def sizes_text(self) -> str:
        """Return a text such as `4096 bytes, best`, `512 + 8 bytes`."""
        size = f"{self.data_bytes} + {self.metadata_bytes} bytes" if self.metadata_bytes else f"{self.data_bytes} bytes"
        if self.performance is None or self.performance >= len(PERFORMANCE_WORDS):
            return size
        return f"{size}, {PERFORMANCE_WORDS[self.performance]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceId:
    """The used fields of Identify Namespace."""

    formats: tuple[LbaFormat, ...] = ()
    """Usable formats by number."""
    in_use: int | None = None
    """Number of the present format."""
    extended: bool | None = None
    """Whether metadata follows the data instead of being in a separate buffer."""
    protection: int | None = None
    """Present end-to-end protection type 0..3."""
    protection_first: bool | None = None
    """Whether protection information comes first in the metadata."""
    shared: bool | None = None
    """Whether several controllers may use it at once (NMIC bit 0)."""
    blocks: int | None = None
    """Size in logical blocks (NSZE)."""

    @property
    def current(self) -> LbaFormat | None:
        """Return the present format."""
        return next((entry for entry in self.formats if entry.index == self.in_use), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class NvmeHealth:
    """SMART / Health Information. None if a value is not reported."""

    kelvin: int | None = None
    """Composite temperature in kelvin."""
    percent_used: int | None = None
    """Used share of the rated endurance in percent; may exceed 100."""
    spare: int | None = None
    """Remaining spare capacity in percent."""
    spare_threshold: int | None = None
    """Warning threshold of the spare capacity in percent."""
    critical_warning: int | None = None
    """Bit field: 0 spare, 1 temperature, 2 reliability, 3 read-only, 4 backup of volatile memory."""
    media_errors: int | None = None
    """Unrecovered data integrity errors."""
    warning_minutes: int | None = None
    """Minutes above the warning temperature."""
    throttled_light: int | None = None
    """Number of light thermal throttlings."""
    throttled_heavy: int | None = None
    """Number of heavy thermal throttlings."""
    hours: int | None = None
    """Power-on hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureState:
    """Present state of a feature."""

    value: int | None = None
    """Its 32 bits; None if it could not be read."""
    changeable: bool | None = None
    """Whether it can be changed; None if the drive does not report it."""
    why_not: str | None = None
    """Why it could not be read."""
    refused: bool = False
    """Whether the drive refused to return it: then it accepts no value either."""


# -- controller or namespace at one moment, the input of readings and plans -------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerView:
    """A controller as reported by the kernel and the drive."""

    controller: KernelController
    """The kernel's values."""
    namespaces: tuple[KernelNamespace, ...]
    """Namespaces of its subsystem that the kernel shows."""
    program: str | None = None
    """Path of nvme-cli; None if it is not installed."""
    blind: str | None = None
    """Why the drive could not be queried; None if it was."""
    frozen: str | None = None
    """Why nothing may be changed (needs root, read-only mode)."""
    about: ControllerId | None = None
    """Identify Controller."""
    features: Mapping[int, FeatureState] = field(default_factory=dict)
    """State of the features that settings need, by number."""

    def feature(self, number: int) -> FeatureState:
        """Return the state of a feature."""
        return self.features.get(number, FeatureState(why_not="it was not read"))

    @property
    def only(self) -> KernelNamespace | None:
        """Return the namespace if there is only one, which then alone is affected by the controller's settings."""
        return self.namespaces[0] if len(self.namespaces) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceView(ControllerView):
    """A namespace with its controller."""

    namespace: KernelNamespace
    """The kernel's values."""
    ident: NamespaceId | None = None
    """Identify Namespace."""
    allocated: tuple[int, ...] | None = None
    """IDs of all namespaces of the subsystem, visible to the kernel or not; None if unknown."""
    uses: tuple[str, ...] = ()
    """Its uses as texts, as far as they are visible without opening it."""
