"""What `make package` has built, for the tests that try it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools.package.tree import MACHINES, ROOT, VERSION

DIST = Path(os.environ.get("RAIDBENCH_DIST", ROOT / "dist"))
"""Where it lies; another folder for a build of elsewhere."""

HERE = next((machine for machine in MACHINES if machine.name == os.uname().machine), MACHINES[0])
ONE_FILE = DIST / f"raidbench-{VERSION}-linux-{HERE.name}"
DEB = DIST / f"raidbench_{VERSION}_{HERE.go}.deb"
RPM = DIST / f"raidbench-{VERSION}.{HERE.name}.rpm"
PYZ = DIST / "raidbench.pyz"
SUMS = DIST / "SHA256SUMS"

needs_shipped = pytest.mark.skipif(not SUMS.exists(), reason="nothing has been built: `make package`")

FIO = next(iter(sorted(DIST.glob(f"fio-*-linux-{HERE.name}.tar.gz"))), None)
"""A static fio, where `make package-fio` has made one."""

needs_static_fio = pytest.mark.skipif(FIO is None, reason="no static fio has been built: `make package-fio`")
