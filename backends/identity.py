"""Identity, uses and content of a device, which are read before every write. Values only, no I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from backends.values import dataclass

_WWN_DIGITS = 16
"""Hexadecimal digits of a WWN of 64 bits."""


def _plain(text: str | None) -> str:
    """Return an identifier for comparison: lower case, without white space."""
    return "".join((text or "").lower().split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Identity of a device, independent of its name: compared before every write."""

    name: str
    """Kernel name at that time, `sda`. A name alone proves nothing."""
    wwn: str | None = None
    """World wide name or NVMe EUI/NGUID, None if the device has none."""
    serial: str | None = None
    """Serial number, None if not reported."""
    model: str | None = None
    """Model, None if not reported."""
    size_bytes: int | None = None
    """Size, None if not readable."""
    devno: str | None = None
    """MAJ:MIN, e.g. `8:0`."""
    diskseq: str | None = None
    """The kernel's sequence number of the disk (Linux >= 5.15): a new disk of the same name has another."""
    backing: str | None = None
    """A loop device's backing file."""

    def same_disk(self, other: Identity) -> bool:
        """Return whether the other is a path to the same disk, even under another name.

        Equal WWNs mean the same disk, unless serial number, model or size differ: some makers give a whole batch one
        WWN. Equal serial number, model and size also mean the same disk, unless the WWNs differ, as for the namespaces
        of an NVMe drive. The transport is not considered here: see `backends.topology.device_identity`.
        """
        if self.wwn is not None and other.wwn is not None:
            return self.wwn == other.wwn and not self._contradicts(other)
        described = (self.serial, self.model, self.size_bytes)
        return all(described) and described == (other.serial, other.model, other.size_bytes)

    def perhaps_same_disk(self, other: Identity) -> bool:
        """Return whether the other may be a path to the same disk.

        This requires equal WWNs, or an equal serial number and size and no different WWNs. Two disks may report the
        same serial number if it is not a real one (zeros, or that of an enclosure). One disk may report two serial
        numbers along with one WWN: some storage systems report the serial number of the controller that answers.
        """
        if self.wwn is not None and other.wwn is not None:
            return self.wwn == other.wwn
        described = (self.serial, self.size_bytes)
        return all(described) and described == (other.serial, other.size_bytes)

    def has_other_serial(self, other: Identity) -> bool:
        """Return whether both serial numbers are known and belong to different disks.

        A truncated serial number proves no difference; neither does a WWN that udev reports as the serial number of a
        SAS disk.
        """
        ours, theirs = (_plain(serial) for serial in (self.serial, other.serial))
        if not ours or not theirs or ours.startswith(theirs) or theirs.startswith(ours):
            return False
        names = [name for name in (self.wwn, other.wwn) if name is not None]
        return not any(
            number in _plain(name) for number in (ours, theirs) for name in names if len(number) >= _WWN_DIGITS
        )

    def _contradicts(self, other: Identity) -> bool:
        """Return whether known facts, apart from the WWN, prove that these are two disks."""
        facts = ((self.model, other.model), (self.size_bytes, other.size_bytes))
        return self.has_other_serial(other) or any(ours and theirs and ours != theirs for ours, theirs in facts)

    @property
    def lasting(self) -> str | None:
        """Return an id that stays the same under another name and on another host; None if there is none.

        All paths to a disk have the same id. So do two disks that report the same WWN or serial number. The id of a
        loop device is its backing file.
        """
        if self.wwn is not None:
            return f"wwn {self.wwn}"
        if self.serial and self.size_bytes:
            return ", ".join(filter(None, (f"serial {self.serial}", self.model, str(self.size_bytes))))
        return None if self.backing is None else f"file {self.backing}"

    def same_device(self, other: Identity) -> bool:
        """Return whether both identities belong to the same device, that is, whether no fact differs."""
        return not self.differences(other)

    def differences(self, other: Identity) -> str:
        """Return the facts that differ in `other`, a later reading, as a string; "" for the same device.

        A fact that was known and is now missing is a difference too.
        """
        facts = {
            "name": (self.name, other.name),
            "serial": (self.serial, other.serial),
            "WWN": (self.wwn, other.wwn),
            "model": (self.model, other.model),
            "size": (self.size_bytes, other.size_bytes),
            "device number": (self.devno, other.devno),
            "disk sequence number": (self.diskseq, other.diskseq),
            "backing file": (self.backing, other.backing),
        }
        shown = {word: (old or "unknown", new or "unknown") for word, (old, new) in facts.items() if old != new}
        return ", ".join(f"{word} was {old}, is {new}" for word, (old, new) in shown.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One use of a device."""

    kind: str
    """`mount`, `swap`, `holder`, `lvm`, `md`, `zfs`, `btrfs`, `open`, `root`, `exclusive`, `unknown`, `unseen` ..."""
    detail: str
    """The mount point, the device that is built on it, or the program that opened it with its PID."""
    part: str | None = None
    """The partition concerned, None for the complete device."""
    elsewhere: bool = False
    """Whether the same data are in use under another device name. Then `detail` completes "X is ..."."""


HOLDER_KINDS = ("holder", "lvm", "bcache", "md", "stratis")
"""Values of `Use.kind` whose `Use.detail` names the devices built on the used device."""

FORMER = "former "
"""Prefix of a signature's kind if only a part of the content is left."""


def new_content(lines: Iterable[str], shown: Collection[str]) -> list[str]:
    """Return the lines of content that was not `shown` when the user confirmed the loss of data.

    Both are lines as the guard writes them, `/dev/sdc: ext4, 64 MiB`. Remains of former content on a disk
    whose content was shown are not new: they are detected only after the beginning of the disk was overwritten.
    """
    return [line for line in lines if line not in shown and not (is_former(line) and _any_on(line, shown))]


def is_former(line: str) -> bool:
    """Return whether a line that the guard wrote describes remains of former content."""
    return f": {FORMER}" in line


def _any_on(line: str, shown: Iterable[str]) -> bool:
    node = line.partition(": ")[0]
    return any(name.startswith(node) or node.startswith(name.partition(": ")[0]) for name in shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Content on a device: a filesystem, RAID member, partition table."""

    kind: str
    """libblkid's TYPE or PTTYPE: `ext4`, `LVM2_member`, `gpt`, or `unknown` if the probe failed.

    For remains of former content it begins with `former` and ends with their position.
    """
    label: str | None = None
    """Filesystem label."""
    uuid: str | None = None
    """Filesystem or table UUID."""
    part: str | None = None
    """The partition that contains it; None for the complete device."""
    size_bytes: int | None = None
    """Size of the partition or device that contains it."""

    @property
    def former(self) -> bool:
        """Return whether the beginning is overwritten and only remains are left (backends.topology.leftovers)."""
        return self.kind.startswith(FORMER)
