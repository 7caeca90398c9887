"""The helper through the real sudo answers whatever comes, does nothing that was not asked for, and ends."""

from __future__ import annotations

import os
import random
import struct
from pathlib import Path

import pytest

from tests.backends.loops import Loop, needs_loops
from tests.privsep import fuzzing
from tests.privsep.fuzzing import Writer, prepared
from tests.privsep.helping import needs_python, needs_root

pytestmark = [
    needs_root,
    needs_loops(),
    needs_python,
    pytest.mark.skipif(bool(fuzzing.why_not()), reason=fuzzing.why_not() or "all is there"),
]

SEED = int(os.environ.get("RAIDBENCH_SEED", "0")) or random.randrange(2**31)
"""Of the exhaustive run; it is printed, and the variable repeats it."""


@pytest.mark.parametrize(
    ("count", "seed"),
    [
        pytest.param(600, 20, marks=pytest.mark.long),
        pytest.param(1_500, SEED, marks=pytest.mark.exhaustive, id="many"),
    ],
)
def test_no_frame_makes_the_helper_fail_or_do_what_nobody_asked_for(tmp_path: Path, count: int, seed: int) -> None:
    print(f"RAIDBENCH_SEED={seed}")

    tally = fuzzing.run(tmp_path, count, seed)

    assert tally.tried >= count
    assert (tally.failed, tally.notes) == (0, []), f"RAIDBENCH_SEED={seed}"


@pytest.mark.long
def test_what_the_frames_lead_to_is_what_a_raidbench_asks_for(tmp_path: Path) -> None:
    """Odd frames alone would try nothing but the first checks."""
    with prepared(tmp_path) as place:
        talk, writer = fuzzing.Talk(place), Writer(random.Random(1), place)
        for body in (writer.hello(), *writer.in_order()):
            talk.send(fuzzing.frame(body))
        assert talk.answered(5)
        assert ["ok" in answer for answer in talk.answers] == [True] * 5, talk.answers
        assert talk.descriptors == 1
        talk.close()
        assert talk.process.wait(fuzzing.SECONDS) == 0


@pytest.mark.parametrize(
    ("line", "strange"),
    [
        ('["open", "/etc/shadow", "None", "1"]', True),
        ('["open", "/dev/null", "None", "2"]', False),
        ('["subprocess.Popen", "/usr/sbin/mdadm", ["mdadm", "--examine", "/dev/loop0"]]', False),
        ('["subprocess.Popen", "/bin/sh", ["sh", "-c", "id"]]', True),
        ('["os.rename", "/root/a", "/dev/null"]', True),
        ('["os.remove", "journal"]', True),
        ('["socket.connect", "x", "y"]', True),
    ],
)
def test_what_a_helper_does_elsewhere_is_seen(tmp_path: Path, line: str, strange: bool) -> None:
    log = tmp_path / "log"
    log.write_text(f"{line}\n")
    place = fuzzing.Place(tmp_path, tmp_path / "python", Loop("/dev/loop0", tmp_path), None, log)  # type: ignore[arg-type]
    assert bool(fuzzing._strange(place)) is strange


@pytest.mark.parametrize(
    ("answer", "clear"),
    [
        ({"id": 1, "ok": {}, "descriptors": 0}, True),
        ({"id": 1, "error": {"message": "Request denied by the root helper: journal takes nothing."}}, True),
        ({"id": 1, "error": {"message": "The root helper failed: KeyError: 'a'"}}, False),
        ({"id": 1, "error": {"message": "Traceback (most recent call last)"}}, False),
        ({"id": 1, "error": {"message": ""}}, False),
        ({"id": 1, "error": {}}, False),
        ({"id": 1}, False),
    ],
)
def test_a_defect_of_the_helper_is_no_answer(answer: dict[str, object], clear: bool) -> None:
    assert fuzzing._is_clear(answer) is clear


def test_frames_say_how_long_they_are() -> None:
    assert struct.unpack("!I", fuzzing.frame(b"abc")[:4]) == (3,)
