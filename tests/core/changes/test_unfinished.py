"""What is still to be decided of a change: whether a reboot took it back, and whether anybody watches a trial."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.core.changes import trial
from app.core.changes.revert import reverted_by_reboot
from app.core.changes.trial import arm
from app.core.session.events import ChangeIntended
from app.core.session.journal import boot_clock, boot_id
from backends.errors import BlockedError, RefusedError, StorageError
from backends.helper_interface import encode_error
from backends.settings import Persistence
from tests.core.changes.test_trials import paths
from tests.core.doubles import Bench, FakeBackend, planned


@pytest.mark.parametrize(
    ("persistence", "boot", "gone"),
    [
        (Persistence.LOST_AT_REBOOT, "another", True),
        (Persistence.LOST_AT_REBOOT, "this", False),
        (Persistence.LOST_AT_REBOOT, "", False),  # it is not known when it was made
        (Persistence.STORED, "another", False),
        (Persistence.STORED, "", False),
    ],
)
def test_a_reboot_since_took_back_what_a_reboot_undoes(persistence: Persistence, boot: str, gone: bool) -> None:
    change = planned("128", "256", persistence=persistence)
    intent = ChangeIntended(at=1.0, id="c1", change=change, boot=boot_id() if boot == "this" else boot)
    assert reverted_by_reboot(intent) is gone


async def test_a_change_of_a_value_that_is_unknown_again_is_not_said_to_be_back(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeBackend(value="unknown"))
    await bench.set("256", before="unknown")
    bench.backend.value = "unknown"
    with pytest.raises(BlockedError, match="its old value is not known"):
        await bench.changer.undo(bench.record())


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "it did not answer"),
        (
            "ModuleNotFoundError: No module named 'x'",
            "it ended without an answer: ModuleNotFoundError: No module named 'x'",
        ),
        ("[]", "it ended without an answer: []"),
        (json.dumps({"error": encode_error(StorageError("The disk is gone.", hint="Look."))}), "The disk is gone"),
        (OSError(12, "Cannot allocate memory"), "its process could not be started: Cannot allocate memory"),
    ],
    ids=["nothing", "a crash", "no answer", "an error", "no start"],
)
async def test_why_nobody_watches_a_trial_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str | OSError, reason: str
) -> None:
    async def start(_module: str, _order: str, _seconds: float, *, unit: str, errors: bool) -> str:
        assert (unit.startswith("raidbench-trial-"), errors) == (True, True)
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(trial, "start_detached", start)
    with pytest.raises(RefusedError) as refused:
        await arm(paths(tmp_path), tmp_path, boot_clock() + 60)
    assert refused.value.message == f"The watchdog of the trial could not be started: {reason}. Nothing was set."
    assert refused.value.hint == ("Look." if "disk" in reason else "")
