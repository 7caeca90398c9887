"""The first thing that runs of raidbench.pyz, under any Python 3: says so where that is too old."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        "raidbench.pyz needs Python 3.11 or newer; this is {}.{}. "
        "The one file raidbench-...-linux-... needs none.".format(*sys.version_info)
    )

from unpack import start  # type: ignore[import-not-found]  # beside this file, in the archive

start()
