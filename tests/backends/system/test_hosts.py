"""What a host is good for is asked by name: nothing but the marks is decided by whether it is made up."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from app.core.benchmark.scratch_manager import LocalScratchManager, scratch_manager_for
from backends.errors import RefusedError
from backends.exclusive_open import claim, claim_on
from backends.host import THIS_MACHINE, Capabilities
from backends.system.local import LocalHost
from backends.system.wrapped import DryRunHost, ReadOnlyHost
from tests.backends.fakes import FakeHost

ROOT = Path(__file__).parents[3]
MARKS = "app/core/session/recorder.py"
"""Takes the host's word once; all others are told by the session."""


@cache
def product() -> list[tuple[str, ast.Module]]:
    files = [file for part in ("app", "backends", "widgets") for file in (ROOT / part).rglob("*.py")]
    outside = [file for file in files if "backends/system/" not in file.as_posix()]
    return [(file.relative_to(ROOT).as_posix(), ast.parse(file.read_text())) for file in outside]


def ends_in_host(node: ast.expr) -> bool:
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name.strip("_").endswith("host")


@pytest.mark.long
def test_whether_a_host_is_made_up_is_asked_for_the_record_and_its_place_only() -> None:
    asking = {
        name
        for name, tree in product()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "simulated" and ends_in_host(node.value)
    }
    assert asking == {MARKS, "app/core/session/paths.py"}


@pytest.mark.long
def test_nobody_looks_what_class_a_host_is_or_what_it_wraps() -> None:
    looking = {
        name
        for name, tree in product()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Constant) and node.value == "_inner")
        or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "isinstance"
            and "LocalHost" in ast.dump(node)
        )
    }
    assert not looking


@pytest.fixture
def elsewhere() -> FakeHost:
    """A machine that is reached from here, as one over SSH would be."""
    host = FakeHost({"/tmp/x": ""})
    host.reached = Capabilities()
    return host


async def test_no_scratch_file_is_made_for_another_machine(elsewhere: FakeHost, tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="Scratch files on fake are not possible from this machine"):
        await scratch_manager_for(elsewhere).plan(str(tmp_path), 1 << 20, writes=True)
    assert list(tmp_path.iterdir()) == []


def test_no_device_of_another_machine_is_opened_here(elsewhere: FakeHost) -> None:
    assert claim_on(elsewhere) is None


@pytest.mark.parametrize("wrapper", [DryRunHost, ReadOnlyHost])
def test_a_wrapped_host_can_what_it_can_unwrapped(wrapper: type[ReadOnlyHost]) -> None:
    host = wrapper(LocalHost())
    assert host.capabilities == THIS_MACHINE
    assert claim_on(host) is claim
    assert isinstance(scratch_manager_for(host), LocalScratchManager)
