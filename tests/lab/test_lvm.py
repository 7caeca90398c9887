"""Logical volumes of real LVM on real drives: every kind found, settings changed and taken back, flushes waited for."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from backends.model import Level, Scope, Target
from backends.settings import Effect
from tests.lab.disks import Disk, Disks, wait_until
from tests.lab.making import Dm, dm_node, dm_target
from tests.lab.results import Results
from tests.lab.running import ROOT, Outcome, run

pytestmark = pytest.mark.vendors("block", "lvm")

GROUP = "labvg"
SLOW = "nvme3"
"""The drive beneath a delay."""


def delay(milliseconds: int) -> str:
    """The table of a drive whose writes take so long; its beginning is left out, or LVM would find its label twice."""
    device = Disks()[SLOW].device
    return f"0 {200 * 2048} delay {device} 2048 0 {device} 2048 {milliseconds}"


@pytest.fixture(scope="module")
def slow() -> Iterator[Dm]:
    """A drive that can be made slow."""
    Disks()[SLOW].wipe()
    with dm_target(delay(0)) as made:
        yield made
    Disks()[SLOW].wipe()


@pytest.fixture(scope="module")
def volumes(slow: Dm) -> Iterator[None]:
    """A group of four drives with a volume of each kind; the slow parts of both caches are on the slow drive."""
    # LVM gets a clean environment from raidbench, as all programs do: what is set there for the laboratory is not
    own = Path(os.environ["LVM_SYSTEM_DIR"], "lvm.conf").read_text()
    Path("/etc/lvm").mkdir(exist_ok=True)
    Path("/etc/lvm/lvm.conf").write_text(own)
    os.environ["LVM_SUPPRESS_FD_WARNINGS"] = "1"
    run("modprobe", "-a", "dm-cache", "dm-cache-smq", "dm-writecache", "dm-raid", "dm-thin-pool")
    fast: list[Disk] = [Disks()[f"nvme{at}"] for at in range(3)]
    for disk in fast:
        disk.wipe()
    one, two, three = (disk.device for disk in fast)
    run("pvcreate", "--yes", "--pvmetadatacopies=0", slow.device)  # LVM's own writes are not to wait
    run("vgcreate", "--yes", "--physicalextentsize=1M", GROUP, one, two, three, slow.device)
    plain = ("--yes", "--zero=n", "--wipesignatures=n")
    for name, words in {
        "linear": ("--size=8M", one),
        "s16": ("--size=16M", "--stripes=2", "--stripesize=16k", one, two),
        "s64": ("--size=16M", "--stripes=2", "--stripesize=64k", one, two),
        "s256": ("--size=16M", "--stripes=2", "--stripesize=256k", one, two),
        "mirror": ("--size=8M", "--type=raid1", "--mirrors=1", "--nosync", one, two),
        "parity": ("--size=24M", "--type=raid5", "--stripes=2", "--stripesize=64k", "--nosync", one, two, three),
        "db": ("--size=24M", slow.device),
        "mail": ("--size=24M", slow.device),
        "fastdb": ("--size=8M", "--activate=n", three),
        "fastmail": ("--size=20M", "--activate=n", three),
    }.items():
        sizes = [word for word in words if word.startswith("--")]
        nodes = [word for word in words if not word.startswith("--")]
        run("lvcreate", *plain, *sizes, "--name", name, GROUP, *nodes)
    run("lvcreate", "--yes", "--type=thin-pool", "--size=8M", "--zero=n", "--name=pool", GROUP)
    run("lvcreate", "--yes", "--thin", "--virtualsize=16M", "--name=thin", f"{GROUP}/pool")
    run("lvconvert", "--yes", "--type=writecache", "--cachevol=fastdb", f"{GROUP}/db")
    run("lvconvert", "--yes", "--type=cache", "--cachevol=fastmail", "--cachemode=writethrough", f"{GROUP}/mail")
    yield
    run("lvchange", "--cachemode", "writethrough", f"{GROUP}/mail")
    run("vgremove", "--yes", "--force", GROUP)
    run("pvremove", "--yes", one, two, three, slow.device)


def target(name: str) -> Target:
    return Target(backend="lvm", address=f"{GROUP}/{name}", scope=Scope.ARRAY)


def told(name: str, column: str) -> str:
    """A column of lvs."""
    return run("lvs", "--noheadings", "--units=b", "--nosuffix", "-o", column, f"{GROUP}/{name}").strip()


def table_of(name: str) -> str:
    """What the kernel has."""
    return run("dmsetup", "table", f"{GROUP}-{name}").strip()


def loaded(word: str, default: str = "-") -> Callable[[str], str]:
    """What follows a word in the kernel's table."""

    def look(name: str) -> str:
        words = table_of(name).split()
        return words[words.index(word) + 1] if word in words else default

    return look


