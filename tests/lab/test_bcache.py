"""bcache for real: what raidbench sets, the kernel's own files and fio tell independently."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from backends.change import ChangeStep
from backends.device_label import LENGTH
from backends.errors import InvalidValueError
from backends.model import Scope, Target
from backends.system.local import LocalHost
from backends.vendors.bcache.backend import Bcache
from tests.lab.disks import Disk
from tests.lab.making import Dm, Made, bcache_device
from tests.lab.results import Results
from tests.lab.running import Outcome, run

pytestmark = pytest.mark.vendors("block", "bcache")

BCACHE0 = Target(backend="bcache", address="bcache0", scope=Scope.ARRAY)
ON = "sata0 behind nvme0"

SETTINGS = [
    ("cache_mode", "write-around", "bcache/cache_mode", "writearound"),
    ("sequential_cutoff", "65536", "bcache/sequential_cutoff", "64.0k"),
    ("writeback_percent", "40", "bcache/writeback_percent", "40"),
    ("writeback_delay", "0", "bcache/writeback_delay", "0"),
    ("writeback_running", "off", "bcache/writeback_running", "0"),
    ("writeback_rate_minimum", "4096", "bcache/writeback_rate_minimum", "4096"),
    ("writeback_rate_update_seconds", "60", "bcache/writeback_rate_update_seconds", "60"),
    ("readahead_cache_policy", "meta-only", "bcache/readahead_cache_policy", "meta-only"),
    ("congested_read_threshold_us", "0", "bcache/cache/congested_read_threshold_us", "0"),
    ("congested_write_threshold_us", "0", "bcache/cache/congested_write_threshold_us", "0"),
    ("cache_replacement_policy", "random", "bcache/cache/cache0/cache_replacement_policy", "random"),
]
"""Key, value, the kernel's file and its word for that value."""

Blank = Callable[..., tuple[Disk, ...]]


@pytest.fixture
def made(blank: Blank, stack: ExitStack) -> Made:
    """A SATA disk behind an NVMe drive."""
    back, cache = blank("sata0", "nvme0")
    return stack.enter_context(bcache_device(back.device, cache.device))


@pytest.fixture
def busy(made: Made) -> Iterator[subprocess.Popen[str]]:
    """fio writes and reads it for as long as the test takes."""
    words = ("--name=lab", f"--filename={made.device}", "--rw=randrw", "--bs=4k", "--direct=1", "--ioengine=psync")
    more = ("--time_based", "--runtime=600", "--size=16m", "--rate_iops=20", "--thread", "--output-format=json")
    with subprocess.Popen(["fio", *words, *more], stdout=subprocess.PIPE, text=True) as process:
        yield process
        with suppress(ProcessLookupError):
            process.kill()


def seen(made: Made, path: str) -> str:
    """The kernel's word: that in brackets where there are several."""
    text = made.read(path)
    return text.partition("[")[2].partition("]")[0] or text


async def test_every_setting_is_set_and_taken_back_under_load(
    workbench: Workbench, made: Made, busy: subprocess.Popen[str], table: Results
) -> None:
    for key, value, path, expected in SETTINGS:
        before = seen(made, path)
        ended = await workbench.changes.apply(await workbench.hardware.plan(BCACHE0, key, value))
        assert ended.result == "verified", ended.message
        after = seen(made, path)
        undone = await workbench.changes.undo(ended.id)
        assert undone.result == "verified", undone.message
        assert table.setting(
            backend="bcache",
            on=ON,
            setting=key,
            before=before,
            after=expected,
            read_back=after,
            undone=seen(made, path),
        )
    busy.send_signal(signal.SIGINT)
    said = busy.communicate(timeout=120)[0]  # of the signal before its figures
    (job,) = json.loads(said[said.index("{") :])["jobs"]
    assert (job["error"], job["write"]["total_ios"] > 0, job["read"]["total_ios"] > 0) == (0, True, True)


async def test_a_share_that_the_kernel_cuts_is_told(workbench: Workbench, made: Made, table: Results) -> None:
    with pytest.raises(InvalidValueError, match="would be 40, not 200"):
        await workbench.hardware.plan(BCACHE0, "writeback_percent", "200")
    change = await workbench.hardware.plan(BCACHE0, "writeback_percent", "40")
    write = ChangeStep(path=change.writes[0].path, text="200")
    ended = await workbench.changes.apply(replace(change, after="200", writes=(write,)))
    told = f"{ended.result}: {ended.now}, not 200" if "reads 40 after 200" in ended.message else ended.message
    assert table.add("Faults", "writeback_percent=200, cut by the kernel", "the change", told, ok=ended.now == "40")
    assert ended.result == "differs"


