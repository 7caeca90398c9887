"""Planning of new arrays: drives with the reasons against using them, legal geometries, and capacities. No I/O.

A physical volume of LVM counts as a drive with the size of its free extents. Existing volumes on it are kept.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum

from backends import raid
from backends.change import ChangeStep
from backends.device_label import DeviceLabel, drive_label
from backends.errors import InvalidValueError, RefusedError
from backends.identity import Identity, Signature
from backends.model import Level, Media, Target
from backends.sizes import size_words
from backends.text import clean
from backends.values import dataclass

LEVELS = (Level.RAID0, Level.RAID1, Level.RAID5, Level.RAID6, Level.RAID10, Level.RAID50, Level.RAID60)
"""Levels that can be created."""

STRIPS = tuple(16 * 1024 << step for step in range(7))
"""Strip sizes in bytes that raidbench offers, 16 KiB to 1 MiB. If none is set, the creating program has a default."""

SPANNED = (Level.RAID10, Level.RAID50, Level.RAID60)
"""Levels that a RAID controller builds from spans."""

SYNC_RATE = 200e6
"""Default limit of md's resync in bytes per second on each member (Documentation/admin-guide/sysctl, dev.raid)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A drive that could become a member of a new array."""

    drive: Target
    """Address of the drive."""
    controller: Target | None = None
    """Controller or volume group that would create the array; None for md."""
    place: str
    """The tool's name for the drive: `252:3`, `/dev/sdb`."""
    model: str | None = None
    """Model."""
    serial: str | None = None
    """Serial number; for a physical volume LVM's UUID."""
    media: Media = Media.UNKNOWN
    """Media type."""
    interface: str | None = None
    """`sata`, `sas`, `nvme`."""
    size_bytes: int | None = None
    """Capacity; for a physical volume the capacity of its free extents."""
    free_extents: int | None = None
    """Free extents of a physical volume; None for a drive that is used completely."""
    sector_bytes: int | None = None
    """Logical sector size."""
    why_not: tuple[str, ...] = ()
    """All reasons against using it, each a sentence or a clause; () if it is free."""
    cautions: tuple[str, ...] = ()
    """Warnings about its health as clauses; () if it has none."""
    lies: tuple[str, ...] = ()
    """Lines that describe the content of a free drive, which would be lost; () if no content is known."""
    signatures: tuple[Signature, ...] = ()
    """The content in `lies` as signatures, to detect content that is added later."""
    is_visible: bool = False
    """Whether the kernel can read its content.

    If not, only the controller sees the drive, and the content is unknown.
    """
    identity: Identity | None = None
    """Its identity in the kernel; None if only the controller sees the drive."""

    @property
    def free(self) -> bool:
        """Return whether it may become a member of a new array."""
        return not self.why_not

    @property
    def label(self) -> DeviceLabel:
        """Return its label in a confirmation question."""
        serial, wwn = self.serial, None
        if self.identity is not None:
            serial, wwn = self.identity.serial or serial, self.identity.wwn
        return drive_label(self.place, serial, wwn=wwn, model=self.model, size_bytes=self.size_bytes)

    @property
    def shared(self) -> bool:
        """Return whether only its free extents are used, so that other content on it stays."""
        return self.free_extents is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayShape:
    """Level, strip size, spans and layout of a planned array, independent of its drives."""

    level: Level
    """RAID level."""
    strip_bytes: int | None = None
    """Strip size in bytes; None for a level without strips, and for the default of the creating program."""
    spans: int | None = None
    """Number of spans of RAID 10, 50 and 60; None for the default."""
    layout: str | None = None
    """Layout of md's RAID 10 in mdadm's spelling (`f2`); None for the default and for other levels."""

    @property
    def options_text(self) -> str:
        """Return the options that differ from the default, each after a comma: `, 3 spans, strip 64 KiB`."""
        spans = "" if self.spans is None else f", {self.spans} spans"
        layout = "" if self.layout is None else f", layout {self.layout}"
        return spans + layout + ("" if self.strip_bytes is None else f", strip {size_words(self.strip_bytes)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayRequest(ArrayShape):
    """An array that the user asks for."""

    drives: tuple[Candidate, ...]
    """Drives in order; the order decides which drives form a span."""
    size_bytes: int | None = None
    """Size of a volume in a volume group; None for all free space of these drives."""
    name: str
    """Unique name by which raidbench recognises the array: at most 15 letters, digits, `-` and `_`."""
    token: str = field(default_factory=lambda: os.urandom(16).hex())  # as `secrets` does, without loading libcrypto
    """Unique 32 hex digits, with which LVM can mark the array that it creates."""
    policies: dict[str, str] = field(default_factory=dict)
    """Policies to set at creation (`creation_policies`). The keys are those of the array's settings after creation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayPlan:
    """The planned creation of an array."""

    request: ArrayRequest
    """The request, with defaults filled in."""
    maker: str
    """Program that creates it: `md`, `storcli64`, `MegaCli64`."""
    steps: tuple[ChangeStep, ...]
    """The exact commands."""
    size_bytes: int | None
    """Expected usable capacity; the creating program rounds it down. None if unknown."""
    data_drives: int | None
    """Number of drives that hold data, not parity or copies, in one stripe; None if that is no whole number."""
    seconds: float
    """Approximate duration of the commands in seconds."""
    initialising: str
    """A sentence about the initialisation that follows the creation, and about its duration."""
    begins_later: bool = False
    """Whether the controller starts the initialisation automatically some minutes after the creation."""
    warnings: tuple[str, ...] = ()
    """Warnings as sentences."""
    uuids: tuple[str, ...] = ()
    """UUIDs that identify the new array; () for controllers.

    md: the array's UUID in mdadm's spelling, then the UUIDs of inner arrays. LVM: the UUID of the volume group, then
    the tag of the volume.
    """
    before: tuple[str, ...] = ()
    """Lasting ids of the arrays that the controller has before the creation; () for md, whose UUID is always new."""
    locks: tuple[str, ...] = ()
    """Locks that the creation takes: that of the controller or volume group, or one for each disk."""
    by_hand: str = ""
    """The reason, as a sentence, why raidbench only shows the commands; "" if it runs them."""

    def created_array(self) -> CreatedArray:
        """Return the record of the array to be written to a journal."""
        return CreatedArray(
            name=self.request.name,
            level=self.request.level,
            controller=self.request.drives[0].controller,
            members=tuple(
                MemberDrive(
                    place=drive.place,
                    serial=drive.serial,
                    wwn=drive.identity.wwn if drive.identity is not None else None,
                    size_bytes=drive.size_bytes,
                )
                for drive in self.request.drives
            ),
            strip_bytes=self.request.strip_bytes,
            spans=self.request.spans,
            layout=self.request.layout,
            size_bytes=self.size_bytes if self.request.drives[0].shared else None,
            uuids=self.uuids,
            before=self.before,
        )

    @property
    def full_stripe_bytes(self) -> int | None:
        """Return the bytes of data in one stripe; None for a level without stripes."""
        return raid.full_stripe(self.request.strip_bytes, self.data_drives)

    @property
    def cost(self) -> int | None:
        """Return the number of drives used for copies and parity; None if that is no whole number."""
        return None if self.data_drives is None else len(self.request.drives) - self.data_drives


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberDrive:
    """A member of an array at its creation."""

    place: str
    """The tool's name for the drive at the time of the creation, `252:3`, `/dev/sdb`; it may differ after a reboot."""
    serial: str | None
    """Serial number; for a physical volume LVM's UUID."""
    wwn: str | None = None
    """World wide name, if the kernel reports one."""
    size_bytes: int | None = None
    """Capacity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedArray:
    """Record of an array that raidbench starts to create, with all facts by which the array can be recognised later."""

    name: str
    """Unique name; see `ArrayRequest`."""
    level: Level
    """RAID level."""
    controller: Target | None
    """Controller or volume group that creates it; None for md."""
    members: tuple[MemberDrive, ...]
    """Members in order."""
    strip_bytes: int | None
    """Strip size in bytes; None for a level without strips."""
    spans: int | None = None
    """Number of spans of RAID 10, 50 and 60."""
    layout: str | None = None
    """Layout of md's RAID 10; None for the default and for other levels."""
    size_bytes: int | None = None
    """Exact size of a volume in a volume group; None for arrays outside of volume groups."""
    uuids: tuple[str, ...] = ()
    """UUIDs as in `ArrayPlan.uuids`. For LVM the UUID of the volume follows once the volume exists."""
    before: tuple[str, ...] = ()
    """Lasting ids of the arrays that the controller had before the creation; see `ArrayPlan.before`."""

    @property
    def uuid(self) -> str | None:
        """Return the array's own UUID; None if it is unknown or the array has none."""
        array_uuids = self.uuids[2:] if self.size_bytes is not None else self.uuids
        return array_uuids[0] if array_uuids else None


class ArrayMatchState(StrEnum):
    """How much of an array that raidbench created still exists."""

    ABSENT = "absent"
    """No part of the array is on any of its drives."""
    COMPLETE = "whole"
    """It exists as it was created: same drives, level, and name or UUID."""
    PARTIAL = "partly"
    """Only a part of it exists, or it is stopped: some steps of the creation were not run.

    Its drives contain nothing that belongs to another array.
    """
    UNKNOWN = "unknown"
    """The parts that were found may belong to another array, or cannot be identified; raidbench does not touch them."""


class ForeignArrayError(Exception):
    """Error: the drives have another array, or one that cannot be identified. The message is a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayMatch:
    """Result of a search for an array that raidbench created completely or partly."""

    state: ArrayMatchState
    """How much of the array was found."""
    sentence: str
    """A sentence that states the state and the evidence for it."""
    target: Target | None = None
    """Its present address; None unless it is complete."""
    device: str | None = None
    """Its device node; None if it has none."""
    looked_at: tuple[str, ...] = ()
    """Device nodes of its running arrays. The array is deleted only if none of them has content or dependents."""
    locks: tuple[str, ...] = ()
    """Locks that its deletion takes."""
    uuids: tuple[str, ...] = ()
    """All UUIDs that identify the array from now on, if the creating program assigned any; () if it assigned none."""
    remove: tuple[ChangeStep, ...] = ()
    """Steps that delete its parts, in order; () if there are none, or if they must not be deleted."""
    differs: Mapping[str, str] = field(default_factory=dict)
    """A sentence, by setting key, about each policy that differs from the requested one; {} if none was checked."""


_LEAST = {
    Level.RAID0: 1,
    Level.RAID1: 2,
    Level.RAID5: 3,
    Level.RAID6: 4,
    Level.RAID10: 4,
    Level.RAID50: 6,
    Level.RAID60: 8,
}
"""Minimum number of drives by level. Some programs accept fewer drives (md accepts a RAID 5 of two), but such arrays
are not worth measuring."""

_EACH = {Level.RAID10: 2, Level.RAID50: 3, Level.RAID60: 4}
"""Minimum number of drives in a span."""

_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def is_name(name: str) -> bool:
    """Return whether every program that creates arrays accepts the name."""
    return 0 < len(name) <= 15 and name[0].isalnum() and set(name) <= _NAME


def spans_of(level: Level, drives: int, spans: int | None) -> int:
    """Return the number of spans for a level and a number of drives.

    Unless `spans` is given, RAID 10 has one span for each pair of drives, and RAID 50 and 60 have two spans. All other
    levels have 1. Raises InvalidValueError if the drives do not fit into the spans.
    """
    if level not in SPANNED:
        if spans not in (None, 1):
            raise InvalidValueError(f"{level.name} has no spans.", hint="Only RAID10, RAID50 and RAID60 have spans.")
        return 1
    number = spans if spans is not None else drives // 2 if level is Level.RAID10 else 2
    if not _fits(level, drives, number):
        raise InvalidValueError(
            f"{level.name} of {drives} drives cannot be divided into {number} spans.",
            hint=f"All spans must have the same number of drives, at least {_EACH[level]}"
            + (", and it must be even." if level is Level.RAID10 else "."),
        )
    return number


def spans_that_fit(level: Level, drives: int) -> tuple[int, ...]:
    """Return every number of spans into which the drives can be divided, lowest first; () for levels without spans."""
    return tuple(spans for spans in range(2, drives // 2 + 1) if level in SPANNED and _fits(level, drives, spans))


def _fits(level: Level, drives: int, spans: int) -> bool:
    size, left = divmod(drives, max(1, spans))
    return spans > 1 and not left and size >= _EACH[level] and not (level is Level.RAID10 and size % 2)


def creation_policies(
    wished: Mapping[str, str], legal: Mapping[str, Sequence[str]], usual: Mapping[str, str]
) -> dict[str, str]:
    """Return the policies for the creation of an array: the values `wished` by the user, else the defaults `usual`.

    `legal`: values that the controller accepts at creation, by setting key. A default that is not one of these values
    is left out. Raises InvalidValueError for a requested value that is not one of them.
    """
    for key, value in wished.items():
        if key not in legal:
            hint = f"Options available at creation: {', '.join(legal)}. " if legal else ""
            raise InvalidValueError(
                f"{clean(key, 40)} cannot be set when creating an array on this controller.",
                hint=f"{hint}Set the others after the array exists.",
            )
        if value not in legal[key]:
            raise InvalidValueError(
                f"{key} must be {' or '.join(legal[key])} when creating an array, not {clean(value, 40)!r}.",
                hint="Set the others after the array exists.",
            )
    return {key: value for key, value in {**usual, **wished}.items() if value in legal.get(key, ())}


def require_name(request: ArrayRequest) -> None:
    """Raise InvalidValueError for a name that not every program that creates arrays accepts."""
    if not is_name(request.name):
        raise InvalidValueError(
            f"{clean(request.name, 40)!r} is not a valid array name.",
            hint="Use at most 15 letters, digits, `-` and `_`, beginning with a letter or digit.",
        )


def require_shape(request: ArrayRequest) -> int:
    """Return the number of data drives.

    Raises InvalidValueError if the requested level is not possible with these drives.
    """
    level, count = request.level, len(request.drives)
    if level not in _LEAST:
        raise InvalidValueError(
            f"raidbench cannot create {level.value}.",
            hint=f"Available levels: {', '.join(possible.value for possible in LEVELS)}.",
        )
    if count < _LEAST[level]:
        raise InvalidValueError(f"{level.name} needs at least {_LEAST[level]} drives, {count} were given.")
    require_name(request)
    of_kernel = request.drives[0].controller is None or request.drives[0].shared
    copies = count if level is Level.RAID1 and of_kernel else 2
    data = raid.data_drives(level, count, spans=spans_of(level, count, request.spans), copies=copies)
    if not data:
        raise InvalidValueError(
            f"{level.name} cannot be created from {count} drives.", hint="Choose an even number of drives."
        )
    return data


def require_layout(request: ArrayRequest) -> int | None:
    """Return the number of data drives of a RAID 10 with the requested layout; None if it is no whole number.

    md needs at least as many drives as copies (md(4)). Raises InvalidValueError for an invalid layout or too few
    drives.
    """
    count, copies = len(request.drives), raid.copies_of(request.layout)
    if request.level is not Level.RAID10:
        raise InvalidValueError(
            f"{request.level.name} has no selectable layout.", hint="Only RAID10 of md has selectable layouts."
        )
    if request.layout is None or copies < 2 or raid.LAYOUT.fullmatch(request.layout) is None:
        raise InvalidValueError(
            f"{clean(request.layout or '', 40)!r} is not a RAID10 layout.",
            hint="Valid layouts are n2, f2 and o2, or with more copies (n3).",
        )
    if request.spans is not None:
        raise InvalidValueError("A RAID10 with an md layout has no spans.", hint="Omit --spans.")
    if count < copies:
        raise InvalidValueError(
            f"RAID10 with {copies} copies needs at least {copies} drives.", hint=f"Drives given: {count}."
        )
    require_name(request)
    return raid.data_drives(Level.RAID10, count, copies=copies)


def require_alike(drives: Sequence[Candidate]) -> tuple[str, ...]:
    """Return warnings about differences between the drives. Raises InvalidValueError for unsuitable combinations.

    Mixed media, interfaces and sector sizes are refused: an array is as slow as its slowest drive, and controllers
    refuse most such mixtures. Unequal sizes only cause a warning: the array uses the smallest size on every drive.
    """
    named = [candidate.drive for candidate in drives]
    if len(set(named)) != len(named):
        raise InvalidValueError("A drive is given twice.")
    for property_name, values in (
        ("media", [drive.media.value for drive in drives]),
        ("interfaces", [drive.interface or "unknown" for drive in drives]),
        ("sector sizes", [str(drive.sector_bytes or "unknown") for drive in drives]),
    ):
        if len(kinds := sorted(set(values))) > 1:
            raise InvalidValueError(
                f"The drives have different {property_name} ({', '.join(kinds)}).", hint="Choose drives of one kind."
            )
    sizes = {drive.size_bytes for drive in drives}
    models = {drive.model for drive in drives}
    warnings = (
        ["The drives differ in size. The array uses the size of the smallest one on each."] if len(sizes) > 1 else []
    )
    warnings += [f"The drives are of {len(models)} different models."] if len(models) > 1 else []
    return tuple(warnings)


def require_free_drive(drive: Candidate) -> None:
    """Raise RefusedError with every reason against a drive. No option overrides them."""
    if drive.why_not:
        why = " ".join(sentence if sentence.endswith(".") else f"{sentence}." for sentence in drive.why_not)
        raise RefusedError(
            f"{drive.place} cannot be used for an array: {why}",
            hint="`raidbench array list` shows which drives are free, and why the others are not.",
        )


def capacity(request: ArrayRequest, data_drives: float, *, lost_bytes: int = 0) -> int | None:
    """Return the usable bytes: the size of the smallest drive minus `lost_bytes`, times `data_drives`.

    None if the size of a drive is unknown.
    """
    sizes = [drive.size_bytes for drive in request.drives]
    reported = [size for size in sizes if size]
    if len(reported) != len(sizes):
        return None
    smallest = min(reported) - lost_bytes
    strip = request.strip_bytes or 1
    return max(0, int(smallest // strip * strip * data_drives))


def confirm_labels(drives: Sequence[Candidate]) -> tuple[DeviceLabel, ...]:
    """Return the labels of the drives of a new array, whose token (`confirm_token`) confirms its creation.

    For free extents of LVM it is one label, whose token is the name of the volume group.
    """
    group = drives[0].controller if drives and drives[0].shared else None
    if group is None:
        return tuple(drive.label for drive in drives)
    lost = "a volume group: only free extents are used, and any old data in them will be lost"
    sentences = tuple(drive.label.sentence for drive in drives)
    name = group.address
    return (DeviceLabel(name=name, description=lost, token=name, drives=sentences, kind="volume group"),)
