"""The workbench steps behind fio, and never takes fio with it."""

from __future__ import annotations

import os
import resource

import pytest

from app.core.benchmark.niceness import lower_priority


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Priorities asked of a kernel at niceness 0."""
    told: list[int] = []
    monkeypatch.setattr(os, "getpriority", lambda which, who: 0)
    monkeypatch.setattr(os, "setpriority", lambda which, who, nice: told.append(nice))
    return told


def test_root_steps_back_and_starts_programs_where_it_was(asked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert (lower_priority(), asked) == (0, [5])


def test_who_could_not_raise_fio_again_lowers_nothing(asked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (0, 0))
    assert (lower_priority(), asked) == (None, [])


def test_a_user_with_the_right_to_raise_steps_back(asked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (20, 20))
    assert (lower_priority(), asked) == (0, [5])
