"""`python -m app` and the `raidbench` script."""

from __future__ import annotations

import gc
import sys

_MANY = 20_000
"""Objects between two looks for garbage: with the usual 700 a tenth of the start is spent looking at imports."""


def main() -> int:
    """Run the command line; the answer is the exit status."""
    gc.set_threshold(_MANY, 20, 20)
    _import_asyncio()
    from app.cli.main import cli

    status: int = cli.main(standalone_mode=False)
    return status


def _import_asyncio() -> None:
    """Import asyncio without TLS, which nothing here speaks: a twentieth of the start, and 3 MiB."""
    if "asyncio" in sys.modules or "ssl" in sys.modules:
        return
    sys.modules["ssl"] = None  # type: ignore[assignment]  # asyncio then does without
    try:
        import asyncio  # noqa: F401
    finally:
        del sys.modules["ssl"]


if __name__ == "__main__":
    sys.exit(main())