def mode(name: str) -> str:
    """LVM's and the kernel's."""
    return f"{told(name, 'cache_mode')}, kernel {table_of(name).split()[9]}"


def migration(name: str) -> str:
    return told(name, "kernel_cache_settings").split(",")[0].partition("=")[2]


def ahead(name: str) -> str:
    return run("blockdev", "--getra", dm_node(f"{GROUP}-{name}")).strip()


def cleaning(name: str) -> str:
    return "on" if "cleaner" in table_of(name).split() else "off"


def spared(name: str) -> str:
    rows = run("lvs", "-a", "--noheadings", "-o", "lv_name,lv_attr", GROUP).splitlines()
    return next(row.split()[1][8] for row in rows if f"{name}_rimage_1" in row)


async def test_a_volume_of_each_kind_is_found_with_the_disks_that_it_lies_on(
    workbench: Workbench, volumes: None, disks: Disks, table: Results, slow: Dm
) -> None:
    found = await workbench.hardware.probe()
    names = {str(Target(backend="block", address=disks[f"nvme{at}"].kernel)): f"nvme{at}" for at in range(4)}
    seen = {
        one.name: (one.level, sorted(names[str(member)] for member in one.members))
        for one in found.arrays
        if one.target.backend == "lvm"
    }
    expected = {
        "linear": (Level.CONCAT, ["nvme0"]),
        **dict.fromkeys(("s16", "s64", "s256"), (Level.RAID0, ["nvme0", "nvme1"])),
        "mirror": (Level.RAID1, ["nvme0", "nvme1"]),
        "parity": (Level.RAID5, ["nvme0", "nvme1", "nvme2"]),
        **dict.fromkeys(("db", "mail"), (Level.CACHED, ["nvme2", "nvme3"])),
    }
    for name, one in expected.items():
        assert seen[f"{GROUP}/{name}"] == one, name
    pool = {f"{GROUP}/pool", f"{GROUP}/thin"}
    kinds = "linear, striped, raid1, raid5, cache, writecache, thin, thin pool"
    ok = set(seen) == {f"{GROUP}/{name}" for name in expected} | pool
    assert table.add("Arrays", "LVM", "volumes of each kind, with their disks", kinds, ok=ok)
    assert {one.state.value for one in found.arrays} == {"optimal"}
    assert not [one for one in found.problems if one.where == "lvm"]


CHANGES: dict[str, tuple[str, str, str, str, Callable[[str], str]]] = {
    "cache_mode": ("cache", "mail", "write-back", "writeback, kernel writeback", mode),
    "migration_threshold": ("cache", "mail", "4096", "4096", migration),
    "high_watermark": ("writecache", "db", "70", "70", loaded("high_watermark")),
    "low_watermark": ("writecache", "db", "10", "10", loaded("low_watermark")),
    "writeback_jobs": ("writecache", "db", "64", "64", loaded("writeback_jobs")),
    "autocommit_blocks": ("writecache", "db", "1024", "1024", loaded("autocommit_blocks")),
    "autocommit_time": ("writecache", "db", "500", "500", loaded("autocommit_time")),
    "cleaner": ("writecache", "db", "on", "on", cleaning),
    "lv_read_ahead": ("linear", "linear", "1024", "2048", ahead),
    "min_recovery_rate": ("raid5", "parity", "5000", "5000", loaded("min_recovery_rate")),
    "max_recovery_rate": ("raid1", "mirror", "50000", "50000", loaded("max_recovery_rate")),
    "write_mostly": ("raid1", "mirror", "on", "w", spared),
}
"""By key: the kind, the volume, the value, how that reads elsewhere, and where."""


