"""What a MegaRAID controller is set to and raidbench never sets, with the reason. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from backends.model import Fact

PERSONALITY, JBOD, IMPORT, PRESERVED_BOOT, SSD_CACHE = (
    "Personality",
    "JBOD mode",
    "Foreign import (factory default)",
    "Boot with preserved cache",
    "CacheCade size",
)
"""Labels of the facts."""

WHY_NOT: Mapping[str, str] = {
    PERSONALITY: "another one takes a reboot, and arrays may not survive it",
    JBOD: "it decides which drives the system sees, and may take them out of its sight",
    IMPORT: "an imported configuration may replace arrays that are here",
    PRESERVED_BOOT: "it decides about unwritten data of arrays that are missing",
    SSD_CACHE: "the SSDs would be deleted and made again",
}
"""Why raidbench does not set it, as a clause, by label."""


def facts(shown: Mapping[str, str]) -> Iterable[Fact]:
    """Yield a fact for each value that the tool reports, by label."""
    for label, why in WHY_NOT.items():
        if label in shown:
            yield Fact(label=label, value=f"{shown[label]} (raidbench does not set it: {why})")
