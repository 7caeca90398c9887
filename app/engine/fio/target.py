"""What fio is to open, and what people call it."""

from __future__ import annotations

from enum import StrEnum

from backends.errors import InvalidValueError
from backends.text import clean
from backends.values import dataclass

_UNSAFE = "$`;#\\*?[]\"'"


class TargetKind(StrEnum):
    """What kind of thing is measured."""

    FILE = "file"
    BLOCK = "block"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTarget:
    """A laid out scratch file or a raw device, already judged by the guard.

    Raises InvalidValueError for a path that fio's job file syntax would read as something else.
    """

    path: str
    """Absolute path fio opens; for a device held exclusively it is `/proc/<pid>/fd/N`, never a bare sdX."""
    name: str
    """What to show instead: `/dev/sdb`, `/srv/scratch.dat`."""
    kind: TargetKind
    """File or block device."""
    size: int
    """Bytes that may be used."""
    logical_block_size: int = 512
    """Smallest unit of direct I/O, bytes."""

    def __post_init__(self) -> None:
        shown = clean(self.path)
        if not self.path.startswith("/"):
            raise InvalidValueError(f"{shown} is not an absolute path")
        # fio cuts a job file line at ';' and '#', expands '$', and knows no quoting: the rest of the path
        # would name another file. (':' is escaped when the job file is written.)
        found = sorted({char for char in self.path if char in _UNSAFE or not char.isprintable()})
        if found or self.path != self.path.strip():
            marks = " ".join(char if char.isprintable() else repr(char) for char in found) or "a blank at the end"
            raise InvalidValueError(
                f"{shown} cannot be written into a fio job file: it contains {marks}",
                hint="Use a path of letters, digits and . _ - / : + @ only.",
            )
        if self.size <= 0:
            raise InvalidValueError(f"{clean(self.name)} has no size: nothing can be read there")

    @property
    def escaped(self) -> str:
        r"""The path for `filename=`: fio splits it at ':' unless written `\:`."""
        return self.path.replace(":", r"\:")