@pytest.mark.parametrize("key", CHANGES)
async def test_a_setting_is_changed_in_the_kernel_and_taken_back(
    workbench: Workbench, volumes: None, disks: Disks, table: Results, key: str
) -> None:
    kind, name, value, after, look = CHANGES[key]
    own = f"{key}.{disks['nvme1'].kernel}" if key == "write_mostly" else key
    before = look(name)
    ended = await workbench.changes.apply(await workbench.hardware.plan(target(name), own, value))
    assert ended.result == "verified", ended.message
    seen = look(name)
    undone = await workbench.changes.undo(ended.id)
    assert undone.result == "verified", undone.message
    assert table.setting(
        backend="lvm", on=kind, setting=key, before=before, after=after, read_back=seen, undone=look(name)
    )


async def test_write_behind_is_kept_and_not_in_force(workbench: Workbench, volumes: None, table: Results) -> None:
    ended = await workbench.changes.apply(await workbench.hardware.plan(target("mirror"), "write_behind", "256"))
    assert ended.result == "verified", ended.message
    reading = (await workbench.hardware.read(target("mirror")))["write_behind"]
    seen = f"{reading.now}, in force {reading.effective}"
    assert told("mirror", "raid_write_behind") == "256"
    await workbench.changes.undo(ended.id)
    assert table.setting(
        backend="lvm", on="raid1", setting="write_behind", before="none", after="256, in force 0",
        read_back=seen, undone=told("mirror", "raid_write_behind") or "none",
    )  # fmt: skip


async def test_what_the_kernel_refuses_is_a_failure_whatever_was_said(workbench: Workbench, volumes: None) -> None:
    plan = await workbench.hardware.plan(target("db"), "low_watermark", "50")
    run("lvchange", "--cachesettings", "high_watermark=46", f"{GROUP}/db")
    ended = await workbench.changes.apply(plan)
    run("lvchange", "--yes", "--cachesettings", "", f"{GROUP}/db")
    assert (ended.result, ended.now) == ("failed", "default")
    assert "Invalid argument" in (ended.message or "")


