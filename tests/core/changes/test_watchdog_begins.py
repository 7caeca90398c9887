"""Before it says that it is armed, a watchdog has done what the deadline takes, and is deaf to what ends programs."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

import backends.vendors
from app.core.changes import watchdog
from app.core.changes.trial import rehearse
from app.core.session.journal import boot_clock
from backends.errors import BlockedError, NotFoundError, RefusedError, StorageError
from backends.protocol import InventoryBackend, Vendor
from backends.registry import MachineBackends
from backends.system.local.detached import STAY
from tests.core.changes.test_trials import Trial, paths
from tests.core.doubles import FakeBackend, planned

SESSION, UNTIL = "/sessions/one", 4711.5
ARMED = '{"armed": true}'


def with_backend(monkeypatch: pytest.MonkeyPatch, backend: object) -> None:
    """Let the watchdog find a machine with this backend, or with none."""
    vendors = () if backend is None else (Vendor(name="fake", backend=lambda _host: cast("InventoryBackend", backend)),)
    monkeypatch.setattr(watchdog, "MachineBackends", SimpleNamespace(of=lambda host: MachineBackends(host, vendors)))


@pytest.mark.parametrize("why_not", [None, "the disk is rebuilding"], ids=["planned", "refused"])
async def test_a_way_back_that_cannot_be_planned_is_found_out_before_anything_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why_not: str | None
) -> None:
    bench, until = Trial(tmp_path), boot_clock() + 60
    bench.journal.write_intent("c1", bench.folder, planned("128", "256"), until=until)
    backend = FakeBackend(why_not=why_not)
    with_backend(monkeypatch, backend)
    if why_not is None:
        found = await watchdog.rehearse(paths(tmp_path), str(bench.folder), until)
        assert found["fake"] is backend  # type: ignore[comparison-overlap]
    else:
        with pytest.raises(BlockedError, match="the disk is rebuilding"):
            await watchdog.rehearse(paths(tmp_path), str(bench.folder), until)
    assert backend.applied == []


# -- what is missing --------------------------------------------------------------------------------------------------


BROKEN = "import no_such_module\n"
TYPING = "class Wrong(int, int): pass\n"


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A vendor `fake` whose module `steps` cannot be imported; its other modules can."""
    package = tmp_path / "vendors" / "fake"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "steps.py").write_text(BROKEN)
    (package / "rest.py").touch()
    monkeypatch.setattr(backends.vendors, "__path__", [*backends.vendors.__path__, str(package.parent)])
    yield package
    for name in [name for name in sys.modules if name.startswith("backends.vendors.fake")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("steps.py", BROKEN, "ModuleNotFoundError: No module named 'no_such_module'"),
        ("steps.py", TYPING, "TypeError: duplicate base class int"),
        ("__init__.py", BROKEN, "ModuleNotFoundError: No module named 'no_such_module'"),
        ("__init__.py", TYPING, "TypeError: duplicate base class int"),
    ],
)
def test_a_module_that_cannot_be_loaded_stops_every_trial_and_is_named(
    broken: Path, file: str, text: str, reason: str
) -> None:
    (broken / "steps.py").write_text("")
    (broken / file).write_text(text)
    name = "backends.vendors.fake" + (".steps" if file == "steps.py" else "")
    with pytest.raises(RefusedError) as refused:
        watchdog.load_all()
    assert refused.value.message == f"{name} cannot be loaded: {reason}."
    assert refused.value.hint.startswith("Install raidbench again")


def test_modules_below_a_package_are_loaded(broken: Path) -> None:
    (broken / "steps.py").write_text("")
    watchdog.load_all()
    assert {"backends.vendors.fake.rest", "backends.vendors.zfs.backend", "app.core.changes.revert"} <= set(sys.modules)


