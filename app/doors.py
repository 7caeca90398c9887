"""The list of features, and their doors. The door of a feature is a module that names the feature's parts.

The core and the user interfaces know only this list and the doors. No other module of a feature is imported by name. So
a feature can be removed by deleting its folder and its line in this list. A door is imported when it is first used.
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
        "observe": (),
        "fit": (),
        "doctor": (),
        "report": ("sweep",),
    }
)
"""Every feature, with the features that it may import. There are no cyclic imports."""


class HelpGroup(StrEnum):
    """The headings in `--help` under which commands are listed, in order."""

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
    """A command of the command line, as a door declares it."""

    path: str
    """The command's object, as `module:name`."""
    help: str
    """The command's line in `--help`, which is the first line of its docstring."""
    group: HelpGroup
    """The heading in `--help` under which the command is listed."""
    rank: int
    """The command's position in `--help`; the lowest rank is first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureDoor:
    """The parts of a feature, named as `module:name`. Importing a door does not import the modules of the parts."""

    commands: Mapping[str, DoorCommand] = field(default_factory=dict)
    """Commands of the command line, by name."""
    screens: Mapping[str, str] = field(default_factory=dict)
    """Classes of screens that a number key opens, by the name of the screen."""
    background: Mapping[str, str] = field(default_factory=dict)
    """Classes of background work (`app.tui.feature_hooks`), by the name of the screen that shows the work."""
    actions: Mapping[str, str] = field(default_factory=dict)
    """Functions that other parts of raidbench call through `action`, by name."""


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
    """Return the function `FEATURE.NAME` of a feature. Raises NotFoundError if the feature is not installed."""
    function = action(name)
    if function is None:
        raise NotFoundError(f"This build of raidbench does not include {name.partition('.')[0]}.")
    return function


def action(name: str) -> Callable[..., Any] | None:
    """Return the function `FEATURE.NAME` of a feature, such as `plots.explore`; None if the feature is not installed.

    Raises KeyError if the feature has no such function.
    """
    feature, _, function = name.partition(".")
    return import_object(door(feature).actions[function]) if feature in FEATURES else None
