"""Parsers of mdadm: `--detail --export`, `--examine` and, for Intel's firmware, `--detail-platform`. No I/O.

Format of the platform: super-intel.c of mdadm, print_imsm_capability; a licence key shows by the levels that are there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from backends.model import Fact
from backends.protocol import DEVICE, RootReads
from backends.subject import misnamed_reason
from backends.text import clean
from backends.tool_output import CompletenessCheck, line_end
from backends.topology.tree import number
from backends.values import dataclass

_KEY = re.compile(r"MD_[A-Za-z0-9_-]{1,100}")
_ROLE = re.compile(r"MD_DEVICE_(?:dev_)?([A-Za-z0-9_]{1,64})_ROLE")
_STATE = re.compile(r"^ *Array State : .*\n", re.MULTILINE)
_EXAMINED = re.compile(r"^(/dev/[^\s:]{1,200}):[ \t\r]*$", re.MULTILINE)
"""The line with which `mdadm --examine` begins."""

_UNUSED = re.compile(r"Unused Space : before=([0-9]{1,18}) sectors, after=([0-9]{1,18}) sectors")

WHOLE_EXPORT = CompletenessCheck(
    tool="mdadm --detail --export",
    mark="every member that the kernel has, and no line is torn",
    missing=line_end,
    statuses=frozenset(),
)
"""Members come last (Detail.c). A build that names none is taken for cut where udev does not know the array either."""

WHOLE_EXAMINE = CompletenessCheck(
    tool="mdadm --examine",
    mark="a line `Array State` behind what is told of md's own metadata 1.x",
    missing=lambda text: "" if _STATE.search(text) else "`Array State` is missing",
    statuses=frozenset(),
)


def parse_export(text: str) -> Mapping[str, str]:
    """The `MD_...=value` lines of `mdadm --detail --export` or of udev's database; everything else is passed over.

    A key with two values has none.
    """
    properties: dict[str, str] = {}
    twice: set[str] = set()
    for line in text.split("\n")[:5000]:
        key, equals, value = line.partition("=")
        if equals and _KEY.fullmatch(key) and properties.setdefault(key, clean(value, 256)) != clean(value, 256):
            twice.add(key)
    return {key: value for key, value in properties.items() if key not in twice}


def misnamed_examine(text: str, device: str) -> str:
    """Return why what `mdadm --examine` says is not about a device alone, as a clause; "" where it is."""
    return misnamed_reason(device, _EXAMINED.findall(text[:20_000]), required=False)


def unnamed(properties: Mapping[str, str], members: Iterable[str]) -> str | None:
    """The first of an array's members, by kernel names, that `mdadm --detail --export` does not name."""
    named = {match[1] for key in properties if (match := _ROLE.fullmatch(key))}
    return next((member for member in members if re.sub(r"[^A-Za-z0-9]", "_", member) not in named), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedSpace:
    """Room on a member around its data, which a reshape may move them into."""

    before_bytes: int
    """Between the metadata and the data."""
    after_bytes: int
    """Behind the data."""

    @property
    def most_bytes(self) -> int:
        """The larger."""
        return max(self.before_bytes, self.after_bytes)


def parse_unused(text: str) -> UnusedSpace | None:
    """The line `Unused Space : before=1968 sectors, after=0 sectors` of `mdadm --examine`; None if there is none."""
    match = _UNUSED.search(text[:20_000])
    return None if match is None else UnusedSpace(before_bytes=int(match[1]) * 512, after_bytes=int(match[2]) * 512)


ASK_PLATFORM = ("--detail-platform",)
"""What mdadm is asked."""

WHOLE_PLATFORM = CompletenessCheck(
    tool="mdadm --detail-platform",
    mark="a disk of the container, which stands behind all that is told of its platform, and no line is torn",
    missing=line_end,
    statuses=frozenset(),
)
"""Of a container none of whose disks is named nothing is said of its platform."""

_NONE = re.compile(r"imsm capabilities not found|no active Intel\(R\) RAID", re.IGNORECASE)
_LINE = re.compile(r" {0,12}([A-Za-z0-9/][A-Za-z0-9/ ]{0,24}?) : (.{1,300})")
_DISK = re.compile(r"(/dev/\S{1,64}) \(")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImsmPlatform:
    """One of a machine's platforms: its SATA controllers are another one than its VMD domains."""

    name: str
    """`Intel(R) Virtual RAID on CPU`."""
    version: str = ""
    """The firmware's; "" where it does not tell one."""
    levels: tuple[str, ...] = ()
    """`raid0`, ...: those that firmware and licence key allow."""
    chunks: tuple[str, ...] = ()
    """`4k`, `64k`."""
    max_disks: int | None = None
    """In one container."""
    max_volumes: str = ""
    """`2 per array, 24 per controller`."""
    other_makers: str = ""
    """Whether NVMe drives of other makers are supported, in mdadm's word; "" where it does not say."""
    disks: tuple[str, ...] = ()
    """Nodes of what is attached."""

    def facts(self) -> Iterable[Fact]:
        """What is shown of it."""
        lines = (
            ("Platform", f"{self.name} {self.version}".rstrip()),
            ("Platform: levels", ", ".join(self.levels)),
            ("Platform: chunks", ", ".join(self.chunks)),
            ("Platform: most disks", "" if self.max_disks is None else str(self.max_disks)),
            ("Platform: most volumes", self.max_volumes),
            ("Platform: NVMe of other makers", self.other_makers),
        )
        return Fact.from_rows(lines)


def parse_platforms(text: str) -> tuple[ImsmPlatform, ...]:
    """Every platform, in mdadm's order; nothing where there is none. Lines of other shapes are passed over."""
    blocks: list[list[tuple[str, str]]] = []
    for line in text.split("\n")[:2000]:
        if (match := _LINE.fullmatch(line.rstrip()[:400])) is None:
            continue
        if match[1] == "Platform":
            blocks.append([])
        if blocks:
            blocks[-1].append((match[1], match[2]))
    return tuple(_platform(lines) for lines in blocks)


def _platform(lines: list[tuple[str, str]]) -> ImsmPlatform:
    fields = dict(reversed(lines))  # the first of each counts
    disks = (match[1] for _, value in lines if (match := _DISK.match(value)) is not None)
    return ImsmPlatform(
        name=clean(fields["Platform"], 80),
        version=clean(fields.get("Version", ""), 40),
        levels=_cleaned_tokens(fields.get("RAID Levels", "")),
        chunks=_cleaned_tokens(fields.get("Chunk Sizes", "")),
        max_disks=number(fields.get("Max Disks")),
        max_volumes=clean(fields.get("Max Volumes", ""), 80),
        other_makers=clean(fields.get("3rd party NVMe", ""), 40),
        disks=tuple(clean(disk, 64) for disk in disks),
    )


def _cleaned_tokens(text: str) -> tuple[str, ...]:
    return tuple(clean(word, 16) for word in text.split()[:32])


def platform_of(platforms: Collection[ImsmPlatform], disks: Collection[str]) -> ImsmPlatform | None:
    """That to which disks, by their nodes, are attached; None where they are named nowhere."""
    return next((platform for platform in platforms if not set(disks).isdisjoint(platform.disks)), None)


def has_none(returncode: int, text: str) -> bool:
    """Whether mdadm says, by its status and on standard error, that the machine has no such firmware."""
    return returncode in (1, 2) and _NONE.search(text) is not None


ROOT_READS: RootReads = {
    ("mdadm",): (("--detail", "--export", DEVICE), ("--examine", DEVICE), ("--detail-platform",)),
}
"""What root starts for a user: it reads, and changes nothing."""
