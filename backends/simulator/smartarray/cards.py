"""State of the simulated Smart Array and Adaptec controllers, and refusals of their firmware.

The messages of the refusals are those in Microchip's storage library. The same class represents a SmartRAID for
arcconf and a Smart Array for ssacli, because both have the same firmware. Like the real firmware, the simulated one
refuses a value that is already set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from backends.simulator.volume import Content
from backends.values import dataclass

SWITCHED = {"enable": "Enabled", "disable": "Disabled"}
"""Values of on/off settings in the output, by their value on the command line."""
SWITCHES = tuple(SWITCHED)
RATIOS = ("0/100", "10/90", "25/75", "50/50", "75/25", "90/10", "100/0")
_SETTINGS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "cacheratio": ("10/90", RATIOS),
    "nobatterywritecache": ("disable", SWITCHES),
    "drivewritecache configured": ("default", (*SWITCHES, "default")),
    "drivewritecache unconfigured": ("default", (*SWITCHES, "default")),
    "drivewritecache hba": ("default", (*SWITCHES, "default")),
    "writecachebypassthreshold": ("1040", tuple(str(size) for size in range(16, 1041, 16))),
    "waitforcacheroom": ("disable", SWITCHES),
    "elevatorsort": ("enable", SWITCHES),
    "queuedepth": ("automatic", ("automatic", "32", "16", "8", "4", "2")),
    "rebuildpriority": ("high", ("low", "medium", "mediumhigh", "high")),
    "expandpriority": ("medium", ("low", "medium", "high")),
    "surfacescanmode": ("idle", ("idle", "high", "disable")),
    "surfacescandelay": ("3", tuple(map(str, range(1, 31)))),
    "parallelsurfacescancount": ("1", tuple(map(str, range(1, 17)))),
    "degradedperformanceoptimization": ("disable", SWITCHES),
    "inconsistencyrepairpolicy": ("disable", SWITCHES),
    "mnpdelay": ("60", tuple(map(str, range(61)))),
    "powermode": ("maxperformance", ("minpower", "balanced", "maxperformance")),
    "survivalmode": ("enable", SWITCHES),
    "spareactivationmode": ("failure", ("failure", "predictive")),
}
"""Default and legal values of the settings, by ssacli's names."""
DEFAULTS: Mapping[str, str] = {word: default for word, (default, _) in _SETTINGS.items()}
LEGAL: Mapping[str, tuple[str, ...]] = {word: values for word, (_, values) in _SETTINGS.items()}
STRIPS = ("16", "32", "64", "128", "256", "512", "1024")


