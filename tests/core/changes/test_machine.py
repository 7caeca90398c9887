"""Whatever befalls a setting in whatever order, it ends as somebody wanted it last, or as a conflict that is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.changes import machine


@pytest.mark.long
@pytest.mark.slow
def test_a_setting_ends_as_somebody_wanted_it_last(tmp_path: Path) -> None:
    assert machine.run(tmp_path, 1000, 1).notes == []


@pytest.mark.exhaustive
def test_so_it_does_in_many_more_walks(tmp_path: Path) -> None:
    assert machine.run(tmp_path, 10_000, 2).notes == []
