"""Named baselines: saved copies of complete runs, whose job is measured again later for comparison."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.core.analysis.past_runs.earlier_runs import device_id_of_run
from app.core.analysis.sample_groups import condition
from app.core.analysis.verdict import FEWEST_RUNS
from app.core.session import event_codec
from app.core.session.events import InventorySeen, MachineFacts, RunEnded, RunStarted
from app.core.session.json_codec import structure, unstructure
from app.core.session.paths import Paths, private_folder
from app.core.session.results import RunStatus
from app.core.session.state import RunRecord
from app.core.session.store import LoadedSession
from backends.did_you_mean import suggestion_hint
from backends.errors import InvalidValueError, NewerError, NotFoundError, StorageError, storage_errors
from backends.formats import FORMATS, FileFormat, require_known
from backends.input_file import read_input
from backends.model import Inventory
from backends.output_file import replace_file
from backends.text import clean
from backends.values import dataclass
from backends.version import program_version

SCHEMA = FORMATS[FileFormat.BASELINE]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ENDING = ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """Repeated runs of one job on one target with the same settings, with everything recorded about them."""

    name: str
    """Name of the baseline."""
    at: float
    """When the baseline was saved, in seconds since the epoch."""
    session: str
    """Name of the session of the runs. The session may have been deleted."""
    thing: str
    """Identifier of the measured device, from `thing_of_run`."""
    runs: tuple[RunRecord, ...]
    """The saved runs, at least three."""

    @property
    def start(self) -> RunStarted:
        """The start event of the first run, which contains the target, the job and the settings."""
        return self.runs[0].start


_LARGEST = 64 << 20
"""Maximum size of a baseline file in bytes."""


class Baselines:
    """The store of baselines. Each baseline is one file next to the sessions."""

    def __init__(self, paths: Paths) -> None:
        self._folder = paths.state / "baselines"

    def save(self, baseline: Baseline, *, replace: bool = False) -> None:
        """Write a baseline atomically.

        Raises InvalidValueError when the name is in use, StorageError when the file cannot be written.
        """
        path = self._path(baseline.name)
        if path.exists() and not replace:
            raise InvalidValueError(
                f"The baseline {baseline.name} already exists.", hint="To replace it with these runs, add --replace."
            )
        with storage_errors("The baseline cannot be written", hint=f"Check {self._folder}."):
            private_folder(self._folder)
            replace_file(path, json.dumps(_as_json(baseline), indent=1) + "\n", durable=True)

    def load(self, name: str) -> Baseline:
        """Return the baseline `name`.

        Raises NotFoundError when there is none of that name, NewerError when a newer version of raidbench wrote it,
        StorageError when it cannot be read.
        """
        path = self._path(name)
        try:
            baseline = _from_json(json.loads(read_input(path, _LARGEST)))
        except FileNotFoundError:
            raise self._not_found(name) from None
        except OSError as error:
            raise StorageError(f"Cannot read {path}: {error.strerror}.", evidence=str(error)) from error
        except NewerError:
            raise
        except Exception as error:  # the file may be damaged in any way
            raise StorageError(
                f"Cannot read the baseline {name}: the file is damaged.",
                hint=f"Remove it with `raidbench baseline remove {name}`.",
                evidence=str(error),
            ) from error

        return baseline

    def _not_found(self, name: str) -> NotFoundError:
        names = self.names()
        hint = suggestion_hint(name, names, f"Available: {', '.join(names) or 'none'}.")
        return NotFoundError(f"Unknown baseline {name}.", hint=hint)

    def remove(self, name: str) -> None:
        """Delete a baseline.

        Raises NotFoundError when there is none of that name, StorageError when it cannot be deleted.
        """
        try:
            self._path(name).unlink()
        except FileNotFoundError:
            raise self._not_found(name) from None
        except OSError as error:
            raise StorageError(f"Cannot remove the baseline: {error.strerror}.", evidence=str(error)) from error

    def names(self) -> tuple[str, ...]:
        """Return the names of all baselines, sorted."""
        try:
            names = [entry.name.removesuffix(_ENDING) for entry in self._folder.iterdir() if entry.suffix == _ENDING]
        except OSError:
            return ()
        return tuple(sorted(name for name in names if _NAME.fullmatch(name)))

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise InvalidValueError(
                f"{clean(name, 80)!r} is not a valid baseline name.",
                hint="Use at most 64 letters, digits, dots, - and _.",
            )
        return self._folder / f"{name}{_ENDING}"


def baseline_of(name: str, loaded: LoadedSession, runs: Sequence[RunRecord]) -> Baseline:
    """Return a baseline made of runs of a session. Raises InvalidValueError when the runs differ, are incomplete or too
    few, ran several sections, or included preconditioning.
    """
    ids = ", ".join(run.id for run in runs)
    complete = [run for run in runs if run.figures.status is RunStatus.OK]
    if len(complete) < len(runs):
        raise InvalidValueError(f"Not all of {ids} are complete runs.", hint="Show their status with `raidbench runs`.")
    if len({condition(run) for run in runs}) > 1:
        raise InvalidValueError(
            f"{ids} are not repeats of one run: target, job or settings differ.", hint="Specify repeats of one run."
        )
    if len(runs) < FEWEST_RUNS:
        raise InvalidValueError(
            f"{ids} are too few to determine the run-to-run noise. At least {FEWEST_RUNS} are needed.",
            hint=f"Measure with `raidbench bench TARGET --repeat {FEWEST_RUNS}` or more repeats.",
        )
    if any(run.start.sections for run in runs):
        raise InvalidValueError(
            f"{ids} ran several sections of a job file. A baseline contains only one job.",
            hint="Measure one section: `raidbench bench TARGET --jobfile FILE --section NAME`.",
        )
    if any(run.start.fills for run in runs):
        raise InvalidValueError(f"{ids} included preconditioning, which a check does not repeat.")
    return Baseline(
        name=name, at=time.time(), session=loaded.folder.name, thing=thing_of_run(loaded, runs[0]), runs=tuple(runs)
    )


def thing_of_run(loaded: LoadedSession, run: RunRecord) -> str:
    """Return an identifier of the device that a run measured, according to the last inventory before the run."""
    inventory = Inventory()
    for event in loaded.session.events:
        if isinstance(event, InventorySeen):
            inventory = event.inventory
        if isinstance(event, RunStarted) and event.id == run.id:
            break
    return device_id_of_run(run.start, inventory, "" if run.machine is None else run.machine.host)


def _as_json(baseline: Baseline) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "program": program_version(),
        "name": baseline.name,
        "at": baseline.at,
        "session": baseline.session,
        "thing": baseline.thing,
        "runs": [
            {
                "started": event_codec.as_json(run.start),
                "ended": None if run.end is None else event_codec.as_json(run.end),
                "machine": None if run.machine is None else unstructure(run.machine),
                "version": run.version,
            }
            for run in baseline.runs
        ],
    }


def _from_json(data: dict[str, Any]) -> Baseline:
    """Return the baseline that a JSON object describes. May raise any exception if the object has a wrong structure."""
    require_known(FileFormat.BASELINE, data["schema"], data.get("program"), f"The baseline {data['name']}")
    return Baseline(
        name=str(data["name"]),
        at=float(data["at"]),
        session=str(data["session"]),
        thing=str(data["thing"]),
        runs=tuple(_record(run) for run in data["runs"]),
    )


def _record(data: dict[str, Any]) -> RunRecord:
    start, end = event_codec.decode(json.dumps(data["started"])), event_codec.decode(json.dumps(data["ended"]))
    if not isinstance(start, RunStarted) or not isinstance(end, RunEnded):
        raise ValueError("no run")
    machine = None if data["machine"] is None else structure(data["machine"], MachineFacts)
    return RunRecord(start=start, end=end, machine=machine, version=str(data["version"]))
