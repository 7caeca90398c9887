"""Two trees by their strings, wherever these are: what was moved or renamed is no difference."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.catalogue.golden import quoted
from tests.catalogue.strings import PACKAGES, is_text, strings_of_tree


class Place(NamedTuple):
    """Where a string is."""

    module: str
    line: int
    is_read: bool

    def __str__(self) -> str:
        return f"{self.module}:{self.line}"


class Change(NamedTuple):
    """A string that one tree has more often than the other."""

    text: str
    before: Sequence[Place]
    after: Sequence[Place]

    @property
    def is_read(self) -> bool:
        """Whether what a person may read differs, and not only how often a key, or a word that may be one, is there."""
        if self.before and self.after and not is_text(self.text):
            return False
        return _times_read(self.before) != _times_read(self.after)


def compare(before: Path, after: Path) -> list[Change]:
    """Return the strings whose number differs in two trees, sorted by text.

    All are counted, also those that nobody reads: a text that became a key is still there.
    """
    old, new = _places(before), _places(after)
    return [
        Change(text, old.get(text, ()), new.get(text, ()))
        for text in sorted({*old, *new})
        if len(old.get(text, ())) != len(new.get(text, ()))
    ]


def report(changes: Sequence[Change]) -> Iterator[str]:
    """Yield the lines that say what was removed, what was added, and what is there more or less often."""
    removed = [change for change in changes if not change.after]
    added = [change for change in changes if not change.before]
    often = [change for change in changes if change.before and change.after]
    for change in sorted((*removed, *added)):  # side by side, what was reworded
        sign, places = ("-", change.before) if change.before else ("+", change.after)
        times = f" ({len(places)} times)" if len(places) > 1 else ""
        yield f"{sign}{quoted(change.text)[3:]}{times}  {places[0]}"
    for change in often:
        yield f"~{quoted(change.text)[3:]}  {len(change.before)} -> {len(change.after)} times"
        yield from (f"      before {place}" for place in change.before)
        yield from (f"      after  {place}" for place in change.after)
    yield f"{len(removed)} removed, {len(added)} added, {len(often)} more or less often"


@contextmanager
def tree(name: str, repository: Path) -> Iterator[Path]:
    """Give the folder called `name`, or a copy of that commit of `repository`.

    Raises ValueError where it is neither, or has no packages of the program.
    """
    if Path(name).is_dir():
        if not any((Path(name) / package).is_dir() for package in PACKAGES):
            raise ValueError(f"{name} has none of {', '.join(PACKAGES)}")
        yield Path(name)
        return
    folders = _git(repository, name, "ls-tree", "--name-only", f"{name}^{{commit}}", *PACKAGES).decode().split()
    archive = _git(repository, name, "archive", "--format=tar", name, "--", *folders)
    with tempfile.TemporaryDirectory(prefix="catalogue-") as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 and later
            files.extractall(folder)
        yield Path(folder)


def _git(repository: Path, commit: str, *words: str) -> bytes:
    answer = subprocess.run(["git", "-C", str(repository), *words], capture_output=True, check=False)
    if answer.returncode:
        raise ValueError(f"{commit!r} is neither a folder nor a commit: {answer.stderr.decode().strip()}")
    return answer.stdout


def _places(root: Path) -> dict[str, list[Place]]:
    places: dict[str, list[Place]] = defaultdict(list)
    for module, found in strings_of_tree(root).items():
        for each in found:
            places[each.text].append(Place(module, each.line, each.is_read))
    return places


def _times_read(places: Sequence[Place]) -> int:
    return sum(place.is_read for place in places)
