"""The list of features and the door of each. A door names what a feature offers; it is imported on use.

The core and the frames know this list and the doors. They import no module of a feature by name, so a feature can be
deleted with its folder and its line here.
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
"""Every feature, and the features that it may import. There is no cycle."""


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
    """Location of the command: `module:name`."""
    help: str
    """Its line in `--help`, the first line of its docstring."""
    group: HelpGroup
    """Its heading in `--help`."""
    rank: int
    """Its position in `--help`, lowest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureDoor:
    """The parts that a feature offers. Paths are `module:name`; importing a door imports none of them."""

    commands: Mapping[str, DoorCommand] = field(default_factory=dict)
    """Commands of the command line, by name."""
    screens: Mapping[str, str] = field(default_factory=dict)
    """Classes of the screens that a number key shows, by the name of the screen."""
    background: Mapping[str, str] = field(default_factory=dict)
    """Classes of background work (`app.tui.feature_hooks`), by the screen that shows it."""
    actions: Mapping[str, str] = field(default_factory=dict)
    """Functions that others call through `action`, by name."""


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


def import_object(path: str) -> Any:
    """Import and return the object that `module:name` names."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def require_action(name: str) -> Callable[..., Any]:
    """Return a function of a feature that the user asked for. Raises NotFoundError if the feature is missing."""
    function = action(name)
    if function is None:
        raise NotFoundError(f"This build of raidbench does not include {name.partition('.')[0]}.")
    return function


def action(name: str) -> Callable[..., Any] | None:
    """Return a function of a feature (`plots.explore`); None without the feature.

    Raises KeyError if it lacks the function.
    """
    feature, _, function = name.partition(".")
    return import_object(door(feature).actions[function]) if feature in FEATURES else None