def digest(name: str) -> str:
    node = dm_node(f"{GROUP}-{name}")
    run("blockdev", "--flushbufs", node)
    with open(node, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def idle() -> bool:
    return told("parity", "raid_sync_action") == "idle"


@pytest.mark.seconds(400)
async def test_data_stay_the_same_over_a_reshape_of_the_stripes_and_back(
    workbench: Workbench, volumes: None, table: Results
) -> None:
    run("dd", "if=/dev/urandom", f"of={dm_node(f'{GROUP}-parity')}", "bs=1M", "oflag=direct", status=None)
    data = digest("parity")
    plan = await workbench.hardware.plan(target("parity"), "stripe_size", "131072")
    assert plan.effect is Effect.RESHAPE
    ended = await workbench.changes.apply(plan)
    assert ended.result == "verified", ended.message
    wait_until(idle, "the reshape is over", 120)
    moved, seen = digest("parity"), told("parity", "stripe_size")
    undone = await workbench.changes.undo(ended.id)
    assert undone.result == "verified", undone.message
    wait_until(idle, "the way back is over", 120)
    assert table.setting(
        backend="lvm", on="raid5", setting="stripe_size, reshape", before="65536", after="131072",
        read_back=seen, undone=told("parity", "stripe_size"),
    )  # fmt: skip
    assert (moved, digest("parity")) == (data, data)


def load(name: str, *words: str) -> subprocess.Popen[str]:
    """A real fio on a volume."""
    return subprocess.Popen(
        ["fio", "--name=load", f"--filename={dm_node(f'{GROUP}-{name}')}", "--ioengine=libaio", "--thread",
         "--output-format=json", "--eta=never", *words],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended_well(fio: subprocess.Popen[str]) -> bool:
    said, _ = fio.communicate(timeout=120)
    job = json.loads(said[said.index("{") :])["jobs"][0]
    return bool(job["error"] == 0 and job["write"]["total_ios"] > 0)


@pytest.mark.seconds(400)
async def test_the_mode_is_changed_and_taken_back_under_load(
    workbench: Workbench, volumes: None, table: Results
) -> None:
    fio = load("mail", "--rw=randwrite", "--bs=4k", "--iodepth=4", "--direct=1", "--time_based", "--runtime=600")
    ended = await workbench.changes.apply(await workbench.hardware.plan(target("mail"), "cache_mode", "write-back"))
    during = mode("mail"), fio.poll()
    undone = await workbench.changes.undo(ended.id)
    fio.send_signal(signal.SIGINT)
    ok = ended_well(fio) and (ended.result, undone.result) == ("verified", "verified")
    assert during == ("writeback, kernel writeback", None)
    assert mode("mail") == "writethrough, kernel writethrough"
    assert table.add("Arrays", "LVM, cache", "mode changed and taken back under a load", "fio without an error", ok=ok)


@contextmanager
def dirty(slow: Dm) -> Iterator[None]:
    """The cache has blocks that the slow drive has not, and each of them takes long to get there: smq begins by itself
    when nothing was written for a second."""
    fio = load(
        "mail", "--rw=write", "--bs=64k", "--iodepth=8", "--direct=1", "--size=12M", "--time_based", "--runtime=600"
    )
    try:
        wait_until(lambda: int(told("mail", "cache_dirty_blocks")) > 64, "the cache is dirty", 150)
        slow.load(delay(20_000))
    finally:
        fio.kill()
        fio.communicate()
    try:
        yield
    finally:
        slow.load(delay(0))


def flushing() -> bool:
    """Whether LVM has loaded the policy for it."""
    return "cleaner" in table_of("mail").split()


def raidbench_process(*words: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "app", *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.seconds(500)
def test_a_program_killed_in_a_flush_leaves_it_to_its_end_and_recover_puts_the_mode_back(
    raidbench: Callable[..., Outcome], volumes: None, slow: Dm, table: Results
) -> None:
    run("lvchange", "--yes", "--cachemode", "writeback", f"{GROUP}/mail")
    with dirty(slow):
        killed = raidbench_process("set", str(target("mail")), "cache_mode=write-through", "--yes")
        wait_until(lambda: killed.poll() is not None or flushing(), "the flush is under way", 150)
        killed.kill()
        out, _ = killed.communicate()
        assert flushing(), out
    wait_until(lambda: not run("pgrep", "-x", "lvchange", status=None).strip(), "LVM comes to its end", 120)
    assert mode("mail") == "writethrough, kernel writethrough", out
    recovered = raidbench("recover", "--restore")
    after = mode("mail")
    run("lvchange", "--cachemode", "writethrough", f"{GROUP}/mail")
    ok = recovered.status == 0 and after == "writeback, kernel writeback"
    row = ("LVM, raidbench killed in a flush", "recover", "the flush ended, then the old mode is back")
    assert table.add("Faults", *row, ok=ok), (recovered, after)


STRIPES = """
[targets]
small = ""
middle = ""
large = ""
[measure]
target = "small"
repeats = 1
pairs = 0
rest = 0
[job]
rw = "read"
bs = "256k"
runtime = "1s"
ramp = "0s"
[[setup]]
name = "16 KiB"
measure = "small"
[[setup]]
name = "64 KiB"
measure = "middle"
[[setup]]
name = "256 KiB"
measure = "large"
"""


@pytest.mark.seconds(600)
def test_stripe_sizes_of_new_volumes_are_swept(
    raidbench: Callable[..., Outcome], volumes: None, tmp_path: Path, table: Results
) -> None:
    plan = tmp_path / "stripes.toml"
    plan.write_text(STRIPES)
    roles = [f"{role}={target(name)}" for role, name in (("small", "s16"), ("middle", "s64"), ("large", "s256"))]
    words = [word for role in roles for word in ("--target", role)]
    done = raidbench("sweep", str(plan), *words, "--yes", "--json")
    assert done.status == 0, done
    cells = [cell["runs"] for cell in done.json["sweep"]["cells"]]
    seen = f"{len(cells)} cells"
    assert table.add("Arrays", "LVM, striped", "sweep of stripe sizes of new volumes", seen, ok=cells == [1, 1, 1])
