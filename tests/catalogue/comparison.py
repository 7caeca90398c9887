"""Two trees by their strings, wherever these are: what was moved or renamed is no difference."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.catalogue.golden import quoted
from tests.catalogue.strings import PACKAGES, Found, strings_of_tree


class Change(NamedTuple):
    """A string that one tree has more often than the other."""

    text: str
    before: tuple[str, ...]
    """Where it was, as `file:line`."""
    after: tuple[str, ...]


def compare(before: Mapping[str, Sequence[Found]], after: Mapping[str, Sequence[Found]]) -> list[Change]:
    """Return the strings whose number differs, sorted by text."""
    old, new = _places(before), _places(after)
    return [
        Change(text, old.get(text, ()), new.get(text, ()))
        for text in sorted({*old, *new})
        if len(old.get(text, ())) != len(new.get(text, ()))
    ]


def compare_trees(before: Path, after: Path, *, every: bool) -> list[Change]:
    """Return the differences of two trees; with `every` also those of strings that nobody reads."""
    return compare(strings_of_tree(before, every=every), strings_of_tree(after, every=every))


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
    archive = ["git", "-C", str(repository), "archive", "--format=tar", name, "--", *PACKAGES]
    answer = subprocess.run(archive, capture_output=True, check=False)
    if answer.returncode:
        raise ValueError(f"{name} is neither a folder nor a commit: {answer.stderr.decode().strip()}")
    with tempfile.TemporaryDirectory(prefix="catalogue-") as folder:
        with tarfile.open(fileobj=io.BytesIO(answer.stdout)) as files:
            files.extractall(folder, filter="data")
        yield Path(folder)


def _places(strings: Mapping[str, Sequence[Found]]) -> dict[str, tuple[str, ...]]:
    places: dict[str, list[str]] = defaultdict(list)
    for module, found in strings.items():
        for each in found:
            places[each.text].append(f"{module}:{each.line}")
    return {text: tuple(where) for text, where in places.items()}
