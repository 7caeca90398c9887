"""Recognise arrays that raidbench created on a controller: by serial numbers, level, strip, spans and name. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backends.array_planning import ArrayMatch, ArrayMatchState, CreatedArray, ForeignArrayError, MemberDrive
from backends.change import ChangeStep, with_disk
from backends.model import Level, State, Target
from backends.sizes import size_words
from backends.text import clean
from backends.topology import Node
from backends.topology.device_identity import identity
from backends.values import dataclass

PARTS = (State.FOREIGN, State.MISSING, State.REBUILDING, State.UNKNOWN)
"""States of drives that may belong to an array which the controller does not list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerDrive:
    """A drive of a controller, with evidence of its membership in an array."""

    place: str
    """The tool's name for the drive."""
    serial: str | None
    """Serial number."""
    size_bytes: int | None
    """Capacity."""
    part_of: str = ""
    """Evidence that it is a member although no array lists it, as the end of `its drive X, which ...`; "" if none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerArray:
    """An array of a controller, with the steps that delete it."""

    called: str
    """Display name: `virtual drive 3`."""
    target: Target
    """Its address."""
    drives: tuple[str, ...]
    """The tool's names of its members; () if unknown."""
    claimed: tuple[str, ...] = ()
    """Drives that name this array as theirs, whether the array lists them or not."""
    level: Level
    """RAID level."""
    strip_bytes: int | None = None
    """Strip size in bytes; None if unknown."""
    spans: int | None = None
    """Number of spans of RAID 10, 50 and 60; None if unknown."""
    name: str | None = None
    """Name; None if it has none."""
    lasting: str = ""
    """Lasting id: its world wide name, else the serial numbers of its drives."""
    added: str = ""
    """Later additions such as a spare, as a clause without a subject; "" if none."""
    node: Node | None = None
    """Disk of the array in the kernel; None if the kernel has none."""
    remove: tuple[ChangeStep, ...] = ()
    """Steps that delete it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerArrays:
    """The drives and arrays of a controller, as just read."""

    drives: tuple[ControllerDrive, ...]
    """All drives of the controller."""
    arrays: tuple[ControllerArray, ...]
    """All arrays of the controller."""
    cut: str = ""
    """The reason, as a sentence, why the lists may be incomplete; "" if they are complete."""
    kind: str
    """The tool's term for an array: `virtual drive`."""
    named_at_creation: bool = True
    """Whether the first command of a creation names the array. If so, an array without a name is foreign."""
    lock: str
    """Name of the lock of the controller."""


def lasting_id(wwn: str | None, serials: Iterable[str], otherwise: str) -> str:
    """Return the lasting id of an array: its WWN, else the serial numbers of its drives, else `otherwise`."""
    return f"naa.{wwn}" if wwn is not None else " ".join(sorted(serials)) or otherwise


def ambiguity_reason(serial: str | None, serials: Iterable[str | None]) -> str:
    """Return the reason against using a drive whose serial number is missing or not unique; "" if it is unique."""
    alone = bool(serial) and sum(other == serial for other in serials) == 1
    return "" if alone else "its serial number is missing or not unique"


def find_on_controller(array: CreatedArray, card: ControllerArrays) -> ArrayMatch:
    """Return how much of a created array exists on a controller; see `ArrayCreator.find_made`.

    The number of an array is no evidence, because the controller chooses it.
    """
    try:
        drives = _drives(array.members, card)
        card_array = _array_of(drives, card)
        if card_array is None:
            return ArrayMatch(state=ArrayMatchState.ABSENT, sentence=_absence_text(drives, card), locks=(card.lock,))
        nameless = _is_nameless(array, card_array, drives, card)
    except ForeignArrayError as reason:
        return ArrayMatch(state=ArrayMatchState.UNKNOWN, sentence=str(reason))
    text = f"{card_array.target} is {array.level.name} of exactly these {len(drives)} drives"
    text += ", and has no name yet" if nameless else f", with the name {array.name}"
    state = ArrayMatchState.PARTIAL if nameless else ArrayMatchState.COMPLETE
    target = None if nameless else card_array.target
    if card_array.node is None:  # an array without a node is not deleted, because its content cannot be checked
        sentence = f"{text}. The kernel has no disk for it."
        return ArrayMatch(state=state, sentence=sentence, target=target, locks=(card.lock,))
    return ArrayMatch(
        state=state,
        sentence=f"{text}.",
        target=target,
        device=card_array.node.device,
        looked_at=(card_array.node.device,),
        locks=tuple(sorted(with_disk(card.lock, identity(card_array.node)).splitlines())),
        remove=card_array.remove,
    )


