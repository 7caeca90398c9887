"""fio of the rack on jobs of several sections: at the same time, and one phase after another."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.engine.fio.job import Job, Pattern
from app.engine.fio.sections import JobSection, join_sections
from app.engine.session.figures import Phase, RunStatus
from backends.racks.machines import DEFAULT
from tests.backends.racks.loads import run
from tests.backends.racks.racks import host_of

READER = Job(rw=Pattern.RANDREAD, runtime=6, ramp=0, iodepth=16)
