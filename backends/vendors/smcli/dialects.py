"""The three dialects of SMcli: what each calls the disk system and its volumes, and what frames its answers. Pure."""

from __future__ import annotations

from backends.protocol import RootReads
from backends.text import clean
from backends.values import dataclass
from backends.vendors.smcli import PLACES


@dataclass(frozen=True, slots=True, kw_only=True)
class DialectTerms:
    """The words of a dialect in its statements."""

    system: str
    """The disk system."""
    volume: str
    """What hosts see as a disk."""
    fractions: bool = True
    """Whether a part of a second is `.25`; IBM's command line takes milliseconds there."""


IBM = DialectTerms(system="storageSubsystem", volume="logicalDrive", fractions=False)
NETAPP = DialectTerms(system="storageArray", volume="volume")
DELL = DialectTerms(system="storageArray", volume="virtualDisk")

DIALECTS = (IBM, NETAPP)
"""Those in which a profile is asked for, one after the other; Dell's asks in the same words as NetApp's."""

_FRAME = (
    "Performing syntax check...",
    "Syntax check complete.",
    "Executing script...",
    "Script execution complete.",
    "SMcli completed successfully.",
    "SMcli failed.",
)


def is_carried_out(text: str) -> bool:
    """Whether the answer is that of a statement which was carried out to its end."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return bool(lines) and lines[-1] == "SMcli completed successfully." and "Script execution complete." in lines


def refusal(text: str) -> str:
    """What it says beside its frame, where it did not carry it out."""
    sentence = " ".join(line for row in text.splitlines() if (line := row.strip()) and line not in _FRAME)
    return clean(sentence, 300) or "SMcli did not say that it was carried out"


def names_in(text: str) -> tuple[str, ...]:
    """Names of the disk systems in an answer to `SMcli -d`: the first column; sentences have no columns."""
    names: dict[str, None] = {}
    for line in text.splitlines()[:2000]:
        name, _, other_columns = line.strip().replace("  ", "\t").partition("\t")
        if other_columns.strip() and is_valid_name(name := name.strip()):
            names[name] = None
    return tuple(names)


def is_valid_name(name: str) -> bool:
    """Whether a name can stand in a statement and as a word: letters, digits, `_`, `-` and `#` is what there may be."""
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
"""What root starts for a user: it reads, and changes nothing."""
