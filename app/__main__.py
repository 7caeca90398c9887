"""`python -m app` and the `raidbench` script."""

from __future__ import annotations

import gc
import sys

_MANY = 20_000
"""Objects between two looks for garbage: with the usual 700 a tenth of the start is spent looking at imports."""


def main() -> int:
    """Run the command line; the answer is the exit status."""
    lighten()
    from app.cli.main import cli
    from app.engine.session.paths import keep_private

    keep_private()

    status: int = cli.main(standalone_mode=False)
    gc.freeze()  # else the interpreter goes through everything for garbage once more before it ends
    return status


def lighten() -> None:
    """Look for garbage less often, and import asyncio without TLS, which nothing here speaks.

    The second is a twentieth of the start, and 3 MiB.
    """
    gc.set_threshold(_MANY, 20, 20)
    if "asyncio" in sys.modules or "ssl" in sys.modules:
        return
    sys.modules["ssl"] = None  # type: ignore[assignment]  # asyncio then does without
    try:
        import asyncio  # noqa: F401
    finally:
        del sys.modules["ssl"]


if __name__ == "__main__":
    sys.exit(main())
