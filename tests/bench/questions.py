"""What the settings of a card full of volumes cost besides their list: questions to its tool, and processor time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.cli.devices import all_settings
from app.core.presentation import json_schema
from backends.host import Command, Completed
from backends.registry import MachineBackends
from tests.backends.fakes import FakeHost, machine
from tests.backends.megaraid.chassis import VOLUMES, said_by
from tests.bench.figures import Figure, ratio_of_medians
from tests.bench.place import Place

_SECONDS = 0.05
"""What the tool takes for an answer; real ones take up to several seconds."""


class Answering(FakeHost):
    """Has one tool, which answers what is known of it after a while."""

    def __init__(self, tool: str, said: Mapping[str, str]) -> None:
        self._path = f"/usr/sbin/{tool}"
        super().__init__(machine(**{self._path: ""}))
        self._tool, self._said = tool, said
        self.asked = 0

    def which(self, names: Sequence[str]) -> str | None:
        """The tool, by its name on PATH."""
        return self._path if self._tool in names else None

    async def run(self, command: Command) -> Completed:
        """An answer, later."""
        self.asked += 1
        await asyncio.sleep(_SECONDS)
        line = " ".join(word for word in command.argv[1:] if word not in ("J", "nolog"))
        return Completed(returncode=0, stdout=self._said.get(line, "Status = Failure\n"), stderr="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one look."""

    questions: int
    """Starts of the tool."""
    cpu: float
    """Processor seconds of raidbench."""


def measure(place: Place) -> Iterator[Figure]:
    """`devices --json` against `devices`, with each tool."""
    rounds = 3 if place.quick else 7
    for tool in ("storcli64", "storcli2", "MegaCli64"):
        said = said_by(tool)
        pairs = [(asyncio.run(_look(tool, said, True)), asyncio.run(_look(tool, said, False))) for _ in range(rounds)]
        ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        yield ratio_of_medians(
            f"{VOLUMES} volumes, {tool}: questions of devices --json / devices",
            [float(one.questions) for one in ours],
            [float(one.questions) for one in theirs],
            goal=1.0,
            note=f"{theirs[0].questions} questions of {_SECONDS} s",
        )
        yield ratio_of_medians(
            f"{VOLUMES} volumes, {tool}: processor time of devices --json / devices",
            [one.cpu for one in ours],
            [one.cpu for one in theirs],
            note=f"{sorted(one.cpu for one in theirs)[rounds // 2] * 1000:.0f} ms for devices",
        )


async def _look(tool: str, said: Mapping[str, str], with_settings: bool) -> Cost:
    host = Answering(tool, said)
    begun = time.process_time()
    found = MachineBackends.of(host)
    inventory = await found.probe()
    settings = (await all_settings(found, inventory))[0] if with_settings else {}
    json_schema.devices(inventory, settings, host=host.name, simulated=False)
    return Cost(questions=host.asked, cpu=time.process_time() - begun)
