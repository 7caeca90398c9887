"""The plans that come with raidbench, and those in files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from app.engine.sweep.plan import PlanError, SweepPlan
from app.engine.sweep.plan_file import parse_plan
from backends.errors import NotFoundError
from backends.text import clean

_APP = Path(__file__).resolve().parents[2]
FOLDERS = (_APP / "plans", _APP.parent / "plans")
"""Where they lie when installed, and in the sources."""

LARGEST = 1 << 20
"""Bytes of a plan."""


def shipped() -> dict[str, Path]:
    """The plans that come with raidbench by name."""
    found: dict[str, Path] = {}
    for folder in FOLDERS:
        for file in sorted(folder.glob("*.toml")):
            found.setdefault(file.stem, file)
    return found


def load_plan(name: str) -> SweepPlan:
    """The plan of that name, or in that file. Raises NotFoundError, PlanError."""
    shown = clean(name, 200)
    named = None if "/" in name else shipped().get(name.removesuffix(".toml"))
    file = Path(name) if Path(name).is_file() or named is None else named
    try:
        with file.open("rb") as handle:
            data = handle.read(LARGEST + 1)
    except FileNotFoundError:
        known = ", ".join(shipped())
        raise NotFoundError(f"There is no plan {shown}.", hint=f"Name a file, or one of: {known}.") from None
    except OSError as error:
        raise PlanError(f"The plan {shown} cannot be read: {error.strerror}.") from error
    if len(data) > LARGEST:
        raise PlanError(f"{shown} is too large for a plan.")
    plan = parse_plan(data, clean(str(file), 200))
    return plan if plan.title else replace(plan, title=clean(file.stem, 80))
