"""Tests with truncated output, which every backend must pass.

The output of each tool command is truncated, one at a time, and kernel files are truncated or unreadable. A backend
must then invent no facts, report each loss, and plan only changes that it also plans from the complete output. The
tests are for vendor modules in this project and elsewhere.
"""

from __future__ import annotations

import fnmatch
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from backends.change import Change
from backends.errors import RaidbenchError
from backends.host import Command, Completed, Host
from backends.identity import Identity
from backends.model import Fact, Inventory, Problem, Target, Task
from backends.protocol import InventoryBackend, SettingsBackend
from backends.system.wrapped import HostWrapper
from backends.testing.conformance import candidates
from backends.values import dataclass

Places = Callable[[str], Iterable[int]]
"""Function that returns the lengths, in characters, to which a given output is truncated one after the other."""

UNKNOWN = (None, "", "unknown", ())
"""Values by which a backend states that a fact is unknown."""


def seeded(count: int, seed: int = 23) -> Places:
    """Return a function that returns `count` random lengths, the same at each run; for shorter output, all lengths."""

    def places(text: str) -> Iterable[int]:
        every = range(len(text))
        return sorted(random.Random(f"{seed}{len(text)}").sample(every, min(count, len(text))))

    return places


def every_line(text: str) -> Iterator[int]:
    """Yield the lengths at which `text` ends in the middle of a line or after a line, except after the last line."""
    at = 0
    for line in text.splitlines(keepends=True):
        yield at + len(line) // 2
        at += len(line)
        if at < len(text):
            yield at


