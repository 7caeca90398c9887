"""Parsers for the output of mdadm: `--detail --export`, `--examine` and, for Intel's firmware, `--detail-platform`.

No I/O. Platform format: super-intel.c of mdadm, print_imsm_capability. The listed levels depend on the licence key.
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
"""First line of the output of `mdadm --examine`."""

_UNUSED = re.compile(r"Unused Space : before=([0-9]{1,18}) sectors, after=([0-9]{1,18}) sectors")

WHOLE_EXPORT = CompletenessCheck(
    tool="mdadm --detail --export",
    mark="every member that the kernel has, and no truncated line",
    missing=line_end,
    statuses=frozenset(),
)
"""Completeness of the output: the members come last (Detail.c).
Output without members counts as truncated unless udev has a record of the array.
"""

WHOLE_EXAMINE = CompletenessCheck(
    tool="mdadm --examine",
    mark="the line `Array State`, for native metadata 1.x",
    missing=lambda text: "" if _STATE.search(text) else "`Array State` is missing",
    statuses=frozenset(),
)


def parse_export(text: str) -> Mapping[str, str]:
    """Return the `MD_...=value` lines of `mdadm --detail --export` or udev, without keys with two values."""
    properties: dict[str, str] = {}
    twice: set[str] = set()
    for line in text.split("\n")[:5000]:
        key, equals, value = line.partition("=")
        if equals and _KEY.fullmatch(key) and properties.setdefault(key, clean(value, 256)) != clean(value, 256):
            twice.add(key)
    return {key: value for key, value in properties.items() if key not in twice}


def misnamed_examine(text: str, device: str) -> str:
    """Return a clause about the other devices that an output of `mdadm --examine` is about; "" if it is about `device`
    only.
    """
    return misnamed_reason(device, _EXAMINED.findall(text[:20_000]), required=False)


def unlisted_member(properties: Mapping[str, str], members: Iterable[str]) -> str | None:
    """Return the first member, by kernel name, that `mdadm --detail --export` does not list; None if all are listed."""
    named = {match[1] for key in properties if (match := _ROLE.fullmatch(key))}
    return next((member for member in members if re.sub(r"[^A-Za-z0-9]", "_", member) not in named), None)


def parse_unused(text: str) -> int | None:
    """Return the larger size in bytes in the line `Unused Space : before=1968 sectors, after=0 sectors`, or None."""
    match = _UNUSED.search(text[:20_000])
    return None if match is None else max(int(match[1]), int(match[2])) * 512


ASK_PLATFORM = ("--detail-platform",)
"""Arguments of mdadm that query the RAID platforms."""

WHOLE_PLATFORM = CompletenessCheck(
    tool="mdadm --detail-platform",
    mark="a disk of the container, which follows the facts of the platform, and no truncated line",
    missing=line_end,
    statuses=frozenset(),
)
"""Completeness of the output. The platform of a container is unknown if none of the container's disks is listed."""

NO_PLATFORM = re.compile(r"imsm capabilities not found|no active Intel\(R\) RAID", re.IGNORECASE)
"""Pattern of mdadm's message on a host without Intel's RAID firmware."""
_LINE = re.compile(r" {0,12}([A-Za-z0-9/][A-Za-z0-9/ ]{0,24}?) : (.{1,300})")
_DISK = re.compile(r"(/dev/\S{1,64}) \(")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImsmPlatform:
    """One Intel RAID platform of a host. The SATA controllers and the VMD domains of a host are different platforms."""

    name: str
    """Name of the platform: `Intel(R) Virtual RAID on CPU`."""
    version: str = ""
    """Firmware version; "" if it is not reported."""
    levels: tuple[str, ...] = ()
    """Levels allowed by firmware and licence key: `raid0`, ..."""
    chunks: tuple[str, ...] = ()
    """Chunk sizes: `4k`, `64k`."""
    max_disks: int | None = None
    """Maximum number of disks in one container."""
    max_volumes: str = ""
    """Maximum numbers of volumes as mdadm prints them: `2 per array, 24 per controller`."""
    other_makers: str = ""
    """Support of NVMe drives of other manufacturers, as mdadm prints it; "" if it is not reported."""
    disks: tuple[str, ...] = ()
    """Nodes of the attached disks."""

    def facts(self) -> Iterable[Fact]:
        """Return the facts for display."""
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
    """Return all platforms in mdadm's order. Lines in another format are ignored."""
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
    fields = dict(reversed(lines))  # the first value of a key counts
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
    """Return the platform to which any of the disks (nodes) is attached, or None."""
    return next((platform for platform in platforms if not set(disks).isdisjoint(platform.disks)), None)


ROOT_READS: RootReads = {
    ("mdadm",): (("--detail", "--export", DEVICE), ("--examine", DEVICE), ("--detail-platform",)),
}
"""Commands that the root helper runs for a user. All of them only read."""