NO_CHANGE = "The requested value is the same as the old one."
LOCKED = (
    "The cache on this controller has a problem. To prevent data loss, configuration changes to this controller are "
    "not allowed. Please replace the cache to be able to continue to configure this controller."
)
IN_HBA_MODE = "The requested operation is not supported while the controller is in HBA mode."
EMPTY = "The controller does not have any logical drives."
NO_POWER = "The cache ratio cannot be changed: the backup power source is bad or missing."
NOT_ACTIVE = "The cache ratio cannot be changed: the cache is not active."
ALL_BYPASS = "The no-battery write cache cannot be changed: every logical drive bypasses the cache."
NO_FLASH = "Smart Path is supported on arrays of solid state drives only."
CACHED = "Smart Path cannot be enabled while caching is enabled on a logical drive of the array."
NOT_PRESERVED = "The logical drive cannot be migrated: the cache is not able to preserve data."
BUSY: Mapping[str, str] = {
    "Transforming": "The operation is not possible while the array is transforming.",
    "Recovering": "The operation is not possible while the array is recovering.",
    "Initializing": "The operation is not possible while the logical drive is initializing.",
}
"""Refusals of a change, by the beginning of the logical drive's status."""
STATUS = "The operation is not possible in the present status of the logical drive."


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartBay:
    """One drive."""

    place: str
    """Position such as `2I:1:1`, whose last number is the device number in arcconf."""
    serial: str
    model: str = "ACME FLASH960"
    size_gb: int = 960
    ssd: bool = True
    group: str | None = "A"
    wwn: str = ""
    own_cache: bool = True
    state: str = "OK"
    """Status: `OK`, `Predictive Failure`, `Erase In Progress`."""
    spare: bool = False
    """True if the drive is a spare of its group."""
    temperature: int = 31
    """Temperature in degrees Celsius."""
    used_percent: float = 0.0
    """Used share of a flash drive's rated endurance, in percent."""
    media_errors: int = 0
    """Number of media errors, which only arcconf prints."""
    other_errors: int = 0
    """Number of link failures or timeouts, which only arcconf prints."""

    @property
    def fails_soon(self) -> bool:
        """True if the drive predicts its failure."""
        return self.state.startswith("Predictive Failure")


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartVolume:
    """One logical drive."""

    number: int
    group: str = "A"
    level: str = "1"
    size_gib: float = 894.25
    strip_kib: int = 256
    data_drives: int = 1
    acceleration: str = "cache"
    """Accelerator: `cache`, `path` (Smart Path), `none`."""
    wwn: str = "600508b1001c00000000000000000001"
    device: str | None = "/dev/sdb"
    state: str = "OK"
    name: str = "data"
    read_cache: bool = True
    write_cache: str = "wbb"
    """Write cache of series 2 to 8: `wt` for write-through, `wbb` for write-back with backup power, `wb` for always."""
    content: Content | None = None
    """Contents, or None if it is blank."""
    parity_groups: int = 0
    """Number of groups of a RAID 50 or 60."""
    serial: str = ""
    """Serial number of a disk without WWN (`scsi-SAdaptec_data_EF8F8BD3` of aacraid)."""
    sequence: int = 0
    """Creation number, by which a new disk that reuses a name is recognised as a different one."""

    @property
    def full_stripe_kib(self) -> int:
        """Full stripe size as the tools print it: for RAID 50 and 60, that of one parity group."""
        return self.strip_kib * self.data_drives // (self.parity_groups or 1)

    @property
    def size_bytes(self) -> int:
        """Size in bytes as the kernel reports it."""
        return int(self.size_gib * 1024) << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartCard:
    """One controller with its drives and logical drives."""

    number: str = "0"
    """Slot in ssacli, or controller number in arcconf."""
    model: str = "HPE Smart Array P408i-a SR Gen10"
    serial: str = "PEYHC0ARHDEM01"
    firmware: str = "6.52"
    pci: str = "0000:5c:00.0"
    host: int = 0
    """SCSI host number."""
    cache_mib: int = 2048
    """Cache size in MiB."""
    series: bool = False
    """True for Adaptec series 2 to 8."""
    battery: str = "OK"
    """Battery status: `OK`, `Recharging`, `Failed (Replace Batteries)`, or "" without a battery."""
    capacitor: bool = True
    """For series 2 to 8: True if a capacitor (ZMM) backs the cache, False for a battery."""
    hba: bool = False
    cache_problem: bool = False
    values: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULTS))
    """Settings by ssacli's names."""
    volumes: tuple[SmartVolume, ...] = (SmartVolume(number=1),)
    bays: tuple[SmartBay, ...] = ()
    performance: str = "1"
    priority: str = "high"

    @property
    def protected(self) -> bool:
        """True if the cache has healthy backup power."""
        return self.battery == "OK"

    @property
    def cached(self) -> bool:
        """True if at least one logical drive uses the cache."""
        return any(volume.acceleration == "cache" for volume in self.volumes)

    @property
    def cache_state(self) -> str:
        """Cache status as ssacli prints it."""
        if not self.cached:
            return "Not Configured"
        safe = self.protected or not self.battery or self.values["nobatterywritecache"] == "enable"
        return "OK" if safe else "Temporarily Disabled"

    def writes_back(self, volume: SmartVolume) -> bool:
        """Return True if writes to the logical drive are cached now."""
        if self.series:
            return volume.write_cache == "wb" or (volume.write_cache == "wbb" and self.protected)
        is_safe = self.protected or self.values["nobatterywritecache"] == "enable"
        is_active = not self.cache_problem and self.values["cacheratio"] != "100/0"
        return volume.acceleration == "cache" and is_safe and is_active

    def without_content(self, device: str) -> SmartCard:
        """Return the controller without the contents of the logical drive `device`, to which a job has written."""
        if all(volume.content is None or volume.device != device for volume in self.volumes):
            return self
        volumes = (replace(volume, content=None) if volume.device == device else volume for volume in self.volumes)
        return replace(self, volumes=tuple(volumes))

    def volume(self, number: int) -> SmartVolume | None:
        """Return the logical drive with this number, or None."""
        return next((volume for volume in self.volumes if volume.number == number), None)

    def is_flash(self, group: str) -> bool:
        """Return True if all drives of an array are SSDs."""
        are_flash = [bay.ssd for bay in self.bays if bay.group == group]
        return bool(are_flash) and all(are_flash)

    def members(self, group: str) -> tuple[SmartBay, ...]:
        """Return the drives of an array, without spares."""
        return tuple(bay for bay in self.bays if bay.group == group and not bay.spare)


