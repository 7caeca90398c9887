"""Functions that make raidbench start faster."""

from __future__ import annotations

import gc
import sys

_THRESHOLDS = (20_000, 4, 4)
"""Thresholds of garbage collection once raidbench has started: new objects, and collections of younger objects.

With Python's default of 700 new objects, garbage collection takes a tenth of the startup time. A closed screen is
garbage of half a megabyte, so that older objects are collected after 4 collections, not Python's 10.
"""

_START_THRESHOLD = 120_000
"""Number of new objects after which Python collects garbage while raidbench starts.

The imports and one look at a server create 45,000 to 80,000 objects. Almost none of them is garbage, and a collection
takes a tenth of the processor time of `raidbench devices`.
"""


def raise_gc_threshold() -> None:
    """Run the garbage collector less often."""
    gc.set_threshold(*_THRESHOLDS)


def collect_later() -> None:
    """Raise the threshold of the garbage collector further, so that it does not run until the imports are done."""
    gc.set_threshold(_START_THRESHOLD, 20, 20)


def import_asyncio() -> None:
    """Import asyncio without `ssl`, which raidbench does not need. This saves 5 % of the startup time and 3 MiB."""
    if "asyncio" in sys.modules or "ssl" in sys.modules:
        return
    sys.modules["ssl"] = None  # type: ignore[assignment]  # asyncio's `import ssl` then fails, which it expects
    try:
        import asyncio  # noqa: F401
    finally:
        del sys.modules["ssl"]


def import_textual() -> None:
    """Import Textual without the widgets that it imports only to export their types. This saves 3 % of the start.

    Textual (8.2) takes a type for its palette from `textual.types`, which imports the lists of files and of choices.
    """
    if "textual.app" in sys.modules or "textual.types" in sys.modules:
        return
    from types import ModuleType

    from textual import _types

    stand_in = ModuleType("textual.types")
    stand_in.__dict__.update(IgnoreReturnCallbackType=_types.IgnoreReturnCallbackType)
    sys.modules["textual.types"] = stand_in
    try:
        import textual.app  # noqa: F401
    finally:
        del sys.modules["textual.types"]


def print_version() -> bool:
    """Print the version and return whether that succeeded.

    If not, the caller runs the full command, which reports the error.
    """
    from backends.version import program_version

    try:
        print(f"raidbench {program_version()}", flush=True)
    except (OSError, ValueError):
        return False
    return sys.stdout is not None
