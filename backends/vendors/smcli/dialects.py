"""The three dialects of SMcli: terms for disk systems and volumes, and the standard lines of its output. No I/O."""

from __future__ import annotations

from backends.protocol import RootReads
from backends.text import clean
from backends.values import dataclass
from backends.vendors.smcli import PLACES


@dataclass(frozen=True, slots=True, kw_only=True)
class DialectTerms:
    """Terms of a dialect in its statements."""

    system: str
    """Term for the disk system."""
    volume: str
    """Term for a volume that hosts use as a disk."""
    fractions: bool = True
    """Whether a fraction of a second is written as `.25`. IBM's dialect uses milliseconds instead."""


IBM = DialectTerms(system="storageSubsystem", volume="logicalDrive", fractions=False)
NETAPP = DialectTerms(system="storageArray", volume="volume")
DELL = DialectTerms(system="storageArray", volume="virtualDisk")

DIALECTS = (IBM, NETAPP)
"""Dialects in which a profile is requested, in order. Dell's request is the same as NetApp's."""

_FRAME = (
    "Performing syntax check...",
    "Syntax check complete.",
    "Executing script...",
    "Script execution complete.",
    "SMcli completed successfully.",
    "SMcli failed.",
)


def is_carried_out(text: str) -> bool:
    """Return whether the output reports that the statement completed successfully."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return bool(lines) and lines[-1] == "SMcli completed successfully." and "Script execution complete." in lines


def refusal(text: str) -> str:
    """Return SMcli's message about a failed statement, without the standard lines."""
    sentence = " ".join(line for row in text.splitlines() if (line := row.strip()) and line not in _FRAME)
    return clean(sentence, 300) or "SMcli did not confirm that the statement succeeded"


def names_in(text: str) -> tuple[str, ...]:
    """Return the disk systems in the first column of `SMcli -d`.

    Lines without columns are skipped: they are sentences.
    """
    names: dict[str, None] = {}
    for line in text.splitlines()[:2000]:
        name, _, other_columns = line.strip().replace("  ", "\t").partition("\t")
        if other_columns.strip() and is_valid_name(name := name.strip()):
            names[name] = None
    return tuple(names)


def is_valid_name(name: str) -> bool:
    """Return whether a name may be used in a statement and as an argument: letters, digits, `_`, `-` and `#`."""
    return (
        0 < len(name) <= 64
        and name[0] != "-"
        and all(char.isascii() and (char.isalnum() or char in "_-#") for char in name)
    )


ROOT_READS: RootReads = {
    PLACES: (
        ("-d",),
        *(("-n", r"[A-Za-z0-9_#][A-Za-z0-9_#-]{0,63}", "-c", f"show {nouns.system} profile;") for nouns in DIALECTS),
    )
}
"""Commands that the root helper runs for a user. All of them only read."""
