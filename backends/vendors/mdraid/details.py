"""What mdadm knows and sysfs lacks: parsers of `--detail --export` and `--examine`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from backends.answers import Whole, line_end
from backends.protocol import DEVICE, RootReads
from backends.subject import misnamed_reason
from backends.text import clean
from backends.values import dataclass

_KEY = re.compile(r"MD_[A-Za-z0-9_-]{1,100}")
_ROLE = re.compile(r"MD_DEVICE_(?:dev_)?([A-Za-z0-9_]{1,64})_ROLE")
_STATE = re.compile(r"^ *Array State : .*\n", re.MULTILINE)
_EXAMINED = re.compile(r"^(/dev/[^\s:]{1,200}):[ \t\r]*$", re.MULTILINE)
"""The line with which `mdadm --examine` begins."""

_UNUSED = re.compile(r"Unused Space : before=([0-9]{1,18}) sectors, after=([0-9]{1,18}) sectors")

WHOLE_EXPORT = Whole(
    tool="mdadm --detail --export",
    mark="every member that the kernel has, and no line is torn",
    missing=line_end,
    statuses=frozenset(),
)
"""Members come last (Detail.c). A build that names none is taken for cut where udev does not know the array either."""

WHOLE_EXAMINE = Whole(
    tool="mdadm --examine",
    mark="a line `Array State` behind what is told of md's own metadata 1.x",
    missing=lambda text: "" if _STATE.search(text) else "`Array State` is missing",
    statuses=frozenset(),
)


def parse_export(text: str) -> Mapping[str, str]:
    """The `MD_...=value` lines of `mdadm --detail --export` or of udev's database; everything else is passed over.

    A key with two values has none.
    """
    found: dict[str, str] = {}
    twice: set[str] = set()
    for line in text.split("\n")[:5000]:
        key, equals, value = line.partition("=")
        if equals and _KEY.fullmatch(key) and found.setdefault(key, clean(value, 256)) != clean(value, 256):
            twice.add(key)
    return {key: value for key, value in found.items() if key not in twice}


def misnamed_examine(text: str, device: str) -> str:
    """Return why what `mdadm --examine` says is not about a device alone, as a clause; "" where it is."""
    return misnamed_reason(device, _EXAMINED.findall(text[:20_000]), required=False)


def unnamed(properties: Mapping[str, str], members: Iterable[str]) -> str | None:
    """The first of an array's members, by kernel names, that `mdadm --detail --export` does not name."""
    named = {found[1] for key in properties if (found := _ROLE.fullmatch(key))}
    return next((member for member in members if re.sub(r"[^A-Za-z0-9]", "_", member) not in named), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unused:
    """Room on a member around its data, which a reshape may move them into."""

    before_bytes: int
    """Between the metadata and the data."""
    after_bytes: int
    """Behind the data."""

    @property
    def most_bytes(self) -> int:
        """The larger."""
        return max(self.before_bytes, self.after_bytes)


def parse_unused(text: str) -> Unused | None:
    """The line `Unused Space : before=1968 sectors, after=0 sectors` of `mdadm --examine`; None if there is none."""
    found = _UNUSED.search(text[:20_000])
    return None if found is None else Unused(before_bytes=int(found[1]) * 512, after_bytes=int(found[2]) * 512)


ROOT_READS: RootReads = {
    ("mdadm",): (("--detail", "--export", DEVICE), ("--examine", DEVICE), ("--detail-platform",)),
}
"""What root starts for a user: it reads, and changes nothing."""
