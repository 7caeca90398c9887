"""What is looked at before the first run, and how runs follow each other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from app.features.fit.engine import busy_share
from backends.errors import RefusedError


def bench(*busy_ms: int, live: bool = True) -> Any:
    """A machine whose disk vda was busy for so many milliseconds when it is read."""
    readings = iter(busy_ms)

    async def read(path: str) -> str:
        return f" 254 0 vda 1 0 8 1 1 0 8 1 0 {next(readings)} 2 0 0 0 0 0 0\n"

    return SimpleNamespace(host=SimpleNamespace(capabilities=SimpleNamespace(live=live), read=read))


async def test_how_busy_others_keep_the_disk_is_measured_before_the_first_run() -> None:
    share = await busy_share(bench(1000, 1010), "/dev/vda", 0.05)
    assert share is not None
    assert 0.02 < share <= 0.2


async def test_a_disk_that_others_keep_busy_is_refused_with_both_shares() -> None:
    with pytest.raises(RefusedError, match=r"/dev/vda busy for 100 % of the time; `fit` measures up to 90 %"):
        await busy_share(bench(1000, 9000), "/dev/vda", 0.01)


async def test_a_disk_that_is_not_known_or_simulated_is_not_waited_for() -> None:
    assert await busy_share(bench(), None) is None
    assert await busy_share(bench(live=False), "/dev/vda") is None
