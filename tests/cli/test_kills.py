"""Killed at any moment, raidbench leaves nothing that goes on and nothing that it does not name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.backends.loops import needs_loops
from tests.cli.kills import run

KILLS = int(os.environ.get("RAIDBENCH_KILLS", "15"))
"""How many; `make trust` asks for 300."""


@needs_loops()
@pytest.mark.root
@pytest.mark.fio
@pytest.mark.exhaustive
def test_no_kill_leaves_a_fio_an_unnamed_value_or_a_lost_file(tmp_path: Path) -> None:
    tally = run(tmp_path, KILLS, 1)
    assert (tally.tried, tally.failed) == (KILLS, 0), "\n".join(tally.notes)
