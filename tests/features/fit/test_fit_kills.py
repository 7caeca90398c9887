"""`fit` killed at any moment: no fio goes on, and each scratch file is named and removed by `recover`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.loops import needs_loops
from tests.cli.kills import Place, run
from tests.packages import needs

KILLS = 12

_SECONDS = 8.0
"""How long three short runs take, with the watch of the disk before them."""


def _etcd(place: Place) -> tuple[str, ...]:
    return ("fit", "etcd", str(place.scratch))


def _postgres(place: Place) -> tuple[str, ...]:
    return ("fit", "postgres", str(place.scratch), "--commits", "1")


@needs("fio")
@needs_loops()
@pytest.mark.root
@pytest.mark.fio
@pytest.mark.exhaustive
def test_no_kill_leaves_a_fio_or_a_file_that_recover_does_not_remove(tmp_path: Path) -> None:
    tally = run(tmp_path, KILLS, 1, ((_etcd, _SECONDS), (_postgres, _SECONDS)), "tests.features.fit.brief")
    assert (tally.tried, tally.failed) == (KILLS, 0), "\n".join(tally.notes)
