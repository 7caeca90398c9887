"""Arrays to be made: which drives are free and why the others are not, and what a level makes of those. Pure.

A physical volume of LVM is such a drive as well, as far as its extents are free: others' volumes on it stay.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum

from backends import raid
from backends.change import ChangeStep
from backends.errors import InvalidValueError, RefusedError
from backends.identity import Identity, Signature
from backends.model import Level, Media, Target
from backends.text import clean
from backends.values import dataclass

LEVELS = (Level.RAID0, Level.RAID1, Level.RAID5, Level.RAID6, Level.RAID10, Level.RAID50, Level.RAID60)
"""Levels that can be made."""

STRIPS = tuple(16 * 1024 << step for step in range(7))
"""Bytes of a strip that are offered, 16 KiB to 1 MiB; a maker has its usual one beside them."""

SPANNED = (Level.RAID10, Level.RAID50, Level.RAID60)
"""Levels that a RAID card makes of spans."""

SYNC_RATE = 200e6
"""Bytes a second on each member that a machine allows a resync of md (Documentation/admin-guide/sysctl, dev.raid)."""

END = 4
"""Characters of each serial number that are typed for drives of which nobody can say what lies on them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A drive that an array might be made of."""

    drive: Target
    """Its address."""
    controller: Target | None = None
    """The card that it hangs from, or the volume group, where that makes arrays of it; None where md does."""
    place: str
    """What the tool calls it: `252:3`, `/dev/sdb`."""
    model: str | None = None
    """Model."""
    serial: str | None = None
    """Serial number; of a physical volume LVM's UUID."""
    media: Media = Media.UNKNOWN
    """What stores the bits."""
    interface: str | None = None
    """`sata`, `sas`, `nvme`."""
    size_bytes: int | None = None
    """Capacity; of a physical volume that of its free extents."""
    free_extents: int | None = None
    """Of a physical volume: its extents that no volume has; None for a drive that is taken as a whole."""
    sector_bytes: int | None = None
    """Logical sector."""
    why_not: tuple[str, ...] = ()
    """Every reason against making an array of it, each a sentence or a part of one; () for a free one."""
    cautions: tuple[str, ...] = ()
    """What to know of its health before an array is made of it, each a clause; () where all is well."""
    lies: tuple[str, ...] = ()
    """What lies on a free one and would be lost, one line each; () where nothing known does."""
    signatures: tuple[Signature, ...] = ()
    """The same, for a look whether more has come since."""
    seen: bool = False
    """Whether the kernel sees what lies on it; else only the card has it, and its content is unknown."""
    identity: Identity | None = None
    """What it is to the kernel; None where only the card has it."""

    @property
    def free(self) -> bool:
        """Whether an array may be made of it."""
        return not self.why_not

    @property
    def shared(self) -> bool:
        """Whether only its free extents are taken, and what others have on it stays."""
        return self.free_extents is not None

    @property
    def of_kernel(self) -> bool:
        """Whether a driver of the kernel makes arrays of it, and no card."""
        return self.controller is None or self.shared


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayRequest:
    """An array that somebody wants."""

    level: Level
    """Its level."""
    drives: tuple[Candidate, ...]
    """What it is to be made of, in this order: it decides the spans."""
    strip_bytes: int | None = None
    """Bytes on one drive before the next one follows; None for a level without, and for the maker's usual one."""
    spans: int | None = None
    """Spans of RAID 10, 50 and 60; None for the usual."""
    layout: str | None = None
    """Layout of md's RAID 10 in mdadm's word (`f2`); None for the usual, and for all others."""
    size_bytes: int | None = None
    """What it is to hold, of a volume group; None for all that these drives have free."""
    name: str
    """What it is to be called, at most 15 letters, digits, `-` and `_`; the token by which it is known again."""
    token: str = field(default_factory=lambda: os.urandom(16).hex())  # as secrets does, without loading libcrypto
    """32 hex digits that no other array has, for a maker that marks what it makes."""
    policies: dict[str, str] = field(default_factory=dict)
    """Policies at birth: values by the keys of the array's settings, as they are set later (`creation_policies`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayPlan:
    """What making an array would do."""

    wish: ArrayRequest
    """What was asked for, with what was left open filled in."""
    maker: str
    """`md`, `storcli64`, `MegaCli64`: what makes it."""
    steps: tuple[ChangeStep, ...]
    """The exact commands."""
    size_bytes: int | None
    """Usable capacity as far as it can be told before; the maker rounds it down."""
    data_drives: int | None
    """Drives that carry data in one stripe; None where that is no whole number."""
    seconds: float
    """How long the commands take, about."""
    initialising: str
    """What has to happen to it afterwards, and how long that takes: a sentence."""
    begins_later: bool = False
    """Whether the maker begins to initialise it by itself some minutes after it was made."""
    warnings: tuple[str, ...] = ()
    """What somebody should know before: sentences."""
    uuids: tuple[str, ...] = ()
    """Of md, as mdadm spells them: the array's, then those of the inner ones; of LVM the group's and the volume's tag;
    () of a card."""
    before: tuple[str, ...] = ()
    """The card's arrays that were there before, by what lasts of each; () of md, whose UUID is new."""
    locks: tuple[str, ...] = ()
    """The locks under which it is made: of the card or the volume group, or of each disk."""
    by_hand: str = ""
    """Why its commands are only shown, a sentence; "" where raidbench runs them."""

    def made(self) -> CreatedArray:
        """What a journal keeps of it."""
        return CreatedArray(
            name=self.wish.name,
            level=self.wish.level,
            controller=self.wish.drives[0].controller,
            members=tuple(
                MemberDrive(
                    place=drive.place,
                    serial=drive.serial,
                    wwn=drive.identity.wwn if drive.identity is not None else None,
                    size_bytes=drive.size_bytes,
                )
                for drive in self.wish.drives
            ),
            strip_bytes=self.wish.strip_bytes,
            spans=self.wish.spans,
            layout=self.wish.layout,
            size_bytes=self.size_bytes if self.wish.drives[0].shared else None,
            uuids=self.uuids,
            before=self.before,
        )

    @property
    def full_stripe_bytes(self) -> int | None:
        """Bytes of data in one stripe; None for a level without."""
        return raid.full_stripe(self.wish.strip_bytes, self.data_drives)

    @property
    def cost(self) -> int | None:
        """Drives of which the capacity goes into copies and parity; None where that is no whole number."""
        return None if self.data_drives is None else len(self.wish.drives) - self.data_drives


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberDrive:
    """A drive that an array was made of."""

    place: str
    """What the tool called it then: `252:3`, `/dev/sdb`; another one after a boot."""
    serial: str | None
    """Serial number; of a physical volume LVM's UUID."""
    wwn: str | None = None
    """World wide name, where the kernel tells one."""
    size_bytes: int | None = None
    """Capacity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedArray:
    """An array as raidbench was about to make it: all that it may be known again by."""

    name: str
    """Its name, which no other array has: see `ArrayRequest`."""
    level: Level
    """Its level."""
    controller: Target | None
    """The card that makes it, or the volume group; None where md does."""
    members: tuple[MemberDrive, ...]
    """What it is made of, in order."""
    strip_bytes: int | None
    """Strip, None for a level without."""
    spans: int | None = None
    """Spans of RAID 10, 50 and 60."""
    layout: str | None = None
    """Layout of RAID 10; None for the usual, and for all others."""
    size_bytes: int | None = None
    """Of a volume in a group exactly what it holds; None of all others."""
    uuids: tuple[str, ...] = ()
    """See `ArrayPlan`; of LVM the volume's own follows once it was made."""
    before: tuple[str, ...] = ()
    """See `ArrayPlan`."""

    @property
    def uuid(self) -> str | None:
        """Its own; None while it is not known, and where there is none."""
        array_uuids = self.uuids[2:] if self.size_bytes is not None else self.uuids
        return array_uuids[0] if array_uuids else None


