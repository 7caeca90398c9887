"""Half an answer is no answer: what every backend must do with one, whatever tool was cut off.

Every answer of every tool that the backend asks is cut, one at a time, and files of the kernel are cut or cannot be
read: no fact may be invented, every loss must be told, and nothing may be planned that would not be planned on the
whole. For vendors here and elsewhere.
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
"""Where a text is cut: after so many characters."""

UNKNOWN = (None, "", "unknown", ())


def seeded(count: int, seed: int = 23) -> Places:
    """`count` places anywhere, the same ones at every run; all of a text that has no more."""

    def places(text: str) -> Iterable[int]:
        every = range(len(text))
        return sorted(random.Random(f"{seed}{len(text)}").sample(every, min(count, len(text))))

    return places


def every_line(text: str) -> Iterator[int]:
    """Behind each line but the last, and in the middle of each."""
    at = 0
    for line in text.splitlines(keepends=True):
        yield at + len(line) // 2
        at += len(line)
        if at < len(text):
            yield at


class TruncatingHost(HostWrapper):
    """Notes what programs print and files hold; of one command line or file it passes on the beginning alone.

    A file that is cut at None is there, and cannot be read.
    """

    def __init__(self, inner: Host, spoiled: tuple[str, ...] | str = (), at: int | None = 0) -> None:
        super().__init__(inner)
        self._spoiled = spoiled
        self._at = at
        self.answers: dict[tuple[str, ...], str] = {}
        """What each command line that changes nothing printed."""
        self.files: dict[str, str] = {}
        """What stood in each file that was read."""

    async def run(self, command: Command) -> Completed:
        """As the wrapped host, cut."""
        done = await self._inner.run(command)
        if not command.mutates:
            self.answers.setdefault(command.argv, done.stdout)
        return replace(done, stdout=done.stdout[: self._at]) if command.argv == self._spoiled else done

    async def read(self, path: str) -> str | None:
        """As the wrapped host, cut."""
        return (await self.read_many((path,))).get(path)

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        """As the wrapped host, cut."""
        texts = dict(await self._inner.read_many(paths))
        self.files |= texts
        if isinstance(self._spoiled, str) and (text := texts.pop(self._spoiled, None)) is not None:
            texts |= {} if self._at is None else {self._spoiled: text[: self._at]}
        return texts


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendOutput:
    """What a backend says of a machine."""

    facts: Mapping[str, object]
    """Every fact by what it is of; what is unknown is not in it."""
    problems: frozenset[str]
    """What it says is wrong, or what it raised."""
    plans: Mapping[Target, Change | None]
    """What it plans for a setting of each target; None where it plans nothing."""


async def backend_output(backend: InventoryBackend, wishes: Mapping[Target, tuple[str, str]]) -> BackendOutput:
    """All that a backend says. `wishes`: a key and a value by target, to be planned."""
    try:
        inventory = await backend.inventory()
    except RaidbenchError as error:
        inventory = Inventory(problems=(Problem(where="", message=error.message),))
    facts = dict(_facts(inventory))
    problems = {problem.message for problem in inventory.problems}
    plans: dict[Target, Change | None] = {}
    for target, (key, value) in wishes.items():
        assert isinstance(backend, SettingsBackend)
        plans[target] = None
        try:
            for name, reading in (await backend.read(target)).items():
                facts |= {f"{target} {name} is set": reading.now}
                facts |= {f"{target} {name} in force": reading.effective or reading.now}
                problems |= set(filter(None, (reading.availability.why_not,)))  # beside the setting it is told, too
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
            yield f"{path} {item}", "told"


async def wishes_of(backend: InventoryBackend, targets: Sequence[Target]) -> dict[Target, tuple[str, str]]:
    """For each target a setting that can be changed, and a value that it has not."""
    wishes: dict[Target, tuple[str, str]] = {}
    for target in targets:
        assert isinstance(backend, SettingsBackend)
        for key, reading in (await backend.read(target)).items():
            others = [value for value in candidates(reading) if value != reading.now]
            if reading.availability.available and others:
                wishes.setdefault(target, (key, others[0]))
    return wishes


async def truncation_violations(
    machine: Callable[[], Host],
    make: Callable[[Host], InventoryBackend],
    *,
    targets: Sequence[Target] = (),
    places: Places = every_line,
    files: Sequence[str] = (),
) -> list[str]:
    """What a backend makes of half answers that is wrong, each a sentence; [] where it is right.

    `machine` makes the same machine again and again; of `targets` the settings are read and changes planned; `files`:
    patterns of files that are answers, too: one of several lines is cut, each cannot be read.
    """
    wishes = await wishes_of(make(machine()), targets)
    host = TruncatingHost(machine())
    whole = await backend_output(make(host), wishes)
    wrong = []
    for spoiled, at, text in _cuts(host, places, files):
        half = await backend_output(make(TruncatingHost(machine(), spoiled, at)), wishes)
        wrong += [f"{text}: {name}" for name in _violations(whole, half)]
    return wrong


def _cuts(
    host: TruncatingHost, places: Places, files: Sequence[str]
) -> Iterator[tuple[tuple[str, ...] | str, int | None, str]]:
    """What is spoiled, where, and both in words."""
    read = {path: text for path, text in host.files.items() if any(fnmatch.fnmatchcase(path, file) for file in files)}
    texts: list[tuple[tuple[str, ...] | str, str]] = [*host.answers.items()]
    texts += [(path, text) for path, text in read.items() if "\n" in text]
    for spoiled, text in texts:
        name = spoiled if isinstance(spoiled, str) else " ".join(spoiled)
        for at in places(text):
            yield spoiled, at, f"{name} cut at {at} behind {text[max(0, at - 40) : at]!r}"
    for path in read:
        yield path, None, f"{path} cannot be read"


def _violations(whole: BackendOutput, half: BackendOutput) -> Iterator[str]:
    for key, value in half.facts.items():
        if whole.facts.get(key) != value:
            yield f"{key} is {value!r}, not {whole.facts.get(key)!r}"
    lost = [key for key in whole.facts if key not in half.facts]
    if lost and not half.problems - whole.problems:
        yield f"nobody tells that {lost[0]} and {len(lost) - 1} more are lost"
    for target, change in half.plans.items():
        if change is not None and change != whole.plans[target]:
            yield f"{target} is planned as {change.writes}"


@pytest.mark.asyncio
class TruncatedOutputTests:
    """The rule as a test. Fixtures wanted: `machine` and `make`; `targets` where something can be set.

    Twelve cuts of each answer are tried; a subclass that tries every line sets `places`; one whose vendor reads files
    that are answers, too, names them in `files`, as patterns.
    """

    places: Places = staticmethod(seeded(12))
    files: tuple[str, ...] = ()

    @pytest.fixture
    def machine(self) -> Callable[[], Host]:
        """Makes a machine that has the backend's things, the same one each time."""
        raise NotImplementedError

    @pytest.fixture
    def make(self) -> Callable[[Host], InventoryBackend]:
        """Makes the backend on a host."""
        raise NotImplementedError

    @pytest.fixture
    def targets(self) -> tuple[Target, ...]:
        """What of its things has settings that are looked at."""
        return ()

    async def test_half_an_answer_invents_nothing_and_tells_every_loss(
        self, machine: Callable[[], Host], make: Callable[[Host], InventoryBackend], targets: tuple[Target, ...]
    ) -> None:
        """Whatever answer is cut wherever."""
        wrong = await truncation_violations(machine, make, targets=targets, places=self.places, files=self.files)
        assert not wrong, "\n".join(wrong[:20])
