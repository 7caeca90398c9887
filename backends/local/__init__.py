"""The machine the program runs on: the only place where a program is started or a file opened."""

from __future__ import annotations

from backends.local.child import OUTPUT_LIMIT
from backends.local.detached import start_detached
from backends.local.files import SMALL_FILE
from backends.local.host import LocalHost
from backends.local.process import LocalProcess
from backends.local.running import LINGER

__all__ = ["LINGER", "OUTPUT_LIMIT", "SMALL_FILE", "LocalHost", "LocalProcess", "start_detached"]
