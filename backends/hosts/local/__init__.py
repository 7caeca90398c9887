"""The machine the program runs on: the only place where a program is started or a file opened."""

from __future__ import annotations

from backends.hosts.local.child import OUTPUT_LIMIT
from backends.hosts.local.detached import start_detached
from backends.hosts.local.files import SMALL_FILE
from backends.hosts.local.host import LocalHost
from backends.hosts.local.process import LocalProcess
from backends.hosts.local.running import LINGER

__all__ = ["LINGER", "OUTPUT_LIMIT", "SMALL_FILE", "LocalHost", "LocalProcess", "start_detached"]
