"""What holds for every test."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.alike import is_alike
from tests.apart import alone
from tests.ci import recorder
from tests.file_selection import has_no_test
from tests.seeing import begin
from tests.starting import light_starts

__all__ = ["light_starts"]

# No test is about speed by accident: a busy machine is no failure.
settings.register_profile("raidbench", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("raidbench")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make test-user`."""
    parser.addoption("--other-user", action="store_true", help="leave out files that end the same whoever runs them")


def pytest_configure(config: pytest.Config) -> None:
    """Record which tests fail, for `.ci/run`."""
    recorder.register(config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files whose tests all belong to another run, unless they are named on the command line."""
    expression = config.option.markexpr
    if not collection_path.name.startswith("test_") or collection_path.suffix != ".py":
        return None
    if config.option.other_user and is_alike(collection_path):
        return True
    if not expression:
        return None
    if any(Path(word.partition("::")[0]).absolute() == collection_path for word in config.args):
        return None
    return has_no_test(collection_path.read_text(encoding="utf-8"), expression) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Looking through thousands of collected tests for garbage, over and over, takes a seventh of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that wait for programs, screens and the clock come first: at the end all workers share the short ones."""
    from app.doors import FEATURES  # after the patches of this module

    long: set[Path] = set()
    for item in items:
        path = item.path
        for mark in item.iter_markers():
            if mark.name in ("slow", "fio"):
                long.add(path)
            elif mark.name == "feature":
                for name in set(mark.args) - set(FEATURES):
                    item.add_marker(pytest.mark.skip(reason=f"the feature {name} is missing"))
        if path.parent.name == "journeys":
            long.add(path)
    items.sort(key=lambda item: item.path not in long)


@pytest.fixture(scope="session", autouse=True)
def no_wait_for_the_disk() -> Iterator[None]:
    """Logs and journals flush thousands of times: only a power cut would tell what was flushed from what was not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)
        yield


begin(tempfile.gettempdir())

if "PYTEST_XDIST_WORKER" in os.environ:
    alone()

# `sudo make test` is about root: what the tests start is not to go on as whoever called sudo.
for name in ("SUDO_UID", "SUDO_GID"):
    os.environ.pop(name, None)

# A shell starts what it runs in the background deaf to Ctrl+C, nohup to hang-ups: tests that send them would wait for
# ever.
for number, heard in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, heard)

# Those of the laboratory wipe disks; they run in its guest only (make lab).
collect_ignore = [] if os.environ.get("RAIDBENCH_LAB") == "1" else ["lab"]