@pytest.mark.parametrize("name", ["app.core.changes.revert", "app.core.session.journal", "backends.guard", "cattrs"])
def test_whatever_cannot_be_loaded_stops_every_trial(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def load(module: str) -> None:
        if module == name:
            raise ModuleNotFoundError("No module named 'x'")

    monkeypatch.setattr(watchdog, "importlib", SimpleNamespace(import_module=load))
    with pytest.raises(RefusedError, match=f"{name} cannot be loaded: ModuleNotFoundError: No module named 'x'"):
        watchdog.load_all()


def test_what_no_deadline_needs_is_not_loaded() -> None:
    code = "import sys; from app.core.changes import watchdog; watchdog.load_all(); print(*sys.modules)"
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "backends.vendors.zfs.backend" in loaded, done.stderr
    unwanted = (
        "backends.simulator.",
        "backends.testing.",
        "backends.system.recorded",
        "backends.system.streams",
        "pytest",
    )
    assert [name for name in sorted(loaded) if name.startswith(unwanted)] == []


async def test_a_device_whose_vendor_is_gone_is_not_on_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, until = Trial(tmp_path), boot_clock() + 60
    bench.journal.write_intent("c1", bench.folder, planned("128", "256"), until=until)
    with_backend(monkeypatch, None)
    with pytest.raises(NotFoundError, match="No backend is named fake"):
        await watchdog.rehearse(paths(tmp_path), str(bench.folder), until)


class Unusable:
    """A backend that sets nothing, as where its module cannot be used."""


async def test_a_device_that_the_watchdog_cannot_set_is_not_on_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, until = Trial(tmp_path), boot_clock() + 60
    bench.journal.write_intent("c1", bench.folder, planned("128", "256"), until=until)
    with_backend(monkeypatch, Unusable())
    with pytest.raises(NotFoundError, match="has no settings"):
        await watchdog.rehearse(paths(tmp_path), str(bench.folder), until)


@pytest.mark.parametrize("other", ["session", "deadline"])
async def test_a_watchdog_that_does_not_see_its_trial_in_the_journal_is_not_armed(tmp_path: Path, other: str) -> None:
    bench, until = Trial(tmp_path), boot_clock() + 60
    bench.journal.write_intent("c1", bench.folder, planned("128", "256"), until=until)
    session = "/elsewhere" if other == "session" else str(bench.folder)
    with pytest.raises(RefusedError, match="found no trial in"):
        await watchdog.rehearse(paths(tmp_path), session, until + (other == "deadline"))


async def test_a_journal_that_the_watchdog_cannot_use_is_found_out(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("")
    with pytest.raises(StorageError, match="The journal cannot be written: Not a directory"):
        await watchdog.rehearse(paths(tmp_path), "", None)


# -- a rehearsal ------------------------------------------------------------------------------------------------------


async def test_a_rehearsal_is_a_watchdog_that_ends_and_leaves_nothing(tmp_path: Path) -> None:
    await rehearse(paths(tmp_path / "state"))
    assert list(tmp_path.iterdir()) == []


async def test_a_rehearsal_tells_what_the_real_watchdog_cannot_use(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("")
    with pytest.raises(StorageError, match="The journal cannot be written: Not a directory") as refused:
        await rehearse(paths(tmp_path))
    assert refused.value.hint.startswith("Free disk space, or correct the permissions of")


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a watchdog does, in order."""
    steps: list[str] = []

    async def rehearse(*_: object) -> dict[str, object]:
        steps.append("rehearsed")
        return {}

    async def watch(_paths: object, session: str, until: float, _found: object) -> str:
        steps.append(f"watches {session} until {until}")
        return "kept"

    monkeypatch.setattr(watchdog, "load_all", lambda _packages: steps.append("loaded"))
    monkeypatch.setattr(watchdog, "rehearse", rehearse)
    monkeypatch.setattr(watchdog, "watch", watch)
    monkeypatch.setattr(watchdog, "_answer", lambda answer: steps.append(json.dumps(answer)))
    return steps


async def test_a_watchdog_is_armed_when_all_is_loaded_and_rehearsed(tmp_path: Path, done: list[str]) -> None:
    await watchdog._serve(paths(tmp_path), SESSION, UNTIL)
    assert done == ["loaded", "rehearsed", ARMED, f"watches {SESSION} until {UNTIL}"]


async def test_a_watchdog_without_a_deadline_watches_nothing(tmp_path: Path, done: list[str]) -> None:
    await watchdog._serve(paths(tmp_path), "", None)
    assert done == ["loaded", "rehearsed", ARMED]


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (BlockedError("It is rebuilding.", hint="Wait."), "BlockedError", "It is rebuilding."),
        (KeyError("x"), "RefusedError", "KeyError: 'x'"),
    ],
)
async def test_a_watchdog_that_cannot_be_armed_says_why_and_watches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: list[str], error: Exception, kind: str, message: str
) -> None:
    async def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(watchdog, "rehearse", fails)
    await watchdog._serve(paths(tmp_path), SESSION, UNTIL)
    first, answer = done
    said = json.loads(answer)
    assert first == "loaded"
    assert (said["error"]["kind"], said["error"]["message"]) == (kind, message)


@pytest.mark.parametrize(
    ("words", "child", "watches"),
    [([STAY], 7, True), ([], 7, False), ([], 0, True)],
    ids=["kept by a unit", "whoever was started", "its child"],
)
def test_a_watchdog_stays_alone_and_deaf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: list[str], words: list[str], child: int, watches: bool
) -> None:
    deaf: dict[int, object] = {}
    order: dict[str, object] = {name: str(tmp_path / name) for name in ("sessions", "journal", "locks", "config")}
    order["apart"] = ""
    order |= {"session": SESSION, "until": UNTIL}
    monkeypatch.setattr(signal, "signal", deaf.setdefault)  # the loop would set its own afterwards
    monkeypatch.setattr(watchdog, "restrict_umask", lambda: None)
    monkeypatch.setattr(sys, "argv", ["watchdog", *words])
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(order) + "\n"))
    monkeypatch.setattr(os, "fork", lambda: child)
    status = watchdog.main()
    assert status == 0
    ends = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)
    assert {number: deaf.get(number) for number in ends} == dict.fromkeys(ends, signal.SIG_IGN)
    assert (f"watches {SESSION} until {UNTIL}" in done) is watches
