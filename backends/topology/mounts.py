"""Mounts and swap areas: parsers of /proc/PID/mountinfo and /proc/swaps."""

from __future__ import annotations

import re
from collections.abc import Iterable

from backends.text import clean
from backends.values import dataclass

_OCTAL = re.compile(r"\\([0-7]{3})")
_COLON = re.compile(r"(?<!\\):")
_DEVNO = re.compile(r"\d+:\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One mounted filesystem as one mount namespace sees it."""

    devno: str
    """MAJ:MIN of the filesystem; `0:N` when it has no single device (btrfs, overlay)."""
    point: str
    """Mount point, escapes undone, not cleaned: for comparing."""
    fstype: str
    """`ext4`, `btrfs`, ..."""
    source: str
    """What was mounted: `/dev/sda1`, a pool, `overlay`."""
    read_only: bool = False
    """Mounted read-only."""
    layers: tuple[str, ...] = ()
    """Folders elsewhere whose files it shows as its own, by the names that they had when it was mounted (overlay)."""
    options: tuple[str, ...] = ()
    """Options of the mount and of its filesystem, as the kernel tells them: `noatime`, `sunit=128`."""
    seen_in: str = ""
    """Where it is mounted, when that is not in our own mount namespace: `outside this container`."""

    def where(self) -> str:
        """The mount point as text for people."""
        point = clean(self.point)
        return f"{point} ({self.seen_in})" if self.seen_in else point


def unique_points(mounts: Iterable[Mount]) -> tuple[Mount, ...]:
    """One mount of each mount point, ours where it is ours: what other mount namespaces see there, too, is no news."""
    matches: dict[str, Mount] = {}
    for mount in mounts:
        if mount.point not in matches or (matches[mount.point].seen_in and not mount.seen_in):
            matches[mount.point] = mount
    return tuple(matches.values())


def unescape(text: str) -> str:
    r"""The kernel's octal escapes (`\040`) undone."""
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)


def parse_mountinfo(text: str, seen_in: str = "") -> tuple[Mount, ...]:
    """Every mount of one mountinfo file; lines that are no mount lines are passed over.

    Format (Documentation/filesystems/proc.rst, 3.5):
    `ID PARENT MAJ:MIN ROOT POINT OPTIONS [TAG...] - TYPE SOURCE SUPEROPTIONS`.
    """
    mounts: list[Mount] = []
    for line in text.split("\n"):
        front, dash, back = line.partition(" - ")
        fields, rest = front.split(" "), back.split(" ")
        if not dash or len(fields) < 6 or len(rest) < 2 or not _DEVNO.fullmatch(fields[2]):
            continue
        options = fields[5].split(",")
        mounts.append(
            Mount(
                devno=fields[2],
                point=unescape(fields[4]),
                fstype=clean(unescape(rest[0])),
                source=unescape(rest[1]),
                read_only="ro" in options,
                layers=_layers(rest[2]) if rest[0] == "overlay" and len(rest) > 2 else (),
                options=(*options, *(clean(unescape(name)) for name in (rest[2].split(",") if len(rest) > 2 else ()))),
                seen_in=seen_in,
            )
        )
    return tuple(mounts)


def _layers(options: str) -> tuple[str, ...]:
    """The folders among an overlay's options, those below it several with colons between them."""
    pairs = [(key, unescape(path)) for key, _, path in (option.partition("=") for option in options.split(","))]
    below = [folder for key, path in pairs if key.startswith("lowerdir") for folder in _COLON.split(path)]
    return tuple(path for path in (*below, *(path for key, path in pairs if key == "upperdir")) if path[:1] == "/")


def parse_swaps(text: str) -> tuple[str, ...]:
    """Paths of the active swap areas, files and devices, escapes undone.

    The kernel writes a header and one line an area, escaping blanks in the name (mm/swapfile.c, swap_show).
    """
    areas: list[str] = []
    for line in text.split("\n")[1:]:
        fields = line.split()
        if len(fields) >= 3 and fields[0].startswith("/"):
            path = unescape(fields[0])
            areas.append(path.removesuffix(" (deleted)"))
    return tuple(areas)


SHARED = frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "afs", "orangefs", "pvfs2", "gpfs", "beegfs", "fhgfs"),
        *("fuse.glusterfs", "fuse.ceph", "fuse.sshfs", "fuse.beegfs", "gfs2", "ocfs2"),
    )
)
"""Filesystems that several machines have at the same time, by the names that the kernel (Documentation/filesystems) and
those that are built apart from it give them. 9p and virtiofs, named by a tag of one virtual machine, are none."""


def file_mount(path: str, mounts: Iterable[Mount]) -> Mount | None:
    """The mount a file lies on, by its path: the longest mount point that is a parent, the last mounted of it."""
    best: Mount | None = None
    for mount in mounts:
        prefix = mount.point.rstrip("/") + "/"
        if not mount.seen_in and path.startswith(prefix) and len(mount.point) >= len(best.point if best else ""):
            best = mount
    return best