async def test_the_kernel_refuses_the_size_that_it_tells(made: Made, table: Results) -> None:
    told = made.read("bcache/sequential_cutoff")
    with pytest.raises(OSError, match="Invalid argument"):
        made.write("bcache/sequential_cutoff", told)
    assert table.add("Machine", "bcache", "sequential_cutoff as it is read", f"{told}: Invalid argument", ok=True)


def test_what_a_killed_raidbench_had_set_is_put_back(
    raidbench: Callable[..., Outcome], state: Path, made: Made, table: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (child := os.fork()) == 0:
        write = LocalHost.write

        async def write_and_die(host: LocalHost, path: str, text: str) -> None:
            await write(host, path, text)
            os.kill(os.getpid(), signal.SIGKILL)

        monkeypatch.setattr(LocalHost, "write", write_and_die)
        raidbench("set", str(BCACHE0), "sequential_cutoff=1048576", "--yes")
        os._exit(7)
    status = os.waitpid(child, 0)[1]
    assert os.WTERMSIG(status) == signal.SIGKILL
    left = made.read("bcache/sequential_cutoff")
    recovered = raidbench("recover", "--restore")
    told = f"{left}, then {recovered.status}, {made.read('bcache/sequential_cutoff')}"
    assert table.add(
        "Faults", "raidbench is killed when sequential_cutoff was set", "recover", told, ok=told == "1.0M, then 0, 4.0M"
    ), recovered


@pytest.mark.seconds(400)
def test_write_back_is_faster_than_a_slow_disk(
    raidbench: Callable[..., Outcome],
    state: Path,
    blank: Blank,
    dm: Callable[[str], Dm],
    stack: ExitStack,
    table: Results,
) -> None:
    back, cache = blank("sata0", "nvme0")
    slow = dm(f"0 {back.read('size')} delay {back.device} 0 50")
    made = stack.enter_context(bcache_device(slow.device, cache.device))
    word = made.read("bcache/backing_dev_uuid")[-LENGTH:]
    load = ("--rw", "randwrite", "--bs", "4k", "--iodepth", "1", "--runtime", "1", "--ramp", "0", "--size", "4M")
    more = ("--pairs", "1", "--yes", "--confirm", word, "--json")
    done = raidbench("ab", str(BCACHE0), "cache_mode=write-back", *load, *more)
    assert done.status == 0, done
    experiment = done.json["experiment"]
    percent = next(one["percent"] for one in experiment["figures"] if one["headline"])
    told = f"write-back {'is more than twice as fast' if percent > 100 else f'{percent} %'}"
    seen_now = f"{told}; then {seen(made, 'bcache/cache_mode')}"
    wanted = "write-back is more than twice as fast; then writethrough"
    assert table.add("Arrays", "bcache", "write-through against write-back", seen_now, ok=seen_now == wanted)


async def test_without_a_cache_only_the_mode_can_be_set(blank: Blank, stack: ExitStack, table: Results) -> None:
    (back,) = blank("sata0")
    made = stack.enter_context(bcache_device(back.device))
    readings = {**await Bcache(LocalHost()).read(BCACHE0)}
    mode = readings.pop("cache_mode")
    blocked = {one.availability.why_not for one in readings.values()}
    told = f"{made.read('bcache/state')}: mode in force {mode.effective}, all else: {', '.join(map(str, blocked))}"
    wanted = "no cache: mode in force none, all else: no cache is attached"
    assert table.add("Arrays", "bcache", "without a cache", told, ok=told == wanted)


async def test_a_rule_sets_what_a_reboot_takes_away(
    workbench: Workbench, udev: None, blank: Blank, table: Results
) -> None:
    back, cache = blank("sata0", "nvme0")
    values = {"sequential_cutoff": "0", "writeback_percent": "5"}
    with bcache_device(back.device, cache.device) as made:
        rule = (await workbench.keeping.plan_rules(BCACHE0, values))[0].rule
        await workbench.keeping.install_rule(BCACHE0, rule, values)
        before = made.read("bcache/sequential_cutoff")
    with bcache_device(back.device, cache.device, new=False) as made:
        run("udevadm", "settle", "--timeout=60")
        after = ", ".join(made.read(f"bcache/{key}") for key in values)
    Path(rule.path).unlink()
    assert table.setting(
        backend="bcache",
        on=ON,
        setting="sequential_cutoff and writeback_percent, kept by udev",
        before=before,
        after="0.0k, 5",
        read_back=after,
        undone="-",
        ok=after == "0.0k, 5",
    )
