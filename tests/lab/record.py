"""What a run came to, test by test: written as it goes, so that one that ends early loses nothing and can go on."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.lab.machine.missing import LabError
from tests.lab.results import Row

FILE = "record"
"""In a guest's folder: a line of JSON for every test that has ended, and one for those that there are."""

OUTCOMES = "outcomes.jsonl"
"""In a guest's folder: its failures, as `.ci/run` reads them."""

EARLIER, TREE = "earlier", "tree"
"""In the folder of a run: what an earlier one proved, and what it was tried on."""

SOURCES = ("app", "backends", "widgets", "tests/lab")


@dataclass
class Record:
    """Of one guest, or of all of a run."""

    tests: dict[str, None] = field(default_factory=dict)
    """Those that there are, `tests/lab/test_md.py::test_chunk`."""
    ended: dict[str, bool] = field(default_factory=dict)
    """Those that have ended, and whether nothing of it failed."""
    rows: dict[str, list[Row]] = field(default_factory=dict)
    """What each of them proved."""

    @property
    def all_rows(self) -> list[Row]:
        """Of all tests."""
        return [row for found in self.rows.values() for row in found]

    @property
    def whole(self) -> set[str]:
        """Files of which every test ended well."""
        return {_file(test) for test in self.tests} - {_file(test) for test in self.tests if not self.ended.get(test)}

    def add(self, other: Record) -> None:
        """What another guest, or an earlier run, came to."""
        self.tests |= other.tests
        self.ended |= other.ended
        self.rows |= other.rows

    def only(self, files: Iterable[str]) -> Record:
        """The same of some files."""
        kept = set(files)
        return Record(
            {test: None for test in self.tests if _file(test) in kept},
            {test: ok for test, ok in self.ended.items() if _file(test) in kept},
            {test: rows for test, rows in self.rows.items() if _file(test) in kept},
        )

    def not_reached(self, files: Sequence[str]) -> list[str]:
        """A line for each of these files of which not all tests have ended."""
        there, ended = Counter(map(_file, self.tests)), Counter(map(_file, self.ended))
        lines = []
        for file in files:
            if not there[file]:
                lines.append(file)
            elif ended[file] < there[file]:
                lines.append(f"{file}: {there[file] - ended[file]} of {there[file]} tests")
        return lines

    def lines(self) -> str:
        """As it is written."""
        ended = (_ended(test, ok, self.rows.get(test, ())) for test, ok in self.ended.items())
        return "".join((_there(self.tests), *ended))


def _file(test: str) -> str:
    return test.partition("::")[0]


def _there(tests: Iterable[str]) -> str:
    return json.dumps({"tests": list(tests)}) + "\n"


def _ended(test: str, ok: bool, rows: Iterable[Row]) -> str:
    return json.dumps({"ended": test, "ok": ok, "rows": [asdict(row) for row in rows]}) + "\n"


class Writer:
    """Writes what the tests of one guest come to."""

    def __init__(self, folder: Path) -> None:
        """`folder`: where the host sees it."""
        self._path = folder / FILE
        self._failed: set[str] = set()
        self._written = 0

    def there(self, tests: Iterable[str]) -> None:
        """Which tests there are."""
        self._add(_there(tests))

    def report(self, test: str, when: str, *, failed: bool, rows: Sequence[Row]) -> None:
        """A part of a test is over, `setup`, `call` or `teardown`; `rows`: all that were proved by now."""
        if failed:
            self._failed.add(test)
        if when == "teardown":
            self._add(_ended(test, test not in self._failed, rows[self._written :]))
            self._written = len(rows)

    def _add(self, line: str) -> None:
        with open(self._path, "a") as file:
            file.write(line)


def read(path: Path) -> Record:
    """What was written; a line that was cut off by the end of a guest counts for nothing."""
    found = Record()
    try:
        lines = path.read_text(errors="replace").split("\n")
    except FileNotFoundError:
        return found
    for line in lines:
        try:
            told: dict[str, Any] = json.loads(line)
        except ValueError:
            continue
        found.tests |= dict.fromkeys(told.get("tests", ()))
        if "ended" in told:
            rows = [Row(section=row["section"], cells=tuple(row["cells"]), ok=row["ok"]) for row in told["rows"]]
            found.ended[told["ended"]] = told["ok"]
            found.rows[told["ended"]] = rows
    return found


def add_again(part: Path, guest: Path) -> None:
    """Add the record in the folder of one more guest to a part of a run."""
    part.mkdir(parents=True, exist_ok=True)
    with open(part / FILE, "a", encoding="utf-8") as file:
        file.write(read(guest / FILE).lines())


def merged(folder: Path, guests: Iterable[str]) -> Record:
    """What a run came to by now, with what it goes on from."""
    found = read(folder / EARLIER)
    for guest in guests:
        found.add(read(folder / guest / FILE))
    return found


@contextmanager
def begun(folder: Path, guests: Sequence[str], tree: str, *, resumed: bool) -> Iterator[set[str]]:
    """The folder for a run, emptied; yields the files that need not be run again, none unless it is `resumed`.

    `tree`: what the tests are tried on; what was proved on another one is not gone on from. Raises LabError while
    another run uses the folder.
    """
    folder.mkdir(exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LabError(f"another one is at it in this checkout ({folder} is locked)") from None
        before = Record()
        if resumed:
            same = (folder / TREE).is_file() and (folder / TREE).read_text() == tree
            before = merged(folder, guests) if same else before
        kept = before.only(before.whole)
        for guest in guests:
            shutil.rmtree(folder / guest, ignore_errors=True)
        (folder / TREE).write_text(tree)
        (folder / EARLIER).write_text(kept.lines())
        yield before.whole
    finally:
        os.close(descriptor)


def tree_of(root: Path) -> str:
    """What changes with any line of the program or of the tests."""
    found = hashlib.sha256()
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*.py")):
            found.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()
