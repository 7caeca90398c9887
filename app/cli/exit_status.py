"""The exit statuses and their meanings, for every command, `--help` and the documentation."""

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
    DONE: ("done", "also where there was nothing to do"),
    FAILED: ("failed", "a program, the kernel, a run, the disk"),
    USAGE: (
        "wrong usage or a wrong file",
        "no such command, target, setting, value or run; a configuration, plan or job file that cannot be used; "
        "the workbench without a terminal",
    ),
    REFUSED: (
        "refused",
        "by the guard, by `--read-only`, because nobody confirmed, because somebody else is at it, or because under "
        "the name there is another device now",
    ),
    UNDECIDED: (
        "not decided or known",
        "of `baseline check`: nothing can be said yet, or it could not be measured; "
        "of `watch`: all that is wrong is known from an earlier one",
    ),
    FOUND: (
        "worse, findings or drift",
        "`baseline check` measured it to be worse, `check` found a warning or a fault, "
        "`watch` found something new or worse or reminds of what is known, "
        "`apply` left or found a difference, `slowest` found a slow or hung member, `doctor` misses something needed",
    ),
    MISSING: ("some hosts missing", "of commands about several hosts: what is told lacks those that did not answer"),
    INTERRUPTED: ("interrupted", "Ctrl-C, or a signal that asked it to end"),
}
"""A short meaning of each status, and the cases that it covers."""


NAGIOS: Mapping[str, int] = {"OK": 0, "WARNING": 1, "CRITICAL": 2, "UNKNOWN": 3}
"""Exit statuses of commands that act as monitoring plugins, in place of those above (Monitoring Plugins Development
Guidelines, plugin return codes)."""


def summary_sentence() -> str:
    """Return all statuses in one sentence, for `--help`."""
    return f"Exit status: {', '.join(f'{status} {meaning}' for status, (meaning, _) in MEANINGS.items())}."
