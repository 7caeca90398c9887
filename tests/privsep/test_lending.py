"""What the helper lends for reading: no descriptor of data that are in use under another name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from app.privsep import device_claims
from app.privsep.device_claims import DeviceClaims
from backends import guard
from backends.exclusive_open import DeviceClaim
from backends.guard import Intent, judge_device
from backends.host import FileStat
from tests.backends.fakes import FakeHost
from tests.backends.topology.test_clones import ISCSI, SATA, pair
from tests.backends.topology.test_exports import fabrics, host_of, nvmet


@pytest.fixture(autouse=True)
def openable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything can be opened for oneself alone, and nothing be read past the cache."""
    monkeypatch.setattr(guard, "claim_on", lambda _host: lambda _device, _devno: None)
    monkeypatch.setattr(guard, "marks_on", lambda _host: None)


def opened(device: str) -> FakeHost:
    """A copy that is free but for a program that has a character device of it open."""
    host = pair()
    host.files |= {f"/sys/block/{device}/device/bsg/2:0:0:0/dev": "248:1", "/proc/7/task/7/fd/3": ""}
    host.stats["/proc/7/task/7/fd/3"] = FileStat(kind="char", size=0, devno="248:1")
    return host


IN_USE: Mapping[str, tuple[FakeHost, str]] = {
    "imported from this machine": (host_of(nvmet("/dev/sdb"), fabrics()), "/dev/nvme4n1"),
    "imported from this machine, which does not report what": (
        host_of(fabrics(address="traddr=127.0.0.1")),
        "/dev/nvme4n1",
    ),
    "remote, with the content of what is mounted": (pair(SATA, ISCSI), "/dev/sdl"),
    "its bsg node open in a program": (opened("sdl"), "/dev/sdl"),
}


async def is_lent(host: FakeHost, device: str, config: Path) -> bool:
    facts, _ = await judge_device(host, device, Intent.READ)
    assert facts.identity is not None
    helper = DeviceClaims(host, 0, config)  # type: ignore[arg-type]
    return await helper._may_lend(DeviceClaim(device, facts.identity, write=False))


@pytest.mark.parametrize(("host", "device"), IN_USE.values(), ids=IN_USE)
async def test_what_is_in_use_under_another_name_is_not_lent(host: FakeHost, device: str, tmp_path: Path) -> None:
    assert not await is_lent(host, device, tmp_path / "none")


@pytest.mark.parametrize(("host", "device"), IN_USE.values(), ids=IN_USE)
async def test_roots_configuration_alone_allows_it(
    host: FakeHost, device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_claims, "may_lend_in_use", lambda config: config == tmp_path / "roots")
    assert [await is_lent(host, device, tmp_path / name) for name in ("roots", "another")] == [True, False]


async def test_a_proven_copy_of_what_is_mounted_is_lent(tmp_path: Path) -> None:
    assert await is_lent(pair(), "/dev/sdl", tmp_path / "none")
