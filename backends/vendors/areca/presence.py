"""Where cli64 may be, what it is asked, and how its whole answers are known."""

from __future__ import annotations

import re

from backends.protocol import RootReads
from backends.tool_output import CompletenessCheck

PLACES = ("/usr/local/sbin/cli64", "/root/cli64", "/opt/areca/cli64", "cli64", "areca-cli")
"""Where the program is looked for."""

UNRECORDED = ("vsf", "info")
"""Volume sets, of which no recorded answer tells how they look: asked for a recording alone."""

READS = (("sys", "info"), ("sys", "showcfg"), ("adsys", "info"), ("hw", "info"), ("rsf", "info"), ("disk", "info"))
"""What it is asked."""

DRIVE_READ = ("disk", "info", r"drv=\d{1,3}")
"""What it is asked about one drive, as patterns."""

_LAST = re.compile(r"GuiErrMsg<0x[0-9A-Fa-f]{2}>:[^\n]*\s*\Z")


WHOLE = CompletenessCheck(
    tool="cli64",
    mark="`GuiErrMsg<0x00>: Success.` in the last line, or another number",
    missing=lambda text: "" if _LAST.search(text) else "its last line is missing",
    statuses=frozenset(),
)
"""All recorded answers end so, refusals too."""


ROOT_READS: RootReads = {PLACES: (*READS, DRIVE_READ, UNRECORDED)}
"""What root starts for a user: it reads, and changes nothing."""
