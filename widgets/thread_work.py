"""Work of a screen in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ParamSpec

Arguments = ParamSpec("Arguments")


def in_thread(
    function: Callable[Arguments, object], *arguments: Arguments.args, **named: Arguments.kwargs
) -> Callable[[], object]:
    """Return work for `run_worker` that calls `function` in a thread.

    Textual's own thread workers (8.2) stay in the context of their thread, which keeps the closed screen of the worker
    until the thread is used again.
    """
    return partial(asyncio.to_thread, function, *arguments, **named)
