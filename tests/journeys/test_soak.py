"""Memory does not grow while one goes through the screens: what is closed is gone."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import app
import widgets
from app.tui.app import WorkbenchApp
from tests.journeys.soak import SIZE, Met, measure_together, walk, workbench
from tests.journeys.terminal import ROOT
from tests.tui.stage import settled
from widgets.screen_lifecycle import SafeScreen

ROUNDS, FIRST = 200, 20
MEGABYTES = 10.0
"""How much memory may grow after the first rounds."""


def kinds(base: type[object]) -> Iterator[type[object]]:
    """Screens and dialogs that are not only the base of others."""
    below = base.__subclasses__()
    if not below or base.__module__.startswith("app."):
        yield base
    for kind in below:
        yield from kinds(kind)


async def test_every_screen_is_collected_once_it_is_closed(tmp_path: Path, still: None) -> None:
    met = Met()
    async with workbench(tmp_path).run_test(size=SIZE) as pilot:
        await settled(pilot)
        await measure_together(pilot, met)
        await walk(pilot, met)
        assert met.left() == []
