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
        "`baseline check` has no verdict yet or could not measure; `watch` found only what an earlier watch reported",
    ),
    FOUND: (
        "worse, findings or drift",
        "`baseline check` measured a loss, `check` found a warning or a fault, `watch` found something new or worse "
        "or repeats known findings, `apply` left or found a difference, `slowest` found a slow or hung member, "
        "`doctor` found that something required is missing",
    ),
    MISSING: ("some hosts missing", "the result of a command for several hosts lacks the hosts that did not answer"),
    INTERRUPTED: ("interrupted", "Ctrl-C or a termination signal"),
}
"""What each says in a few words, and of what."""


NAGIOS: Mapping[str, int] = {"OK": 0, "WARNING": 1, "CRITICAL": 2, "UNKNOWN": 3}
"""Where a command answers as a plugin of a monitoring, these stand for all of the above (Monitoring Plugins Development
Guidelines, plugin return codes)."""


def table_rows() -> list[str]:
    """The table of docs/exit-status.md."""
    head = ["| exit status | meaning |", "| --- | --- |"]
    return head + [f"| {status} | {text}: {more} |" for status, (text, more) in MEANINGS.items()]


def summary_sentence() -> str:
    """All of them in one sentence, for `--help`."""
    return f"Exit status: {', '.join(f'{status} {meaning}' for status, (meaning, _) in MEANINGS.items())}."
