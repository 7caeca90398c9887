"""Record of a run on many hosts: a folder in the session's folder `runs`.

`joint.json` is the record. `hN.jsonl` has the intervals of the Nth host, one per line. Their times are by the clock of
the controlling host.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import field
from pathlib import Path
from typing import TextIO

from app.core.session.json_codec import structure, unstructure
from app.core.session.multihost_names import NAMES, joint_folders
from app.core.session.results import SIDES
from app.features.fleet.multihost.common_interval import CommonInterval, Span
from app.features.fleet.multihost.figures import IntervalSum, IoCounts, MultiHostTotals
from app.features.fleet.multihost.messages import IntervalMessage, parse_counts
from backends.errors import UnreleasedError, storage_errors
from backends.formats import FORMATS, FileFormat, require_known
from backends.input_file import read_input
from backends.text import clean
from backends.values import dataclass
from backends.version import program_version

DOCUMENT = "joint.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRecord:
    """One host of a run on many hosts."""

    host: str
    """Name that the user gave."""
    called: str = ""
    """The host's own name for itself; "" if it never sent a message."""
    state: str
    """State of the host: `in the window`, `outside`, `lost`, `failed` or `never measured`."""
    reason: str = ""
    """Why the host is not in the window (the common interval); "" if it is."""
    late_s: float | None = None
    """Seconds by which the host's start was later than the first host's, both relative to plan; None if not late."""
    clock_error_s: float | None = None
    """Uncertainty of the host's clock offset in seconds; None if it answered no ping."""
    run: str = ""
    """Id of the run on the host."""
    session: str = ""
    """Session folder on the host."""

    @property
    def counts(self) -> bool:
        """Return whether the combined results include this host."""
        return self.state == IN_WINDOW


IN_WINDOW, OUTSIDE, LOST, FAILED, NEVER = "in the window", "outside", "lost", "failed", "never measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class JointRecord:
    """A run on many hosts."""

    id: str
    """Id of the run, such as `j1`."""
    at: float
    """Start time in seconds since 1970."""
    target: str
    """Targets that the user gave."""
    job: Mapping[str, str] = field(default_factory=dict)
    """Parameters of the job of the first host."""
    hosts: tuple[HostRecord, ...]
    """All requested hosts, in order."""
    begin: float | None = None
    """Seconds from the planned start to the common interval; None if there is no common interval."""
    seconds: float = 0.0
    """Length of the common interval in seconds."""
    stagger_s: float = 0.0
    """Planned seconds between the starts of two hosts."""
    figures: MultiHostTotals
    """Results of the common interval."""
    notes: tuple[str, ...] = ()
    """Reasons to doubt the results, as sentences."""
    stopped: bool = False
    """Whether the user ended the run early."""
    simulated: bool = False
    """Whether the hosts were simulated."""

    @property
    def is_complete(self) -> bool:
        """Return whether the combined results include every host."""
        return all(host.counts for host in self.hosts)


class JointFolder:
    """Folder of a run on many hosts, open for writing."""

    def __init__(self, session: Path, hosts: tuple[str, ...]) -> None:
        """Create the folder with a file per host. Raises StorageError."""
        existing = joint_folders(session)
        self.id = f"j{int(existing[-1].name[1:]) + 1 if existing else 1}"
        """Id of the run."""
        self.path = session / "runs" / self.id
        """Path of the folder."""
        self._files: dict[str, TextIO] = {}
        with _writing(self.path):
            self.path.mkdir(mode=0o700, parents=True)
            for number, host in enumerate(hosts, 1):
                self._files[host] = open(self.path / f"h{number}.jsonl", "w", encoding="utf-8")  # noqa: SIM115
            self._names = open(self.path / NAMES, "w", encoding="utf-8")  # noqa: SIM115
            self._names.write("".join(f"{host}\n" for host in hosts))
            self._names.flush()

    def add_name(self, name: str) -> None:
        """Record an additional name of a host. Raises StorageError."""
        with _writing(self.path):
            self._names.write(f"{name}\n")
            self._names.flush()

    def add(self, host: str, span: Span, tick: IntervalMessage) -> None:
        """Write an interval of a host. `span`: its begin and end by this machine's clock. Raises StorageError."""
        sides = {
            name: {"ios": side.ios, "bytes": side.bytes, "bins": [list(row) for row in side.histogram.bins]}
            for name, side in tick.sides.items()
        }
        line = {"begin": round(span[0], 6), "end": round(span[1], 6), "seconds": tick.seconds, **sides}
        with _writing(self.path):
            self._files[host].write(json.dumps(line, separators=(",", ":")) + "\n")

    def sum_within(self, host: str, window: CommonInterval) -> IntervalSum:
        """Return the sum of a host's intervals that lie within the common interval. Raises StorageError."""
        pool = IntervalSum()
        for span, seconds, sides in self.ticks(host):
            if window.holds(span):
                pool.add(seconds, sides)
        return pool

    def ticks(self, host: str) -> Iterator[tuple[Span, float, dict[str, IoCounts]]]:
        """Yield the intervals of a host in the order in which they were added. Raises StorageError.

        Each consists of its `Span`, its length in seconds as reported by the host, and its I/O counts by direction.
        """
        file = self._files[host]
        with _writing(self.path):
            file.flush()
            with open(file.name, encoding="utf-8") as lines:
                for line in lines:
                    body = json.loads(line)
                    sides = {name: parse_counts(body[name]) for name in SIDES if name in body}
                    yield (body["begin"], body["end"]), body["seconds"], sides

    def keep(self, record: JointRecord) -> None:
        """Write the record. Raises StorageError."""
        body = {"format": FORMATS[FileFormat.JOINT], "program": program_version(), **unstructure(record)}
        with _writing(self.path):
            (self.path / DOCUMENT).write_text(json.dumps(body, indent=1, allow_nan=False) + "\n", encoding="utf-8")

    def close(self) -> None:
        """Close the files."""
        for file in (*self._files.values(), self._names):
            file.close()


def _writing(path: Path) -> AbstractContextManager[None]:
    return storage_errors(f"{clean(str(path), 300)} cannot be written", hint="It contains the results up to now.")


_LARGEST = 64 << 20
"""Maximum bytes of a record."""


def joint_records(session: Path) -> tuple[tuple[JointRecord, ...], tuple[str, ...]]:
    """Return the runs on many hosts in a session's folder, and a sentence for each run that cannot be read.

    Raises NewerError if a newer version of raidbench wrote one of them.
    """
    records: list[JointRecord] = []
    problems: list[str] = []
    for folder in joint_folders(session):
        try:
            body = json.loads(read_input(folder / DOCUMENT, _LARGEST))
            require_known(FileFormat.JOINT, body["format"], body.get("program"), f"The multi-host run {folder.name}")
            records.append(structure(body, JointRecord))
        except UnreleasedError as error:
            problems.append(error.message)
        except FileNotFoundError:
            problems.append(
                f"The multi-host run {folder.name} was interrupted. The results of each host are in {folder}."
            )
        except (OSError, ValueError, TypeError, KeyError, AttributeError, ExceptionGroup):
            problems.append(f"Cannot read the multi-host run {folder.name}.")
    return tuple(records), tuple(problems)