class ArrayMatchState(StrEnum):
    """How an array that raidbench made, or began to make, is found."""

    ABSENT = "absent"
    """There is nothing of it, on none of its drives."""
    WHOLE = "whole"
    """It is there as it was made: of these very drives, with this level and name or UUID."""
    PARTLY = "partly"
    """Parts are there, and all of them are its own: not all of its steps were taken, or it is stopped."""
    UNKNOWN = "unknown"
    """What is there may be somebody else's, or cannot be told: nothing is done about it."""


class ForeignArrayError(Exception):
    """Something where an array was made is another's, or cannot be told: the sentence that says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayMatch:
    """What is left of an array that raidbench made."""

    standing: ArrayMatchState
    """How it is found."""
    words: str
    """The same in a sentence, with what it was judged by."""
    target: Target | None = None
    """Its address now; None where it is not whole."""
    device: str | None = None
    """Its node; None where it has none."""
    looked_at: tuple[str, ...] = ()
    """Nodes that run: nothing may lie or stand on any of them when it is taken apart."""
    locks: tuple[str, ...] = ()
    """The locks under which that is done."""
    uuids: tuple[str, ...] = ()
    """All that it is known by from now on, where its maker chose some of that; () where nothing came to it."""
    remove: tuple[ChangeStep, ...] = ()
    """The steps that take apart what is its own, in order; () where nothing is, or nothing may be done."""
    differs: Mapping[str, str] = field(default_factory=dict)
    """Policies that do not read as it was made with, where these were looked at: sentences by their keys."""


_LEAST = {
    Level.RAID0: 1,
    Level.RAID1: 2,
    Level.RAID5: 3,
    Level.RAID6: 4,
    Level.RAID10: 4,
    Level.RAID50: 6,
    Level.RAID60: 8,
}
"""Fewest drives. Some makers take fewer (md a RAID 5 of two), which nobody measures."""

_EACH = {Level.RAID10: 2, Level.RAID50: 3, Level.RAID60: 4}
"""Fewest drives of a span."""

_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def is_name(name: str) -> bool:
    """Whether every maker takes a name."""
    return 0 < len(name) <= 15 and name[0].isalnum() and set(name) <= _NAME


def spans_of(level: Level, drives: int, spans: int | None) -> int:
    """Spans of a level over so many drives: pairs of a RAID 10, two of RAID 50 and 60 unless said; 1 of all others.

    Raises InvalidValueError where the drives do not fit into them.
    """
    if level not in SPANNED:
        if spans not in (None, 1):
            raise InvalidValueError(f"{level.name} has no spans.", hint="RAID10, RAID50 and RAID60 have.")
        return 1
    number = spans if spans is not None else drives // 2 if level is Level.RAID10 else 2
    if not _fits(level, drives, number):
        raise InvalidValueError(
            f"{level.name} of {drives} drives cannot have {number} spans.",
            hint=f"Each span has the same number of drives, at least {_EACH[level]}"
            + (", and an even one." if level is Level.RAID10 else "."),
        )
    return number


def spans_that_fit(level: Level, drives: int) -> tuple[int, ...]:
    """Every number of spans that so many drives of a level can be divided into, least first; () without spans."""
    return tuple(spans for spans in range(2, drives // 2 + 1) if level in SPANNED and _fits(level, drives, spans))


def _fits(level: Level, drives: int, spans: int) -> bool:
    size, left = divmod(drives, max(1, spans))
    return spans > 1 and not left and size >= _EACH[level] and not (level is Level.RAID10 and size % 2)


def creation_policies(
    wished: Mapping[str, str], legal: Mapping[str, Sequence[str]], usual: Mapping[str, str]
) -> dict[str, str]:
    """The policies that an array is made with: what is wished, else the usual ones.

    `legal`: what its maker can be told when it makes one, values by the keys of the array's settings; a usual one that
    it cannot be told is left out. Raises InvalidValueError for a wish that it cannot be told.
    """
    for key, value in wished.items():
        if key not in legal:
            hint = f"{', '.join(legal)} can be said when it is made. " if legal else ""
            raise InvalidValueError(
                f"{clean(key, 40)} is no policy at birth of this card.", hint=f"{hint}Others are set on the array."
            )
        if value not in legal[key]:
            raise InvalidValueError(
                f"{key} is {' or '.join(legal[key])} at birth, not {clean(value, 40)!r}.",
                hint="Others are set on the array.",
            )
    return {key: value for key, value in {**usual, **wished}.items() if value in legal.get(key, ())}


def require_name(request: ArrayRequest) -> None:
    """Raise InvalidValueError for a name that not every maker takes."""
    if not is_name(request.name):
        raise InvalidValueError(
            f"{clean(request.name, 40)!r} cannot be its name.", hint="At most 15 letters, digits, `-` and `_`."
        )


def require_shape(request: ArrayRequest) -> int:
    """Drives of the array that carry data. Raises InvalidValueError for a level that these drives do not make."""
    level, count = request.level, len(request.drives)
    if level not in _LEAST:
        raise InvalidValueError(
            f"{level.value} cannot be made.", hint=f"{', '.join(possible.value for possible in LEVELS)} can."
        )
    if count < _LEAST[level]:
        raise InvalidValueError(f"{level.name} takes at least {_LEAST[level]} drives, and {count} are named.")
    require_name(request)
    copies = count if level is Level.RAID1 and request.drives[0].of_kernel else 2
    data = raid.data_drives(level, count, spans=spans_of(level, count, request.spans), copies=copies)
    if not data:
        raise InvalidValueError(f"{level.name} cannot be made of {count} drives.", hint="Its drives come in pairs.")
    return data


def require_layout(request: ArrayRequest) -> int | None:
    """Return the drives that carry data in a RAID 10 of the layout of a wish; None where that is no whole number.

    md takes any number of drives that is not below that of the copies (md(4)). Raises InvalidValueError.
    """
    count, copies = len(request.drives), raid.copies_of(request.layout)
    if request.level is not Level.RAID10:
        raise InvalidValueError(f"{request.level.name} has no layout to choose.", hint="RAID10 made by md has.")
    if request.layout is None or copies < 2 or raid.LAYOUT.fullmatch(request.layout) is None:
        raise InvalidValueError(
            f"{clean(request.layout or '', 40)!r} is no layout of RAID10.",
            hint="n2, f2 and o2 are, or with more copies.",
        )
    if request.spans is not None:
        raise InvalidValueError("A RAID10 with a layout has no spans.", hint="Leave out the spans.")
    if count < copies:
        raise InvalidValueError(
            f"RAID10 with {copies} copies takes at least {copies} drives.", hint=f"Drives named: {count}."
        )
    require_name(request)
    return raid.data_drives(Level.RAID10, count, copies=copies)


def require_alike(drives: Sequence[Candidate]) -> tuple[str, ...]:
    """Warnings about the drives beside each other. Raises InvalidValueError where no array is to be made of these.

    Mixed media, interfaces and sector sizes are refused: an array is as slow as its slowest drive, and cards refuse
    most of that. Unequal sizes are a warning, as the smallest counts.
    """
    named = [candidate.drive for candidate in drives]
    if len(set(named)) != len(named):
        raise InvalidValueError("A drive is named twice.")
    for property_name, values in (
        ("media", [drive.media.value for drive in drives]),
        ("interfaces", [drive.interface or "unknown" for drive in drives]),
        ("sector sizes", [str(drive.sector_bytes or "unknown") for drive in drives]),
    ):
        if len(kinds := sorted(set(values))) > 1:
            raise InvalidValueError(
                f"The drives have different {property_name} ({', '.join(kinds)}).", hint="Choose alike ones."
            )
    sizes = {drive.size_bytes for drive in drives}
    models = {drive.model for drive in drives}
    warnings = ["The drives are not of one size: the smallest counts."] if len(sizes) > 1 else []
    warnings += [f"The drives are of {len(models)} models."] if len(models) > 1 else []
    return tuple(warnings)


def require_free_drive(drive: Candidate) -> None:
    """Raises RefusedError with every reason against a drive. There is no way round any of them."""
    if drive.why_not:
        why = " ".join(sentence if sentence.endswith(".") else f"{sentence}." for sentence in drive.why_not)
        raise RefusedError(
            f"No array can be made of {drive.place}: {why}",
            hint="`raidbench array list` says which drives are free, and why the others are not.",
        )


def capacity(request: ArrayRequest, data_drives: float, *, lost_bytes: int = 0) -> int | None:
    """Bytes that are usable: the smallest drive counts, less what the maker keeps on each. None if not told."""
    sizes = [drive.size_bytes for drive in request.drives]
    reported = [size for size in sizes if size]
    if len(reported) != len(sizes):
        return None
    smallest = min(reported) - lost_bytes
    strip = request.strip_bytes or 1
    return max(0, int(smallest // strip * strip * data_drives))


def confirm_tokens(drives: Iterable[Candidate]) -> str:
    """The ends of the serial numbers, in order, with commas between: what is typed for drives that only a card sees.

    For free extents it is the name of their group.
    """
    drives = tuple(drives)
    if drives and drives[0].shared and drives[0].controller is not None:
        return drives[0].controller.address
    return ",".join("".join((drive.serial or drive.place).split())[-END:] for drive in drives)
