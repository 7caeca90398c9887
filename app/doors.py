"""The features, and the door of each: what a feature has is named there, and imported when it is used.

The frame (command line, screens) knows this list and the doors. It imports no module of a feature by name, so a feature
whose folder and line are gone is missed by nobody.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any

from backends.errors import NotFoundError
from backends.values import dataclass

FEATURES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ab": (),
        "sweep": ("ab",),
        "plots": ("sweep",),
        "history": (),
        "check": ("advice",),
        "advice": (),
        "apply": (),
        "arrays": (),
        "metrics": ("check",),
        "watch": ("apply", "check", "history"),
        "fleet": ("apply", "check", "doctor"),
        "slowest": (),
        "doctor": (),
        "report": ("sweep",),
    }
)
"""Every feature, and the features that it may import; there is no circle."""


class HelpGroup(StrEnum):
    """The headings of the commands in `--help`, in order."""

    LOOK = "Look"
    CHANGE = "Change"
    MEASURE = "Measure"
    COMPARE = "Compare"
    ARRAYS = "Arrays"
    HOSTS = "Many hosts"
    REPORTS = "Reports"
    MAINTENANCE = "Maintenance"


@dataclass(frozen=True, slots=True)
class DoorCommand:
    """A command of the command line."""

    path: str
    """Where the command is: `module:name`."""
    help: str
    """Its line in `--help`, the first line of its docstring."""
    group: HelpGroup
    """Its heading in `--help`."""
    rank: int
    """Its place in `--help`, the lowest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureDoor:
    """What a feature offers to the rest of the program. Paths are `module:name`; to import a door imports none."""

    commands: Mapping[str, DoorCommand] = field(default_factory=dict)
    """Commands of the command line, by name."""
    screens: Mapping[str, str] = field(default_factory=dict)
    """Classes of the screens that a number key shows, by the name of the screen."""
    background: Mapping[str, str] = field(default_factory=dict)
    """Classes of the work that goes on behind the screens (`app.tui.feature_hooks`), by the screen that shows it."""
    actions: Mapping[str, str] = field(default_factory=dict)
    """Functions that others call if the feature is there, by name (`action`): open a sheet, draw a picture."""


@cache
def door(feature: str) -> FeatureDoor:
    """Return the door of a feature."""
    DOOR = importlib.import_module(f"app.features.{feature}").DOOR
    assert isinstance(DOOR, FeatureDoor)
    return DOOR


@cache
def doors() -> Mapping[str, FeatureDoor]:
    """Return the doors of all features, by name."""
    return {feature: door(feature) for feature in FEATURES}


def imported(path: str) -> Any:
    """Return what `module:name` names."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def needed_action(name: str) -> Callable[..., Any]:
    """Return a function of a feature that somebody asked for. Raises NotFoundError where there is no such feature."""
    function = action(name)
    if function is None:
        raise NotFoundError(f"This raidbench has no {name.partition('.')[0]}.")
    return function


def action(name: str) -> Callable[..., Any] | None:
    """Return a function of a feature by the names of both, `plots.explore`; None where there is no such feature.

    No other door is looked at. Raises KeyError where the feature has no such function.
    """
    feature, _, own = name.partition(".")
    return imported(door(feature).actions[own]) if feature in FEATURES else None
