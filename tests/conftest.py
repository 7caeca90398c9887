"""What holds for every test."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# No test is about speed by accident: a busy machine is no failure.
settings.register_profile("raidbench", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("raidbench")


def pytest_collection_finish() -> None:
    """Looking through thousands of collected tests for garbage, over and over, takes a seventh of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def no_wait_for_the_disk() -> Iterator[None]:
    """Logs and journals flush thousands of times: only a power cut would tell what was flushed from what was not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)
        yield


# `sudo make test` is about root: what the tests start is not to go on as whoever called sudo.
for name in ("SUDO_UID", "SUDO_GID"):
    os.environ.pop(name, None)

# A shell starts what it runs in the background deaf to Ctrl+C: tests that send it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Those of the laboratory wipe disks; they run in its guest only (make lab).
collect_ignore = [] if os.environ.get("RAIDBENCH_LAB") == "1" else ["lab"]