class TruncatingHost(HostWrapper):
    """Host wrapper that records output and files, and truncates the output of one command line, or one file.

    `spoiled`: that command line or file. `at`: the length that remains; None makes an existing file unreadable.
    """

    def __init__(self, inner: Host, spoiled: tuple[str, ...] | str = (), at: int | None = 0) -> None:
        super().__init__(inner)
        self._spoiled = spoiled
        self._at = at
        self.answers: dict[tuple[str, ...], str] = {}
        """Output of each read-only command line."""
        self.files: dict[str, str] = {}
        """Contents of each file that was read."""

    async def run(self, command: Command) -> Completed:
        """Run a command, and truncate its output if it is the command line `spoiled`."""
        done = await self._inner.run(command)
        if not command.mutates:
            self.answers.setdefault(command.argv, done.stdout)
        return replace(done, stdout=done.stdout[: self._at]) if command.argv == self._spoiled else done

    async def read(self, path: str) -> str | None:
        """Return the contents of a file, truncated if it is the file `spoiled`."""
        return (await self.read_many((path,))).get(path)

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the contents of several files; those of the file `spoiled` are truncated."""
        texts = dict(await self._inner.read_many(paths))
        self.files |= texts
        if isinstance(self._spoiled, str) and (text := texts.pop(self._spoiled, None)) is not None:
            texts |= {} if self._at is None else {self._spoiled: text[: self._at]}
        return texts


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendOutput:
    """The facts, problems and plans of a backend on one host."""

    facts: Mapping[str, object]
    """All facts by device and field, without unknown ones."""
    problems: frozenset[str]
    """Messages of reported problems and raised errors."""
    plans: Mapping[Target, Change | None]
    """The planned change by target, one setting for each; None if the plan was refused."""


async def backend_output(backend: InventoryBackend, requests: Mapping[Target, tuple[str, str]]) -> BackendOutput:
    """Return the facts, problems and plans of a backend. `requests`: key and value to plan, by target."""
    try:
        inventory = await backend.inventory()
    except RaidbenchError as error:
        inventory = Inventory(problems=(Problem(where="", message=error.message),))
    facts = dict(_facts(inventory))
    problems = {problem.message for problem in inventory.problems}
    plans: dict[Target, Change | None] = {}
    for target, (key, value) in requests.items():
        assert isinstance(backend, SettingsBackend)
        plans[target] = None
        try:
            for name, reading in (await backend.read(target)).items():
                facts |= {f"{target} {name} is set": reading.now}
                facts |= {f"{target} {name} in force": reading.effective or reading.now}
                # A loss may also be reported as the reason why a setting cannot be changed.
                problems |= set(filter(None, (reading.availability.why_not,)))
            plans[target] = await backend.plan(target, key, value)
        except RaidbenchError as error:
            problems.add(error.message)
    return BackendOutput(
        facts={key: value for key, value in facts.items() if value not in UNKNOWN},
        problems=frozenset(problems),
        plans=plans,
    )


def _facts(inventory: Inventory) -> Iterator[tuple[str, object]]:
    for kind in ("controllers", "arrays", "drives"):
        for item in getattr(inventory, kind):
            yield str(item.target), kind
            yield from _of(str(item.target), item)


def _of(name: str, record: Any) -> Iterator[tuple[str, object]]:
    for field in fields(record):
        value: Any = getattr(record, field.name)
        path = f"{name} {field.name}"
        if isinstance(value, tuple):
            for item in value:
                yield from _item(path, item)
        elif isinstance(value, Target):
            yield path, str(value)
        elif is_dataclass(value) and not isinstance(value, Identity):
            yield from _of(path, value)
        elif not isinstance(value, Identity):
            yield path, getattr(value, "value", value)


def _item(path: str, item: Any) -> Iterator[tuple[str, object]]:
    match item:
        case Fact():
            yield f"{path} {item.label}", item.value
        case Task():
            yield from _of(f"{path} {item.kind}", item)
        case _:
            yield f"{path} {item}", "listed"


async def requests_of(backend: InventoryBackend, targets: Sequence[Target]) -> dict[Target, tuple[str, str]]:
    """Return, for each target, a setting that can be changed and a value that it does not have."""
    requests: dict[Target, tuple[str, str]] = {}
    for target in targets:
        assert isinstance(backend, SettingsBackend)
        for key, reading in (await backend.read(target)).items():
            others = [value for value in candidates(reading) if value != reading.now]
            if reading.availability.available and others:
                requests.setdefault(target, (key, others[0]))
    return requests


async def truncation_violations(
    machine: Callable[[], Host],
    make: Callable[[Host], InventoryBackend],
    *,
    targets: Sequence[Target] = (),
    places: Places = every_line,
    files: Sequence[str] = (),
) -> list[str]:
    """Return a sentence for each violation of the rules for truncated output; empty if there is none.

    `machine`: creates the same host at each call. `make`: creates the backend on a host. `targets`: the devices whose
    settings are read and planned. `places`: the lengths to try. `files`: patterns of files that count as output. Each
    file is tried as unreadable, and files of several lines also truncated.
    """
    requests = await requests_of(make(machine()), targets)
    host = TruncatingHost(machine())
    complete = await backend_output(make(host), requests)
    wrong = []
    for spoiled, at, text in _cuts(host, places, files):
        truncated = await backend_output(make(TruncatingHost(machine(), spoiled, at)), requests)
        wrong += [f"{text}: {name}" for name in _violations(complete, truncated)]
    return wrong


def _cuts(
    host: TruncatingHost, places: Places, files: Sequence[str]
) -> Iterator[tuple[tuple[str, ...] | str, int | None, str]]:
    """Yield the command line or file to truncate, its remaining length, and a description of both."""
    read = {path: text for path, text in host.files.items() if any(fnmatch.fnmatchcase(path, file) for file in files)}
    texts: list[tuple[tuple[str, ...] | str, str]] = [*host.answers.items()]
    texts += [(path, text) for path, text in read.items() if "\n" in text]
    for spoiled, text in texts:
        name = spoiled if isinstance(spoiled, str) else " ".join(spoiled)
        for at in places(text):
            yield spoiled, at, f"{name} truncated at {at} after {text[max(0, at - 40) : at]!r}"
    for path in read:
        yield path, None, f"{path} cannot be read"


def _violations(complete: BackendOutput, truncated: BackendOutput) -> Iterator[str]:
    for key, value in truncated.facts.items():
        if complete.facts.get(key) != value:
            yield f"{key} is {value!r}, not {complete.facts.get(key)!r}"
    lost = [key for key in complete.facts if key not in truncated.facts]
    if lost and not truncated.problems - complete.problems:
        yield f"no problem reports that {lost[0]} and {len(lost) - 1} more facts are lost"
    for target, change in truncated.plans.items():
        if change is not None and change != complete.plans[target]:
            yield f"{target} is planned as {change.writes}"


@pytest.mark.asyncio
class TruncatedOutputTests:
    """The rules for truncated output as a test. Needs the fixtures `machine` and `make`; `targets` if it has settings.

    Each output is truncated at twelve places. To try every line, set `places` to `every_line`. If the backend also
    reads files as output, set `files` to their patterns.
    """

    places: Places = staticmethod(seeded(12))
    files: tuple[str, ...] = ()

    @pytest.fixture
    def machine(self) -> Callable[[], Host]:
        """Function that creates a host with devices of the backend, the same at each call."""
        raise NotImplementedError

    @pytest.fixture
    def make(self) -> Callable[[Host], InventoryBackend]:
        """Function that creates the backend on a host."""
        raise NotImplementedError

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        """The devices whose settings are read and planned."""
        return ()

    async def test_truncated_output_invents_no_fact_and_hides_no_loss(
        self, machine: Callable[[], Host], make: Callable[[Host], InventoryBackend], targets: tuple[Target, ...]
    ) -> None:
        """Whichever output is truncated, and wherever, the backend invents no fact and reports the loss."""
        wrong = await truncation_violations(machine, make, targets=targets, places=self.places, files=self.files)
        assert not wrong, "\n".join(wrong[:20])
