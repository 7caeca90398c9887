"""What the helper is asked for and does not do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.privsep.forbidden import refuses

MANY = int(os.environ.get("RAIDBENCH_FORBIDDEN", "10000"))
"""Requests of the exhaustive run."""


@pytest.mark.parametrize("count", [2_000, pytest.param(MANY, marks=pytest.mark.exhaustive, id="many")])
def test_the_helper_refuses_every_forbidden_request_and_does_nothing_for_it(tmp_path: Path, count: int) -> None:
    tally = refuses(tmp_path, count, seed=count)

    assert (tally.failed, tally.notes) == (0, [])