def _drives(members: Iterable[MemberDrive], card: ControllerArrays) -> tuple[ControllerDrive, ...]:
    """Return the members at their current places. Raises ForeignArrayError if one is missing or ambiguous."""
    if card.cut:
        raise ForeignArrayError(card.cut)
    return tuple(_drive(member, card.drives) for member in members)


def _drive(member: MemberDrive, drives: Iterable[ControllerDrive]) -> ControllerDrive:
    called = clean(member.serial or member.place, 80)
    matches = [drive for drive in drives if member.serial and drive.serial == member.serial]
    if not matches:
        raise ForeignArrayError(f"Its drive {called} is not on the controller.")
    if len(matches) > 1:
        raise ForeignArrayError(f"Several drives have the serial number {called}.")
    if member.size_bytes is not None and matches[0].size_bytes not in (None, member.size_bytes):
        raise ForeignArrayError(f"The size of drive {called} has changed.")
    return matches[0]


def _array_of(drives: Sequence[ControllerDrive], card: ControllerArrays) -> ControllerArray | None:
    """Return the array that uses any of these drives; None if there is none.

    Raises ForeignArrayError if there are several, or if the drives of any array are unknown.
    """
    if untold := next((array for array in card.arrays if not array.drives), None):
        raise ForeignArrayError(f"The controller does not report which drives {untold.called} has.")
    places = {drive.place for drive in drives}
    over = [array for array in card.arrays if places.intersection((*array.drives, *array.claimed))]
    if len(over) > 1:
        numbers = " and ".join(array.called.rpartition(" ")[2] for array in over)
        raise ForeignArrayError(f"Several {card.kind}s use its drives: {numbers}.")
    return over[0] if over else None


def _absence_text(drives: Sequence[ControllerDrive], card: ControllerArrays) -> str:
    """Return a sentence which states that no part of the array exists.

    Raises ForeignArrayError for a drive that shows evidence of a membership although no array lists it.
    """
    for drive in drives:
        if drive.part_of:
            called = clean(drive.serial or drive.place, 80)
            raise ForeignArrayError(f"No {card.kind} uses its drive {called}, which {drive.part_of}.")
    return f"None of its {len(drives)} drives belongs to a {card.kind}."


def _is_nameless(
    array: CreatedArray, card_array: ControllerArray, drives: Sequence[ControllerDrive], card: ControllerArrays
) -> bool:
    """Return whether the found array still lacks its name. Raises ForeignArrayError if it is not the created array."""
    where = f"{card_array.called[:1].upper()}{card_array.called[1:]}"
    if set(card_array.drives) != {drive.place for drive in drives}:
        raise ForeignArrayError(f"{where} does not consist of exactly its drives.")
    if card_array.lasting in array.before:
        raise ForeignArrayError(f"{where} existed before the creation began.")
    if card_array.level is not array.level:
        raise ForeignArrayError(
            f"{where} uses the drives of the array, but is {card_array.level.name}, not {array.level.name}."
        )
    if card_array.strip_bytes not in (None, array.strip_bytes):
        raise ForeignArrayError(
            f"{where} uses its drives, but has strips of {size_words(card_array.strip_bytes or 0)}."
        )
    if array.spans is not None and card_array.spans not in (None, array.spans):
        raise ForeignArrayError(f"{where} uses its drives, but has {card_array.spans} spans, not {array.spans}.")
    if card_array.added:
        raise ForeignArrayError(f"{where} uses its drives, but {card_array.added}.")
    if card_array.name == array.name:
        return False
    if card_array.name is None and not card.named_at_creation:
        return True
    called = f"is called {clean(card_array.name, 40)}" if card_array.name else "has no name"
    raise ForeignArrayError(f"{where} uses its drives, but {called}, not {array.name}.")
