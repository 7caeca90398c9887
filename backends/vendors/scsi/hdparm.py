"""Parser of hdparm's output about the switches of an ATA drive. No I/O. It never raises an error.

hdparm 9.65 exits with 0 even if the drive lacks a feature, and `SG_IO: bad/missing sense data` may precede valid
output. Therefore the lines are parsed, and the exit status is only a hint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.text import clean
from backends.tool_output import CompletenessCheck, line_end
from backends.values import dataclass

READ = ("-W", "-A", "-B", "-M")
"""Options of hdparm that print write cache, look-ahead, power management and acoustic management.

hdparm reads these values with IDENTIFY DEVICE, which does not wake a sleeping drive.
"""

_LINES = {"write-caching": "-W", "look-ahead": "-A", "APM_level": "-B", "acoustic": "-M"}

_LINE = re.compile(
    r"^ ?(write-caching|look-ahead|APM_level|acoustic)[ \t]{0,12}=[ \t]{0,4}(\S[^\n]{0,80})$", re.MULTILINE
)

_REFUSED = re.compile(
    r"^[^\n]{0,80}?(HDIO_\w+\([^)\n]{0,40}\) failed: [^\n]{1,80}|: (?:Permission|Operation) [^\n]{1,60})$", re.M
)


WHOLE = CompletenessCheck(
    tool="hdparm",
    mark="a newline at the end",
    missing=line_end,
    hides="settings after the last line, which are then not offered",
    statuses=frozenset(),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One on/off feature or level (a switch) of a drive, as printed by hdparm."""

    raw: str
    """Text after the equals sign, `1 (on)`."""

    @property
    def is_supported(self) -> bool:
        """Return whether the drive supports this feature."""
        return self.raw != "not supported"

    @property
    def number(self) -> int | None:
        """Return the number at the start of `raw`: 0 for off, 1 for on, or a level. For power management, off
        is 255.
        """
        word = self.raw.split(" ", 1)[0]
        if word == "off":
            return 255
        return int(word) if word.isascii() and word.isdigit() and len(word) < 4 else None


def parse_hdparm(text: str) -> Mapping[str, Flag]:
    """Return the features by hdparm's option, such as `-W`.

    If hdparm prints two lines for a feature, the last counts, because it has the value after a change.
    """
    return {_LINES[name]: Flag(raw=clean(raw)) for name, raw in _LINE.findall(text)}


def refusal(text: str) -> str | None:
    """Return hdparm's message about a command that the kernel or the drive refused, or None."""
    match = _REFUSED.search(text)
    return clean(match[1].removeprefix(": ")) if match else None
