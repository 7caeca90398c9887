"""The machine that raidbench runs on. Of the backends, only this package starts programs."""

from __future__ import annotations

from backends.system.local.child import OUTPUT_LIMIT
from backends.system.local.command import LINGER
from backends.system.local.detached import start_detached
from backends.system.local.files import SMALL_FILE
from backends.system.local.host import LocalHost
from backends.system.local.process import LocalProcess

__all__ = ["LINGER", "OUTPUT_LIMIT", "SMALL_FILE", "LocalHost", "LocalProcess", "start_detached"]
