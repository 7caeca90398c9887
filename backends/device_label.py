"""Labels of devices in confirmation questions, each with the token to type. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from backends.identity import Identity
from backends.model import Array, Controller, Device, Drive, Inventory, Target
from backends.sizes import size_words
from backends.text import clean
from backends.values import dataclass

LENGTH = 6
"""Number of last characters of a serial number or WWN to type; more are needed if the number of another device has the
same end."""

DIGITS = 6
"""Number of hex digits in the token for several devices."""

SHORTEST = 4
"""Minimum length of a serial number that is used as a token."""

_ARRAYS = ("md.", "dm.")
"""Prefixes of WWNs that are really UUIDs of arrays, which are not printed on any label."""


_MAPPED = {
    "dm.LVM-": "an LVM volume",
    "dm.CRYPT-": "an encrypted volume",
    "dm.mpath-": "a multipath disk",
    "dm.": "a device-mapper device",
}
"""Kinds of device-mapper devices by the prefix of their id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceLabel:
    """A device as a confirmation question shows it."""

    name: str
    """Address or node."""
    description: str
    """`SAMSUNG MZQLB960HAJR, serial number S437NX0K601300, 894.3 GiB`; unknown facts are named as unknown."""
    token: str
    """Token that has to be typed: the end of its serial number or WWN, else its name."""
    mark: str = ""
    """Its complete serial number and WWN, else its name; "" if only the token distinguishes it."""
    drives: tuple[str, ...] = ()
    """Sentences about the drives of an array or a volume group, which are shown with it."""
    kind: str = "device"
    """What the device is: `drive`, `array`, `volume group`, or `device` for all others."""

    @property
    def sentence(self) -> str:
        """Return the label as a sentence: `/dev/sda is ACME X1, serial number 12345678, 1.8 TiB.`"""
        return f"{self.name} is {self.description}."

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return the sentence about the device, then those about its drives."""
        return (self.sentence, *self.drives)


def device_label(
    device: Identity,
    others: Iterable[Identity] = (),
    *,
    name: str = "",
    called: str | None = None,
    apart: bool = False,
) -> DeviceLabel:
    """Return the label of a device among all others of the machine.

    One of `others` may be the device itself under another name, unless `apart` says that they are all different
    devices. The token is the end of the serial number or WWN: six characters, or more if another device has the same
    end. For a device with neither, the token is its name: `called`, the name that administrators use, else the kernel's
    name. `name`: name to display; by default that same name.
    """
    own_name = called or device.name
    foreign = [mark for other in others if apart or not device.same_disk(other) for mark in _marks(other)]
    candidates = (mark[-length:] for mark in _marks(device) for length in range(min(LENGTH, len(mark)), len(mark) + 1))
    word = next((word for word in candidates if not any(mark.endswith(word) for mark in foreign)), own_name)
    mark = " ".join(filter(None, (_plain(device.serial), _plain(device.wwn)))) or own_name
    return DeviceLabel(name=name or own_name, description=_description(device, word), token=word, mark=mark)


def drive_label(
    place: str,
    serial: str | None,
    *,
    wwn: str | None = None,
    model: str | None = None,
    size_bytes: int | None = None,
) -> DeviceLabel:
    """Return the label of a drive that may be known only to its controller. `place`: the tool's name for it."""
    identity = Identity(name=place, serial=serial, wwn=wwn, model=model, size_bytes=size_bytes)
    return replace(device_label(identity), kind="drive")


def labels_title(labels: Iterable[DeviceLabel]) -> str:
    """Return the title of the sentences of labels, such as `2 drives` or `volume group data and 2 drives`."""
    counts: dict[str, int] = {}
    parts = []
    for label in labels:
        if label.drives:
            parts.append(f"{label.kind} {clean(label.name)}")
            counts["drive"] = counts.get("drive", 0) + len(label.drives)
        else:
            counts[label.kind] = counts.get(label.kind, 0) + 1
    parts += [f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in counts.items()]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else ""