Outcome = SmartCard | str
"""Controller after a change, or the reason of a refusal."""


def with_setting(card: SmartCard, word: str, value: str) -> Outcome:
    """Return the controller with a changed setting, or the reason of a refusal."""
    refusal = _refusal(card)
    if refusal is not None:
        return refusal
    if value not in LEGAL[word]:
        return f'"{word}={value}" is not a valid option.'
    if card.values[word] == value:
        return NO_CHANGE
    if word == "cacheratio":
        if not card.protected and card.values["nobatterywritecache"] != "enable":
            return NO_POWER
        if not card.cached:
            return NOT_ACTIVE
    if word == "nobatterywritecache" and all(volume.acceleration == "path" for volume in card.volumes):
        return ALL_BYPASS
    return replace(card, values={**card.values, word: value})


def with_caching(card: SmartCard, number: int, on: bool) -> Outcome:
    """Return the controller with caching of a logical drive turned on or off, or the reason of a refusal.

    With Smart Path, the refusal is misleading, as in the real tool.
    """
    volume = card.volume(number)
    refusal = _refusal(card, volume)
    if refusal is not None or volume is None:
        return refusal or f"Invalid drive specified: {number}"
    if volume.acceleration == "path" and on:
        return f"Invalid drive specified: {number}"
    if (volume.acceleration == "cache") == on:
        return NO_CHANGE
    return _with_changed(card, replace(volume, acceleration="cache" if on else "none"))


def with_smart_path(card: SmartCard, group: str, on: bool) -> Outcome:
    """Return the controller with Smart Path of an array turned on or off, or the reason of a refusal.

    The array must have only SSDs and no cached logical drive.
    """
    volumes = [volume for volume in card.volumes if volume.group == group]
    refusal = _refusal(card, *volumes)
    if refusal is not None or not volumes:
        return refusal or f"Invalid array specified: {group}"
    if all(volume.acceleration == "path" for volume in volumes) == on:
        return NO_CHANGE
    if on and not card.is_flash(group):
        return NO_FLASH
    if on and any(volume.acceleration == "cache" for volume in volumes):
        return CACHED
    for volume in volumes:
        card = _with_changed(card, replace(volume, acceleration="path" if on else "none"))
    return card


def with_strip(card: SmartCard, number: int, kib: str) -> Outcome:
    """Return the controller with a changed strip size, which applies immediately, or the reason of a refusal."""
    volume = card.volume(number)
    refusal = _refusal(card, volume)
    if refusal is not None or volume is None:
        return refusal or f"Invalid drive specified: {number}"
    if kib not in STRIPS:
        return f'"ss={kib}" is not a valid option.'
    if str(volume.strip_kib) == kib:
        return NO_CHANGE
    if not card.protected and card.values["nobatterywritecache"] != "enable":
        return NOT_PRESERVED
    return _with_changed(card, replace(volume, strip_kib=int(kib)))


_LEAST = {"0": 1, "1": 2, "1+0": 4, "5": 3, "6": 4, "50": 6, "60": 8}
"""Minimum number of drives by RAID level."""
_PARITY = {"5": 1, "50": 1, "6": 2, "60": 2}
NEW = ""
"""Device name of a logical drive that has no kernel disk yet."""
NO_ROOM = "This operation is not supported with the current configuration. Reason: Space for creation not available"
NOT_FREE = "The drive {} is not available for a new logical drive: it is {}."


