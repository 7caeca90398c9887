"""Entry point of raidbench.pyz. It runs under any Python 3, and prints a message if that Python is too old."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        "raidbench.pyz needs Python 3.11 or newer; this is {}.{}. "
        "The standalone binary raidbench-...-linux-... needs no Python.".format(*sys.version_info)
    )

from unpack import start  # type: ignore[import-not-found]  # a module in the same archive

start()