def confirm_token(plates: Iterable[DeviceLabel]) -> str:
    """Return the token for devices; "" for none. For one device it is the token of its label.

    For several it is their number and six hex digits, such as `24-3fa9c1`. The digits are the start of a SHA-256 of
    their serial numbers and WWNs in order; a device with neither counts by its name or address. So the token differs if
    one device is replaced, left out or moved. A device that is listed twice counts once.
    """
    marks = {(plate.token, plate.mark): plate.mark or plate.token for plate in plates}
    if len(marks) < 2:
        return "".join(token for token, _ in marks)
    import hashlib  # loads libcrypto, which few commands need

    return f"{len(marks)}-{hashlib.sha256(chr(10).join(marks.values()).encode()).hexdigest()[:DIGITS]}"


def device_label_of(inventory: Inventory, target: Target) -> DeviceLabel:
    """Return the label of a device of an inventory; for an unknown target the label has only its address."""
    device = next((entry for entry in inventory.devices if entry.target == target), None)
    if device is None:
        return device_label(Identity(name=target.address), name=str(target))
    others = [_identity(other) for other in inventory.devices if _is_other(device, other)]
    called = device.called if isinstance(device, Array) else None
    plate = device_label(_identity(device), others, name=str(target), called=called)
    if any(other.name == plate.token for other in others):  # two arrays may have the same name
        return replace(plate, token=target.address)
    return plate


def device_label_of_parts(target: Target, serials: Sequence[str]) -> DeviceLabel:
    """Return the label of a device to be created from drives with these serial numbers. Its token is theirs."""
    labels = [drive_label(serial, serial) for serial in serials]
    drives = ", ".join(map(clean, serials)) or "unknown drives"
    token = confirm_token(labels) or target.address
    return DeviceLabel(name=str(target), description=f"to be created from the drives {drives}", token=token)


def _is_other(device: Device, other: Device) -> bool:
    """Return whether `other` is a different device that a user could confuse with `device`.

    Controllers are confused only with controllers. Two devices with the same node are one device.
    """
    if isinstance(device, Controller) or isinstance(other, Controller):
        return other is not device and isinstance(device, Controller) and isinstance(other, Controller)
    return other is not device and (device.device is None or device.device != other.device)


def _marks(device: Identity) -> tuple[str, ...]:
    """Return the serial number and the WWN, without white space, if they are long enough and can be typed.

    The serial number of a virtual drive of a MegaRAID controller is its WWN written backwards (VPD page 0x80). It ends
    in the maker's number, which is the same for all virtual drives. So only the WWN is used, as tools and labels show
    it.
    """
    serial, wwn = _plain(device.serial), _plain(device.wwn)
    wwn = "" if wwn.startswith(_ARRAYS) else wwn.partition(".")[2] or wwn
    identifiers = (wwn,) if serial and wwn == serial[::-1] else (serial, wwn)
    return tuple(mark for mark in identifiers if len(mark) >= SHORTEST and mark.isascii())


def _plain(mark: str | None) -> str:
    return "".join((mark or "").split())


def _identity(device: Device) -> Identity:
    """Return the identity of a device: from the kernel if it has a node, else from its controller."""
    identity = None if isinstance(device, Controller) else device.identity
    if identity is not None and identity.devno is not None:
        return identity
    blank = Identity(name=device.target.address)
    match device:
        case Controller():
            return replace(blank, serial=device.serial, model=device.model)
        case Drive():
            return replace(
                blank, serial=device.serial, wwn=device.wwn, model=device.model, size_bytes=device.size_bytes
            )
        case Array():  # its serial number is that of the controller, so it is left out
            wwn, model = (None, None) if identity is None else (identity.wwn, identity.model)
            return replace(blank, name=device.name or blank.name, wwn=wwn, model=model, size_bytes=device.size_bytes)


def _description(device: Identity, word: str) -> str:
    if kind := next((text for front, text in _MAPPED.items() if (device.wwn or "").startswith(front)), None):
        return ", ".join(filter(None, (kind, size_words(device.size_bytes) if device.size_bytes else "")))
    if device.model and not (_marks(device) or device.size_bytes or device.devno):
        return device.model  # for example a filesystem, which has neither a disk nor a size
    description = []
    if device.serial and (_plain(device.serial).endswith(word) or not _marks(device)):
        description = [f"serial number {device.serial}"]
    elif _marks(device) and device.wwn:
        description = [f"WWN {device.wwn}"]
    elif device.serial:
        description = [f"serial number {device.serial}, which is not unique"]
    size = "size unknown" if device.size_bytes is None else size_words(device.size_bytes)
    return ", ".join((device.model or "model unknown", *(description or ["no serial number"]), size))
