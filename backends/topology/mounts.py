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
    """One mounted filesystem in one mount namespace."""

    devno: str
    """MAJ:MIN of the filesystem; `0:N` if it has no single device (btrfs, overlay)."""
    point: str
    """Mount point with escapes decoded. It is not cleaned, because it is compared with paths."""
    fstype: str
    """`ext4`, `btrfs`, ..."""
    source: str
    """Source of the mount: `/dev/sda1`, a pool, `overlay`."""
    read_only: bool = False
    """Whether the filesystem is mounted read-only."""
    layers: tuple[str, ...] = ()
    """Absolute paths, at mount time, of the layer folders of an overlay; empty for any other filesystem."""
    options: tuple[str, ...] = ()
    """Options of the mount and its filesystem, as the kernel reports them: `noatime`, `sunit=128`."""
    seen_in: str = ""
    """Description of the mount namespace, such as `outside this container`; "" for raidbench's own namespace."""

    def where(self) -> str:
        """Return the mount point for display, with the mount namespace if it is not raidbench's own."""
        point = clean(self.point)
        return f"{point} ({self.seen_in})" if self.seen_in else point


def unique_points(mounts: Iterable[Mount]) -> tuple[Mount, ...]:
    """Return one mount per mount point. Mounts in raidbench's own mount namespace take precedence over others."""
    by_point: dict[str, Mount] = {}
    for mount in mounts:
        if mount.point not in by_point or (by_point[mount.point].seen_in and not mount.seen_in):
            by_point[mount.point] = mount
    return tuple(by_point.values())


def unescape(text: str) -> str:
    r"""Return text with the kernel's octal escapes (`\040`) decoded."""
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)


def parse_mountinfo(text: str, seen_in: str = "") -> tuple[Mount, ...]:
    """Return all mounts of one mountinfo file; malformed lines are skipped.

    Format (Documentation/filesystems/proc.rst, 3.5): `ID PARENT MAJ:MIN ROOT POINT OPTIONS [TAG...] - TYPE SOURCE
    SUPEROPTIONS`.
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
    """Return the absolute paths of the layers in the options of an overlay. Colons separate those in `lowerdir`."""
    pairs = [(key, unescape(path)) for key, _, path in (option.partition("=") for option in options.split(","))]
    below = [folder for key, path in pairs if key.startswith("lowerdir") for folder in _COLON.split(path)]
    return tuple(path for path in (*below, *(path for key, path in pairs if key == "upperdir")) if path[:1] == "/")


def parse_swaps(text: str) -> tuple[str, ...]:
    """Return the paths of the active swap areas. The kernel escapes blanks in them (mm/swapfile.c, swap_show)."""
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
"""Filesystems that several machines may have mounted at the same time. Names are those of the kernel or the driver.

9p and virtiofs are not among them: their tag belongs to one virtual machine.
"""


def file_mount(path: str, mounts: Iterable[Mount]) -> Mount | None:
    """Return the mount in raidbench's own mount namespace that contains the path: the one with the longest mount point.

    If several mounts have this mount point, return the last one, which covers the others.
    """
    best: Mount | None = None
    for mount in mounts:
        prefix = mount.point.rstrip("/") + "/"
        if not mount.seen_in and path.startswith(prefix) and len(mount.point) >= len(best.point if best else ""):
            best = mount
    return best
