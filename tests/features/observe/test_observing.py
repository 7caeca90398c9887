"""What a disk did and who waited, from counters that move in a known way."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.features.observe.observer import Observation
from app.features.observe.presentation import next_step, observation_json, observation_lines
from app.features.observe.waiting import parse_pressure, unit_names
from backends.errors import NotFoundError, RefusedError
from tests.core.benchmark.device_stats.machines import array
from tests.features.observe.machines import DISKSTATS, FLUSHER, HYBRID, MOUNT, PRESSURE, READER, Moving, closed

POSTGRES, BACKUP = "system.slice/postgresql.service", "system.slice/backup.service"


def said(seen: Observation) -> str:
    return "\n".join(observation_lines(seen))


async def test_rates_sizes_latencies_depth_and_busy_time_are_those_of_the_counters() -> None:
    seen = await Moving("sda").observe("sda", {"sda": READER}, {"": 0.5})
    assert said(seen).startswith(
        "sda, 10 s: reads 820/s of 11.5 KiB (1.59 ms), writes 0/s, no flushes, busy 73 %, 3.60 in flight. Bursts: no"
    )


async def test_writes_are_a_range_because_a_flush_counts_as_a_write() -> None:
    seen = await Moving("sda").observe("sda", {"sda": FLUSHER}, {"": 0.5})
    assert "writes 142 to 284/s of 4 KiB to 8 KiB (1.41 ms), 142 flushes/s (2.61 ms)" in said(seen)


async def test_without_flushes_writes_are_one_number() -> None:
    seen = await Moving("sda").observe("sda", {"sda": {"writes": 10, "sectors_written": 80}}, {"": 0.5})
    assert "writes 100/s of 4 KiB, no flushes" in said(seen)


async def test_a_kernel_that_does_not_count_flushes_has_no_number_of_them() -> None:
    moving = Moving("sda")
    moving.fields = 15
    seen = await moving.observe("sda", {"sda": READER}, {"": 0.5})
    assert "flushes not known (Linux before 5.5 does not count them)" in said(seen)
    assert observation_json(seen)["target"]["flush_iops"] is None


async def test_rates_of_a_simulated_host_are_those_of_its_own_time() -> None:
    moving = Moving("sda")
    moving.host.reached = replace(moving.host.reached, counted=lambda: moving.now * 10)
    seen = await moving.observe("sda", {"sda": READER}, {"": 0.5})
    assert said(seen).startswith("sda, 10 s: reads 82.0/s")


async def test_readings_that_come_late_do_not_look_like_bursts() -> None:
    moving = Moving("sda")
    observer = moving.observer("sda")
    await observer.open()
    for number in range(200):
        seconds = 1.5 if number % 10 == 0 else 0.1
        moving.step({"sda": {"reads": 1000 * seconds}}, {}, seconds)
        await observer.take()
    assert "Bursts: no (80 % of the I/Os in 80 % of the time)" in said(await closed(observer))


@pytest.mark.parametrize("mount", [MOUNT, HYBRID])
async def test_of_two_groups_the_one_that_flushes_is_named_with_its_own_pressure(mount: str) -> None:
    waits = {"": 0.6, "system.slice": 0.6, BACKUP: 0.56, POSTGRES: 0.08, "system.slice/idle.service": 0.004}
    seen = await Moving("sda", mount=mount).observe("sda", {"sda": FLUSHER}, waits)
    assert seen.waiting.units == pytest.approx({"backup.service": 0.56, "postgresql.service": 0.08}, abs=0.005)
    assert "Who waits: backup.service 56 %, postgresql.service 8.0 % of the time. Any process, on all" in said(seen)
    assert "Next: programs wait for flushes: sda does 142 flushes/s (2.61 ms), one is in flight 37 %" in said(seen)


async def test_at_most_five_units_are_named() -> None:
    waits = {"system.slice": 0.7} | {f"system.slice/s{number}.service": number / 10 for number in range(1, 8)}
    seen = await Moving("sda").observe("sda", {}, waits)
    assert list(seen.waiting.units or {}) == [f"s{number}.service" for number in (7, 6, 5, 4, 3)]


def test_units_are_named_as_a_whole_and_the_innermost_ones() -> None:
    groups = {
        "init.scope": "init.scope",
        "system.slice/docker.service/inner": None,
        "system.slice/docker.service": "docker.service",
        "system.slice": None,
        "user.slice/user-1000.slice/user@1000.service": None,
        "user.slice/user-1000.slice/user@1000.service/app.slice/firefox.service": "firefox.service",
        "user.slice/user-1001.slice/user@1001.service/app.slice/gvfs.service": "user.slice/user-1001.slice/user@1001"
        ".service/app.slice/gvfs.service",
        "user.slice/user-1002.slice/user@1002.service/app.slice/gvfs.service": "user.slice/user-1002.slice/user@1002"
        ".service/app.slice/gvfs.service",
        "jobs/nightly": "nightly",
        "jobs": None,
    }
    assert unit_names(groups) == {group: name for group, name in groups.items() if name is not None} | {
        group: group[-80:] if len(group) <= 80 else name for group, name in groups.items() if name and "gvfs" in name
    }


async def test_a_service_that_starts_or_restarts_meanwhile_counts_from_then_on() -> None:
    moving = Moving("sda")
    moving.step({}, {"": 0.0, "system.slice": 0.0, POSTGRES: 0.0})
    observer = moving.observer("sda")
    await observer.open()
    for number in range(100):
        if number == 50:
            moving.waits[POSTGRES] = moving.waits[BACKUP] = 0.0
        moving.step({}, {"": 0.5, POSTGRES: 0.2, **({BACKUP: 0.4} if number >= 50 else {})})
        await observer.take()
    units = (await closed(observer)).waiting.units
    assert units == pytest.approx({"postgresql.service": 0.2, "backup.service": 0.2}, abs=0.08)


async def test_a_total_that_no_time_explains_is_not_counted() -> None:
    """A group whose file could not be read at first has the waits of days."""
    moving = Moving("sda")
    moving.step({}, {"system.slice": 0.0})
    observer = moving.observer("sda")
    await observer.open()
    moving.waits[POSTGRES] = 9e12
    moving.step({}, {})
    assert (await closed(observer)).waiting.units == {}


REASONS = {
    "no PSI": ({}, {PRESSURE}, "not known: the kernel has no /proc/pressure/io (CONFIG_PSI"),
    "odd PSI": ({PRESSURE: "some avg10=x"}, set(), "not known: /proc/pressure/io is not as expected"),
    "no cgroup v2": ({"/proc/self/mountinfo": ""}, set(), "services not known: cgroup v2 is not mounted"),
    "container": ({f"{MOUNT}/cgroup.type": "domain"}, set(), "services not known: raidbench runs in a container"),
    "no groups": ({}, {f"{MOUNT}/{POSTGRES}/io.pressure"}, "services not known: no group of cgroup v2 has a file"),
}


@pytest.mark.parametrize("case", REASONS)
async def test_what_the_kernel_does_not_say_is_not_known_for_a_reason_and_never_zero(case: str) -> None:
    files, gone, reason = REASONS[case]
    moving = Moving("sda")
    moving.step({}, {"": 0.1, POSTGRES: 0.1})
    moving.host.files = {path: text for path, text in (moving.host.files | files).items() if path not in gone}
    observer = moving.observer("sda")
    await observer.open()
    moving.now += 5
    text = said(await closed(observer))
    assert reason in text
    assert "0 %" not in text.partition("Who waits")[2].partition("Next")[0] or "PSI" not in case
    assert ("Next: no advice" in text) == ("PSI" in case)


SLICE = "system.slice"


@pytest.mark.parametrize(
    ("closed_groups", "answer"),
    [
        ((BACKUP,), "postgresql.service 20 % of the time (others not known: this user cannot read io.pressure of 1 gr"),
        ((SLICE, BACKUP, POSTGRES), "services not known: this user cannot read io.pressure of 3 groups."),
    ],
)
async def test_groups_that_the_user_cannot_read_are_not_known_and_never_zero(
    closed_groups: tuple[str, ...], answer: str
) -> None:
    moving = Moving("sda")
    paths = (PRESSURE, *(f"{MOUNT}/{group}/io.pressure" for group in closed_groups))
    moving.host.links |= {path: path for path in paths}  # they are there, and cannot be read
    waits = {group: 0.2 for group in (SLICE, POSTGRES) if group not in closed_groups}
    text = said(await moving.observe("sda", {"sda": READER}, waits))
    assert f"Who waits: {answer}" in text
    assert "on all disks together: not known: this user cannot read /proc/pressure/io." in text
    assert "0 %" not in text.partition("Who waits")[2].replace("20 %", "")


async def test_a_group_that_ends_while_it_is_read_is_not_one_that_cannot_be_read() -> None:
    moving = Moving("sda")
    listed, path = moving.host.list, f"{MOUNT}/{POSTGRES}/io.pressure"

    async def ended(pattern: str) -> tuple[str, ...]:
        return (path,) if pattern.endswith("/*/*/io.pressure") else await listed(pattern)

    moving.host.list = ended  # type: ignore[method-assign]
    seen = await moving.observe("sda", {}, {"": 0.5, "system.slice": 0.1, BACKUP: 0.1})
    assert seen.waiting.units_reason == ""


async def test_a_device_that_disappears_is_not_known_from_then_on() -> None:
    moving = Moving("sda", "sdb")
    observer = moving.observer("sda")
    await observer.open()
    for _ in range(12):
        moving.step({"sda": READER}, {})
        await observer.take()
    del moving.counters["sda"]
    moving.step({}, {})
    await observer.take()
    assert said(await closed(observer)).startswith("sda, 1 s: not known: it disappeared after 1.20 s.\n")


async def test_a_disk_of_an_array_that_disappears_is_not_known_and_the_array_is() -> None:
    moving = raid()
    observer = moving.observer("md0")
    await observer.open()
    for _ in range(12):
        moving.step({"md0": READER, "sda": READER, "sdb": READER}, {})
        await observer.take()
    del moving.counters["sdb"]
    moving.step({"md0": READER, "sda": READER}, {})
    await observer.take()
    seen = await closed(observer)
    assert "reads 820/s" in observation_lines(seen)[0]
    assert "Below it: sda reads 820/s" in said(seen)
    assert "in flight, sdb not known: it disappeared after 1.20 s." in said(seen)
    lost = observation_json(seen)["others"][1]
    assert (lost["device"], lost["read_iops"], lost["bursts"]) == ("sdb", None, None)


async def test_counters_that_go_backwards_are_not_known() -> None:
    moving = Moving("sda")
    observer = moving.observer("sda")
    await observer.open()
    moving.step({"sda": {"reads": -900}}, {})
    await observer.take()
    assert "sda, 0 s: not known: its counters went backwards" in said(await closed(observer))


async def test_a_device_that_the_kernel_does_not_count_is_not_known() -> None:
    moving = Moving("sda", files={"/sys/block/sda/queue/iostats": "0"})
    seen = await moving.observe("sda", {"sda": READER}, {"": 0.5})
    assert "not known: the kernel does not count its I/O (queue/iostats is 0)." in said(seen)
    assert next_step(seen)[0] == "unknown"


def raid() -> Moving:
    """A mirror of two disks, and a third disk."""
    moving = Moving("md0", "sda", "sdb", "sdc", files={**array("md0", sda="in_sync", sdb="in_sync")})
    moving.host.files["/sys/block/md0/md/sync_action"] = "idle"
    return moving


async def test_an_array_shows_its_own_rates_and_those_of_its_disks() -> None:
    level = {"writes": 14, "sectors_written": 14 * 16, "busy": 40, "waited": 50}
    seen = await raid().observe("md0", {"md0": level, "sda": FLUSHER, "sdb": FLUSHER}, {"": 0.5})
    assert [other.device for other in seen.others] == ["sda", "sdb"]
    assert "flushes not known (only disks below it count them)" in said(seen)
    assert "The disks below it (sda, sdb) can differ." in said(seen)
    assert "Below it: sda reads 0/s, writes 142 to 284/s of 4 KiB to 8 KiB (1.41 ms), 142 flushes/s" in said(seen)
    assert (seen.busy_share, next_step(seen)[0]) == (1.0, "flushes")


async def test_an_array_is_not_blamed_for_what_another_disk_does() -> None:
    seen = await raid().observe("md0", {"md0": READER, "sda": READER, "sdc": READER}, {"": 0.5})
    assert (seen.busy_share, next_step(seen)[0]) == (0.5, "elsewhere")
    assert "the disks below md0 have 50 % of the busy time of all disks" in said(seen)


async def test_without_a_target_the_busiest_disk_is_described_and_the_others_are_listed() -> None:
    seen = await raid().observe(None, {"md0": READER, "sdb": READER, "sdc": FLUSHER}, {"": 0.5})
    assert (seen.target.device, [other.device for other in seen.others]) == ("sdb", ["sdc", "sda"])
    assert "Other disks: sdc reads 0/s" in said(seen)
    assert (next_step(seen)[0], "`raidbench observe`" in said(seen)) == ("elsewhere", False)
    assert "sda no I/O" not in said(seen)


SMALL = {"reads": 500, "sectors_read": 4000, "read_ms": 600, "busy": 100, "waited": 1200}
LARGE = {"reads": 5, "sectors_read": 5120, "read_ms": 40, "busy": 100, "waited": 200}


@pytest.mark.parametrize(
    ("work", "waits", "action", "rule", "figure"),
    [
        (FLUSHER, 0.004, "idle", "none", "processes wait 0.4 % of the time"),
        (FLUSHER, 0.5, "resync", "flushes", "142 flushes/s (2.61 ms)"),
        (LARGE, 0.5, "resync", "background", "md0: resync"),
        (LARGE, 0.5, "frozen", "other", "are not the cause"),
        (SMALL, 0.5, "idle", "small-reads", "5.00k/s of 4 KiB, 12.0 in flight"),
        (LARGE, 0.5, "idle", "other", "flushes, small reads and bursts are not the cause"),
    ],
)
async def test_what_follows_rests_on_a_figure(
    work: dict[str, float], waits: float, action: str, rule: str, figure: str
) -> None:
    moving = raid()
    moving.host.files["/sys/block/md0/md/sync_action"] = action
    seen = await moving.observe("sda", {"sda": work}, {"": waits})
    assert next_step(seen)[0] == rule
    assert figure in next_step(seen)[1]


async def test_bursts_are_what_follows_if_nothing_else_explains_the_waits() -> None:
    moving = Moving("sda")
    moving.step({}, {"": 0.0})
    observer = moving.observer("sda")
    await observer.open()
    for number in range(100):
        moving.step({"sda": {} if number % 5 else {"writes": 500, "sectors_written": 9000, "busy": 90}}, {"": 0.3})
        await observer.take()
    seen = await closed(observer)
    assert next_step(seen)[0] == "bursts"
    assert "`raidbench ab`. Bursts: yes (80 % of the I/Os in 16 % of the time)." in next_step(seen)[1]


async def test_fit_is_named_only_where_it_is_part_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = await Moving("sda").observe("sda", {"sda": FLUSHER}, {"": 0.5})
    for features, is_named in (({"observe": ()}, False), ({"fit": ()}, True)):
        monkeypatch.setattr("app.features.observe.presentation.FEATURES", features)
        assert ("`raidbench fit`" in said(seen)) is is_named


async def test_a_recording_and_a_machine_without_disks_are_refused() -> None:
    moving = Moving()
    with pytest.raises(NotFoundError):
        await moving.observer(None).open()
    moving.host.made_up = True
    with pytest.raises(RefusedError, match="counters do not change"):
        await moving.observer(None).open()


async def test_the_hidden_paths_of_an_nvme_namespace_are_below_it() -> None:
    moving = Moving("nvme0n1", "nvme0c0n1")
    seen = await moving.observe("nvme0n1", {"nvme0c0n1": READER}, {"": 0.5})
    assert (seen.target.is_level, [other.device for other in seen.others], seen.busy_share) == (True, ["nvme0c0n1"], 1)


ODD = st.text(alphabet="some total=0123456789sda\n \x00é-", max_size=120) | st.binary(max_size=60).map(
    lambda raw: raw.decode("utf-8", "replace")
)


@settings(max_examples=25, deadline=None)
@given(st.lists(ODD, min_size=4, max_size=4), ODD, ODD)
async def test_no_file_is_too_odd(stats: list[str], waits: str, mounts: str) -> None:
    moving = Moving("sda", files={"/sys/block/sda/queue/iostats": waits})
    moving.host.files |= {"/proc/self/mountinfo": mounts, f"{MOUNT}/{waits.strip() or 'x'}/io.pressure": waits}
    observer = moving.observer("sda")
    await observer.open()
    for text in stats:
        moving.host.files |= {DISKSTATS: f"8 0 sda {text}", PRESSURE: waits}
        moving.now += 2
        await observer.take()
    assert observation_lines(await closed(observer))
    assert observation_json(await closed(observer))


@given(ODD)
def test_no_pressure_is_too_odd(text: str) -> None:
    assert (total := parse_pressure(text)) is None or total >= 0
