"""Guarding lines, each broken once: `make test` has to notice, and so has `make trust`.

`make mutants ARGS=--breaks` tries them, as root: what is tried are the tests and the rows that are named here, of both.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.copied import copied, environment, forget, notices, try_unchanged

LIMIT = 900.0
"""Seconds for the tests or the rows of one break."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """One line that guards data, and what has to notice that it is broken."""

    name: str
    """What does not happen any more."""
    module: str
    """The file it lies in."""
    line: str
    """A text that stands there once."""
    broken: str
    """What stands there instead."""
    tests: tuple[str, ...]
    """Files of `make test`."""
    rows: tuple[str, ...]
    """Rows of `make trust`."""


BREAKS = (
    Break(
        name="what lies there now is compared with what was shown",
        module="backends/guard.py",
        line="    new = [] if shown is None else new_content(verdict.content, shown)\n    if new:",
        broken="    new = [] if shown is None else new_content(verdict.content, shown)\n    if False:",
        tests=("tests/backends/test_held_look.py",),
        rows=("A6",),
    ),
    Break(
        name="a device that is held is opened for oneself alone",
        module="backends/exclusive_open.py",
        line="self._flags |= os.O_EXCL if write or exclusive else 0",
        broken="self._flags |= 0",
        tests=("tests/backends/test_guard.py",),
        rows=("A3",),
    ),
    Break(
        name="a record is on disk before anything is changed",
        module="app/core/session/journal.py",
        line="            os.fsync(descriptor)\n",
        broken="            pass\n",
        tests=("tests/core/session/test_journal.py",),
        rows=("T14",),
    ),
    Break(
        name="a value that somebody else set is not taken for one's own",
        module="app/core/changes/revert.py",
        line="now is not None and now in (*ours, NOT_UNDERSTOOD) else",
        broken="now is not None else",
        tests=("tests/core/changes",),
        rows=("T10",),
    ),
    Break(
        name="the device that is held is the one that was looked at",
        module="backends/guard.py",
        line="        _require_same(now, identity)\n",
        broken="        pass\n",
        tests=("tests/backends/test_held_look.py",),
        rows=("T9",),
    ),
    Break(
        name="a queue setting is set on the disk that it was planned for",
        module="backends/vendors/block/backend.py",
        line="        require_same_device(change, identity(await self._node(change.target)))\n",
        broken="        pass\n",
        tests=("tests/backends/test_block_plans.py",),
        rows=("T9",),
    ),
    Break(
        name="a device is judged once more while it is held",
        module="backends/guard.py",
        line="        allow(judge(now, Intent.WRITE, area))\n",
        broken="        pass\n",
        tests=("tests/backends/test_held_look.py",),
        rows=("A6",),
    ),
    Break(
        name="a disk that the machine serves to itself is known by what it is served from",
        module="backends/topology/scan.py",
        line="    backings |= await read_imports(host, tree, exports) if everywhere else {}\n",
        broken="",
        tests=("tests/backends/topology/test_exports.py",),
        rows=("A32",),
    ),
    Break(
        name="what is in use is looked for by the UUID of what lies on a device",
        module="backends/topology/facts.py",
        line="    if probe:\n        by_name = grouped(",
        broken="    if False:\n        by_name = grouped(",
        tests=("tests/backends/topology/test_clones.py",),
        rows=("A33",),
    ),
    Break(
        name="the serial number of a remote disk proves nothing",
        module="backends/topology/clones.py",
        line="all(self._is_local(node) for node in nodes) and ",
        broken="",
        tests=("tests/backends/topology/test_clones.py",),
        rows=("A33",),
    ),
    Break(
        name="the character devices of a disk are known",
        module="backends/topology/tree.py",
        line="            by_disk[disk] = tuple(dict.fromkeys((*by_disk.get(disk, ()), devno)))\n",
        broken="            pass\n",
        tests=("tests/backends/test_characters.py",),
        rows=("A34",),
    ),
    Break(
        name="a job that trims counts as one that writes",
        module="app/core/fio/job.py",
        line="part.rw not in (Pattern.READ, Pattern.RANDREAD) for",
        broken="part.rw in (Pattern.WRITE, Pattern.RANDWRITE, Pattern.READWRITE, Pattern.RANDRW) for",
        tests=("tests/core/fio/test_loads.py",),
        rows=("A28",),
    ),
    Break(
        name="a run that trims is confirmed as one that writes",
        module="app/core/benchmark/run_plan.py",
        line="return self.job.writes or self.fills > 0",
        broken="return self.job.writes_data or self.fills > 0",
        tests=("tests/core/benchmark/test_measurer.py",),
        rows=("T5",),
    ),
    Break(
        name="nothing acts on a change that a build before the first release recorded",
        module="app/core/session/journal.py",
        line='            elif is_unreleased(record.get("by")):\n',
        broken="            elif False:\n",
        tests=("tests/test_unreleased.py",),
        rows=("A51",),
    ),
    Break(
        name="an open change of a build before the first release stands in the way",
        module="app/core/session/journal.py",
        line="    return changes_error(file, left) if left else None\n",
        broken="    return None\n",
        tests=("tests/test_unreleased.py",),
        rows=("A51",),
    ),
    Break(
        name="a trial of another version is open until it is decided",
        module="app/core/session/journal.py",
        line="    if not entry.is_trial or result in _ENDS_A_TRIAL:\n",
        broken="    if entry.intent is None or not entry.is_trial or result in _ENDS_A_TRIAL:\n",
        tests=("tests/test_unreleased.py",),
        rows=("A51",),
    ),
    Break(
        name="only a setting that is lost at reboot is reverted by a reboot",
        module="app/core/session/journal.py",
        line="    return intent.change.persistence is Persistence.LOST_AT_REBOOT\n",
        broken="    return True\n",
        tests=("tests/test_unreleased.py",),
        rows=("A51",),
    ),
    Break(
        name="an array that a build before the first release left open stands in the way",
        module="app/core/changes/arrays/array_journal.py",
        line="        return arrays_error(self.file, left) if left else None\n",
        broken="        return None\n",
        tests=("tests/test_unreleased.py",),
        rows=("A51",),
    ),
    Break(
        name="no command continues a session of a build before the first release",
        module="app/core/session/store.py",
        line="        if begun is None or is_unreleased(begun.version):\n",
        broken="        if begun is None:\n",
        tests=("tests/test_unreleased.py",),
        rows=("A51",),
    ),
)
"""In the order in which they were first tried."""


def missed(breaks: Sequence[Break] = BREAKS) -> Iterator[tuple[Break, str]]:
    """Each break with who did not notice it, "" where both did. Raises SystemExit where something fails without it."""
    with copied() as copy:
        for each in breaks:
            try_unchanged(copy, [each.module], each.tests)
            if _fails(copy, each.rows):
                raise SystemExit(f"rows {', '.join(each.rows)} are not at their marks without a break")
            forget(copy, [each.module])
            file = copy / each.module
            whole = file.read_text(encoding="utf-8")
            file.write_text(broken(whole, each), encoding="utf-8")
            try:
                blind = [] if notices(copy, each.tests, LIMIT) else ["make test"]
                blind += [] if _fails(copy, each.rows) else ["make trust"]
            finally:
                file.write_text(whole, encoding="utf-8")
            yield each, " and ".join(blind)


def broken(source: str, each: Break) -> str:
    """The source with that line broken. Raises ValueError where it is not there once: it moved."""
    if source.count(each.line) != 1:
        raise ValueError(f"{each.module} has {source.count(each.line)} times {each.line.strip()!r}")
    return source.replace(each.line, each.broken)


def _fails(copy: Path, rows: Sequence[str]) -> bool:
    """Whether one of these rows is below its mark. Raises SystemExit where one could not be tried: nothing is known."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.trust", "--only", ",".join(rows)],
        cwd=copy,
        env=environment(copy) | {"PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"rows {', '.join(rows)} were not tried:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 1
