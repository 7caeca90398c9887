"""What makes the start of the program light."""

from __future__ import annotations

import gc
import sys

_MANY = 20_000
"""Objects between two looks for garbage: with the usual 700 a tenth of the start is spent looking at imports."""

_IMPORTED = 60_000
"""The same while the program starts: more than a command imports, of which nothing is garbage."""


def raise_gc_threshold() -> None:
    """Look for garbage less often."""
    gc.set_threshold(_MANY, 20, 20)


def collect_later() -> None:
    """Look for garbage less often still, until all is imported."""
    gc.set_threshold(_IMPORTED, 20, 20)


def import_asyncio() -> None:
    """Import asyncio without TLS, which nothing here speaks: a twentieth of the start, and 3 MiB."""
    if "asyncio" in sys.modules or "ssl" in sys.modules:
        return
    sys.modules["ssl"] = None  # type: ignore[assignment]  # asyncio then does without
    try:
        import asyncio  # noqa: F401
    finally:
        del sys.modules["ssl"]


def print_version() -> bool:
    """Whether the version was printed: False where standard output takes nothing, of which more is to be said."""
    from backends.version import program_version

    try:
        print(f"raidbench {program_version()}", flush=True)
    except (OSError, ValueError):
        return False
    return sys.stdout is not None
