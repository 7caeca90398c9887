"""What is known to have been written to a device."""

from __future__ import annotations

from backends.values import dataclass
from widgets.plain import units


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a preconditioning wrote to a device."""

    at: float
    """When it ended, seconds since the epoch."""
    device: str
    """Its node then, `/dev/sdb`."""
    size_bytes: int
    """Its size."""
    filled_bytes: int
    """Bytes written in order, from the start, again and again."""
    workload: str = ""
    """The job that followed, in one line; "" if it did not come to that."""
    workload_bytes: int = 0
    """Bytes that it wrote."""
    steady: bool | None = None
    """Whether that became steady; None if it did not come to it."""
    session: str = ""
    """Folder of the session that did it."""

    @property
    def times(self) -> float:
        """How often the device was filled: 2.0 is twice from start to end."""
        return self.filled_bytes / self.size_bytes if self.size_bytes else 0.0


def written_words(written: Written) -> str:
    """`written 2.0x, then 4k random write until steady`: what was done, in a clause."""
    said = f"written {written.times:.1f}x"
    if not written.workload:
        return said
    return f"{said}, then {written.workload}, {'until steady' if written.steady else 'which did not become steady'}"


def written_ago(written: Written, now: float) -> str:
    """`2.0x, steady, 3 h ago`: for a line among a device's facts."""
    steady = {True: ", steady", False: ", not steady", None: ""}[written.steady]
    return f"{written.times:.1f}x{steady}, {units.ago(now - written.at)}"
