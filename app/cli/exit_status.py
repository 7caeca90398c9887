"""The exit statuses of all commands, and their descriptions for `--help` and the docs."""

from __future__ import annotations

from collections.abc import Mapping

DONE = 0
FAILED = 1
USAGE = 2
REFUSED = 3
UNDECIDED = 4
FOUND = 5
MISSING = 6
INTERRUPTED = 130

MEANINGS: Mapping[int, tuple[str, str]] = {
    DONE: ("done", "also if there was nothing to do"),
    FAILED: ("failed", "a program, the kernel, a run or the disk failed"),
    USAGE: (
        "wrong usage or invalid file",
        "unknown command, target, setting, value or run; an invalid configuration, plan or job file; "
        "the workbench without a terminal",
    ),
    REFUSED: (
        "refused",
        "by the guard or `--read-only`, without a confirmation, because another process holds a lock, or because the "
        "name now refers to a different device",
    ),
    UNDECIDED: (
        "undecided or already known",
        "`baseline check` has no verdict yet or could not measure; `fit` is not decided; `watch` found only what an "
        "earlier watch reported",
    ),
    FOUND: (
        "worse, findings or drift",
        "`baseline check` measured a loss, `check` found a warning or a fault, `watch` found something new or worse, "
        "or reported known findings again, `apply` found a difference or could not remove one, "
        "`fit` answered no or not safe, `slowest` found a slow or hung member, "
        "`doctor` found that something required is missing",
    ),
    MISSING: ("some hosts missing", "the result of a command for several hosts lacks the hosts that did not answer"),
    INTERRUPTED: ("interrupted", "Ctrl-C or a termination signal"),
}
"""The short meaning of each status, and the cases that it covers."""


NAGIOS: Mapping[str, int] = {"OK": 0, "WARNING": 1, "CRITICAL": 2, "UNKNOWN": 3}
"""Exit statuses of commands that act as monitoring plugins, instead of the statuses in `MEANINGS`.

Source: Monitoring Plugins Development Guidelines, plugin return codes.
"""


def summary_sentence() -> str:
    """Return all statuses in one sentence, for `--help`."""
    return f"Exit status: {', '.join(f'{status} {meaning}' for status, (meaning, _) in MEANINGS.items())}."
