"""Time of a simulated host: it never jumps, whatever its speed."""

from __future__ import annotations

import pytest

from backends.simulator.host import SimulatedHost
from backends.simulator.host_time import HostTime
from backends.simulator.state_file import RackFile
from tests.backends.simulator.asking import still_rack


class Clock:
    """The clock of this machine."""

    now = 1000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("backends.simulator.host_time.time", made)
    return made


def test_it_runs_faster_only_inside_the_context_and_never_back(clock: Clock) -> None:
    time = HostTime()
    seen = []
    clock.now += 1
    with time.hurry(30.0):
        clock.now += 2
        seen.append(time.now())
    clock.now += 3
    assert [*seen, time.now()] == [1061.0, 1064.0]


def test_a_host_hurries_its_state_and_its_programs(clock: Clock) -> None:
    file = RackFile(None, make=still_rack)
    host = SimulatedHost(file)
    with host.hurry(60.0):
        clock.now += 1
        assert (file.rack.now(), host._speed) == (1060.0, 60.0)
    assert host._speed == 1.0


@pytest.mark.parametrize(("speed", "chosen"), [(None, None), (4.0, 4.0)])
def test_only_a_speed_that_was_given_is_chosen(speed: float | None, chosen: float | None) -> None:
    time = SimulatedHost(still_rack(), speed=speed).capabilities.time
    assert time is not None
    assert time.chosen_speed == chosen
