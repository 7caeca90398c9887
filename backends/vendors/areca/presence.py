"""Paths of cli64, the cli64 commands that raidbench runs, and the check for complete answers."""

from __future__ import annotations

import re

from backends.protocol import RootReads
from backends.tool_output import CompletenessCheck

PLACES = ("/usr/local/sbin/cli64", "/root/cli64", "/opt/areca/cli64", "cli64", "areca-cli")
"""Paths and names of the program, in the order of the search."""

UNRECORDED = ("vsf", "info")
"""Arguments that list the volume sets.

The command runs only to be recorded, because the format of its output is not known yet.
"""

READS = (("sys", "info"), ("sys", "showcfg"), ("adsys", "info"), ("hw", "info"), ("rsf", "info"), ("disk", "info"))
"""Arguments of the commands about the controller, its sets and its drives."""

DRIVE_READ = ("disk", "info", r"drv=\d{1,3}")
"""Arguments of the command about one drive, as patterns."""

_LAST = re.compile(r"GuiErrMsg<0x[0-9A-Fa-f]{2}>:[^\n]*\s*\Z")


WHOLE = CompletenessCheck(
    tool="cli64",
    mark="`GuiErrMsg<0x00>: Success.` or another code in the last line",
    missing=lambda text: "" if _LAST.search(text) else "the last line is missing",
    statuses=frozenset(),
)
"""Check that the status line is the last one. All recorded outputs end with it, even those of refused commands."""


ROOT_READS: RootReads = {PLACES: (*READS, DRIVE_READ, UNRECORDED)}
"""Commands that the root helper runs for a user. All of them only read."""
