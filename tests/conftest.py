"""What holds for every test."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# No test is about speed by accident: a busy machine is no failure.
settings.register_profile("raidbench", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("raidbench")

# Those of the laboratory wipe disks; they run in its guest only (make lab).
collect_ignore = [] if os.environ.get("RAIDBENCH_LAB") == "1" else ["lab"]
