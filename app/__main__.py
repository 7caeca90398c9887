"""`python -m app` and the `raidbench` script."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; the answer is the exit status."""
    from app.cli.main import cli

    status: int = cli.main(standalone_mode=False)
    return status


if __name__ == "__main__":
    sys.exit(main())
