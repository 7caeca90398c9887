"""Paths of cli64, the commands it runs, and the check for complete answers."""

from __future__ import annotations

import re

from backends.protocol import RootReads
from backends.tool_output import CompletenessCheck

PLACES = ("/usr/local/sbin/cli64", "/root/cli64", "/opt/areca/cli64", "cli64", "areca-cli")
"""Paths and names of the program, in the order of the search."""

UNRECORDED = ("vsf", "info")
"""Words for the volume sets. No recorded answer shows their format, so only recordings read them."""

READS = (("sys", "info"), ("sys", "showcfg"), ("adsys", "info"), ("hw", "info"), ("rsf", "info"), ("disk", "info"))
"""Commands for the controller, its sets and drives."""

DRIVE_READ = ("disk", "info", r"drv=\d{1,3}")
"""Command for one drive, as patterns."""

_LAST = re.compile(r"GuiErrMsg<0x[0-9A-Fa-f]{2}>:[^\n]*\s*\Z")


WHOLE = CompletenessCheck(
    tool="cli64",
    mark="`GuiErrMsg<0x00>: Success.` or another code in the last line",
    missing=lambda text: "" if _LAST.search(text) else "the last line is missing",
    statuses=frozenset(),
)
"""All recorded answers end like this, also refusals."""


ROOT_READS: RootReads = {PLACES: (*READS, DRIVE_READ, UNRECORDED)}
"""Commands that root runs for a user: all of them only read."""
