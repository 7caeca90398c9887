"""Writes what every task of every host answered, for the tests: the callback that prints JSON is in no ansible-core."""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.plugins.callback import CallbackBase  # type: ignore[import-not-found]

DOCUMENTATION = """
name: told
type: notification
short_description: Writes what tasks answered into the file that TOLD_IN names.
description: For tests.
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]
    """Collects, and writes at the end."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "told"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._tasks: dict[str, dict[str, Any]] = {}

    def _take(self, result: Any) -> None:
        name = result._task.name
        self._tasks.setdefault(result._host.get_name(), {})[name] = result._result

    def v2_runner_on_ok(self, result: Any) -> None:
        """A task that went well."""
        self._take(result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """One that did not."""
        self._take(result)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """The end."""
        told = {"tasks": self._tasks, "stats": {host: stats.summarize(host) for host in stats.processed}}
        with open(os.environ["TOLD_IN"], "w", encoding="utf-8") as out:
            json.dump(told, out, default=str)
