"""What a drive tells of itself, units resolved, and a controller or namespace at one moment. Values only."""

from __future__ import annotations

from dataclasses import field

from backends.values import dataclass
from backends.vendors.nvme.sysfs import KernelController, KernelNamespace

PERFORMANCE_WORDS = ("best", "better", "good", "degraded")
"""Relative performance of an LBA format by its number (NVMe base specification, LBA Format, RP)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerState:
    """One power state. None is what the drive or the tool does not say."""

    number: int
    """0 is the state of full speed."""
    watts: float | None = None
    """Most that it draws."""
    operational: bool | None = None
    """Whether it does I/O in this state."""
    entry_us: int | None = None
    """Longest time to get into it, microseconds."""
    exit_us: int | None = None
    """Longest time to get out of it, microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerId:
    """Identify Controller, as far as anyone here needs it. Bit fields as the specification has them."""

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
    """Temperature from which it warns; None if not reported."""
    power_states: tuple[PowerState, ...] = ()
    """In the order of their numbers."""

    @property
    def has_cache(self) -> bool | None:
        """Whether it has a volatile write cache; None if not said."""
        return None if self.vwc is None else bool(self.vwc & 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LbaFormat:
    """One format that the namespace can have."""

    index: int
    """Its number, as `nvme format --lbaf` takes it."""
    data_bytes: int
    """Size of a logical block."""
    metadata_bytes: int
    """Metadata with each block."""
    performance: int | None = None
    """0 best ... 3 degraded; None if not said."""

    @property
    def sizes_text(self) -> str:
        """`4096 bytes, best`, `512 + 8 bytes`."""
        size = f"{self.data_bytes} + {self.metadata_bytes} bytes" if self.metadata_bytes else f"{self.data_bytes} bytes"
        if self.performance is None or self.performance >= len(PERFORMANCE_WORDS):
            return size
        return f"{size}, {PERFORMANCE_WORDS[self.performance]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceId:
    """Identify Namespace, as far as anyone here needs it."""

    formats: tuple[LbaFormat, ...] = ()
    """Those that may be used, in the order of their numbers."""
    in_use: int | None = None
    """Number of the format in use."""
    extended: bool | None = None
    """Whether metadata comes with the data instead of in a buffer of its own."""
    protection: int | None = None
    """End-to-end protection type 0..3 in use."""
    protection_first: bool | None = None
    """Whether protection information comes first in the metadata."""
    shared: bool | None = None
    """Whether several controllers may have it at once (NMIC bit 0)."""
    blocks: int | None = None
    """Size in logical blocks (NSZE)."""

    @property
    def current(self) -> LbaFormat | None:
        """The format in use."""
        return next((entry for entry in self.formats if entry.index == self.in_use), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class NvmeHealth:
    """SMART / Health Information. None is what is not reported."""

    kelvin: int | None = None
    """Composite temperature."""
    percent_used: int | None = None
    """Share of the rated endurance used, percent; may pass 100."""
    spare: int | None = None
    """Spare capacity left, percent."""
    spare_threshold: int | None = None
    """Where the drive begins to warn of it, percent."""
    critical_warning: int | None = None
    """Bit field: 0 spare, 1 temperature, 2 reliability, 3 read-only, 4 backup of volatile memory."""
    media_errors: int | None = None
    """Errors of data integrity that were not recovered."""
    warning_minutes: int | None = None
    """Minutes above the warning temperature."""
    throttled_light: int | None = None
    """Times that it slowed down lightly for its temperature."""
    throttled_heavy: int | None = None
    """Times that it slowed down heavily for its temperature."""
    hours: int | None = None
    """Power-on hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureState:
    """A feature as read just now."""

    value: int | None = None
    """Its 32 bits; None if it could not be read."""
    changeable: bool | None = None
    """Whether it can be changed at all; None where the drive does not say."""
    why_not: str | None = None
    """Why it could not be read, in words."""
    refused: bool = False
    """Whether the drive refused to give it: then it takes no value either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """All features that settings need, by number."""

    states: dict[int, FeatureState] = field(default_factory=dict)
    """Feature number to what was read."""

    def __getitem__(self, number: int) -> FeatureState:
        return self.states.get(number, FeatureState(why_not="it was not read"))


# -- what a controller or a namespace is at one moment: all that readings and plans are made of -----------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerView:
    """A controller as the kernel and the drive tell it."""

    controller: KernelController
    """What the kernel knows."""
    namespaces: tuple[KernelNamespace, ...]
    """All namespaces of its subsystem that the kernel shows."""
    program: str | None = None
    """nvme-cli, None if it is not installed."""
    blind: str | None = None
    """Why the drive could not be asked, in words; None if it was."""
    frozen: str | None = None
    """Why nothing may be changed (needs root, read-only mode), in words."""
    about: ControllerId | None = None
    """Identify Controller."""
    features: Features = field(default_factory=Features)
    """What was read of the features that settings need."""

    @property
    def only(self) -> KernelNamespace | None:
        """The only namespace, which its controller's settings concern alone."""
        return self.namespaces[0] if len(self.namespaces) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceView(ControllerView):
    """A namespace with its controller."""

    namespace: KernelNamespace
    """What the kernel knows."""
    ident: NamespaceId | None = None
    """Identify Namespace."""
    allocated: tuple[int, ...] | None = None
    """Numbers of all namespaces of the subsystem, seen by the kernel or not; None where it was not asked or said."""
    uses: tuple[str, ...] = ()
    """What uses it, in words, as far as can be seen without opening it."""