def with_volume(card: SmartCard, level: str, positions: tuple[str, ...], new: SmartVolume, groups: int = 0) -> Outcome:
    """Return the controller with a new logical drive on free drives, or the reason of a refusal.

    `new`: its strip size, label and caching. `groups`: number of its parity groups, for RAID 50 and 60.
    """
    if (locked := _lock_reason(card)) is not None:
        return locked
    bays = {bay.place: bay for bay in card.bays}
    if len(set(positions)) < len(positions):
        return "Cannot use a drive multiple times in one logical device!"
    if unknown_drive := next((position for position in positions if position not in bays), None):
        return f"Invalid drive specified: {unknown_drive}"
    for position in positions:
        if bays[position].group is not None or bays[position].state != "OK":
            return NOT_FREE.format(position, "assigned" if bays[position].group is not None else bays[position].state)
    if level not in _LEAST or str(new.strip_kib) not in STRIPS:
        return f'"{level if level not in _LEAST else new.strip_kib}" is not a valid option.'
    pairs = len(positions) // 2 if level in ("1", "1+0") else 0
    if len(positions) < _LEAST[level] or (pairs and len(positions) % 2) or (level == "1" and len(positions) > 2):
        return NO_ROOM
    if groups and (len(positions) % groups or len(positions) // groups < _LEAST[level] // 2):
        return NO_ROOM
    data = pairs or len(positions) - _PARITY.get(level, 0) * (groups or 1)
    used = {volume.group for volume in card.volumes}
    letter = next(name for name in map(chr, range(ord("A"), ord("Z"))) if name not in used)
    first_number = 0 if card.bays and ":" in card.bays[0].place and card.bays[0].place.count(":") == 1 else 1
    numbers = {volume.number for volume in card.volumes}
    capacity_gib = min(bays[position].size_gb for position in positions) * 10**9 * data / 2**30
    created = replace(
        new,
        number=next(number for number in range(first_number, 1000) if number not in numbers),
        group=letter,
        level=level,
        data_drives=data,
        size_gib=int(capacity_gib * 4) / 4,
        parity_groups=groups,
        device=NEW,
    )
    return replace(
        card,
        volumes=(*card.volumes, created),
        bays=tuple(replace(bay, group=letter) if bay.place in positions else bay for bay in card.bays),
    )


def without_volume(card: SmartCard, number: int) -> Outcome:
    """Return the controller without a logical drive, or the reason of a refusal.

    An array without logical drives is removed as well, and later arrays get new letters.
    """
    volume = card.volume(number)
    if (locked := _lock_reason(card)) is not None:
        return locked
    if volume is None:
        return f"Invalid drive specified: {number}"
    remaining = tuple(other for other in card.volumes if other is not volume)
    letters = {
        letter: chr(ord("A") + index) for index, letter in enumerate(sorted({volume.group for volume in remaining}))
    }
    bays = (
        replace(bay, group=letters.get(bay.group or ""), spare=bay.spare and bay.group in letters) for bay in card.bays
    )
    return replace(
        card, volumes=tuple(replace(volume, group=letters[volume.group]) for volume in remaining), bays=tuple(bays)
    )


def with_cache_mode(card: SmartCard, number: int, mode: str) -> Outcome:
    """Return a controller of series 2 to 8 with another cache mode of a logical device, or the reason of a refusal."""
    volume = card.volume(number)
    if volume is None:
        return "The specified logical device does not exist."
    if mode in ("ron", "roff"):
        after = replace(volume, read_cache=mode == "ron")
    elif mode in ("wt", "wbb", "wb"):
        after = replace(volume, write_cache=mode)
    else:
        return f"{mode} is not a valid cache mode."
    return NO_CHANGE if after == volume else _with_changed(card, after)


def with_drive_cache(card: SmartCard, device: str, on: bool) -> Outcome:
    """Return the controller with a drive's write cache turned on or off, or the reason of a refusal."""
    bay = next((bay for bay in card.bays if bay.place.rpartition(":")[2] == device), None)
    if bay is None:
        return "The specified device does not exist."
    if bay.own_cache == on:
        return NO_CHANGE
    bays = tuple(replace(existing, own_cache=on) if existing is bay else existing for existing in card.bays)
    return replace(card, bays=bays)


def _lock_reason(card: SmartCard) -> str | None:
    return IN_HBA_MODE if card.hba else LOCKED if card.cache_problem else None


def _refusal(card: SmartCard, *volumes: SmartVolume | None) -> str | None:
    if (locked := _lock_reason(card)) is not None:
        return locked
    bad_state = next((volume.state for volume in volumes if volume is not None and volume.state != "OK"), None)
    if bad_state is not None:
        return next((why for start, why in BUSY.items() if bad_state.startswith(start)), STATUS)
    return None if card.volumes else EMPTY


def _with_changed(card: SmartCard, volume: SmartVolume) -> SmartCard:
    return replace(
        card,
        volumes=tuple(volume if existing.number == volume.number else existing for existing in card.volumes),
    )
