"""The number of a user that nobody is."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from backends.errors import RefusedError
from backends.system.local import unprivileged
from backends.system.local.unprivileged import UNUSED_IDS, find_unused_id
from tests.backends.loops import program
from tests.packages import needs
from tests.privsep.helping import needs_root


@pytest.fixture(autouse=True)
def nobody_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever runs on this machine meanwhile."""
    monkeypatch.setattr(unprivileged, "_of_processes", set)


def test_the_first_is_taken_where_all_are_free() -> None:
    assert find_unused_id() == UNUSED_IDS[0]


def test_one_with_a_name_is_somebodys(monkeypatch: pytest.MonkeyPatch) -> None:
    def known(number: int) -> pwd.struct_passwd:
        if number != UNUSED_IDS[0]:
            raise KeyError
        return pwd.getpwall()[0]

    monkeypatch.setattr("backends.system.local.unprivileged.pwd.getpwuid", known)

    assert find_unused_id() == UNUSED_IDS[1]


@pytest.mark.parametrize("line", ["me:60000:65536", "me:65520:1", "me:1:65520"])
def test_one_that_a_user_may_take_for_containers_is_his(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    file = tmp_path / "subuid"
    file.write_text(f"other:100000:65536\n# nothing\n{line}\n")
    monkeypatch.setattr(unprivileged, "_SUBORDINATE", (str(file),))
    if line.startswith("me:60000"):
        with pytest.raises(RefusedError, match="No user ID is free"):
            find_unused_id()
    else:
        assert find_unused_id() == UNUSED_IDS[1]


@needs_root
@needs("setpriv")
@pytest.mark.parametrize("words", [("--reuid=65533",), ("--regid=65533",), ("--groups=7,65533",)])
def test_one_that_a_process_has_is_taken(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.undo()
    clear = () if words[0].startswith("--groups") else ("--clear-groups",)
    with program("setpriv", *words, *clear, "sh", "-c", "echo ready; exec sleep 600"):
        taken = unprivileged._of_processes()

    assert UNUSED_IDS[-1] in taken  # the last: other tests have the first ones


def test_where_no_process_can_be_seen_none_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(os, "listdir", lambda folder: [])

    with pytest.raises(RefusedError, match="are unknown: /proc shows no processes"):
        find_unused_id()
