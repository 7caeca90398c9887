"""SATA and SAS disks as a person meets them: two values of one cache, what a drive lacks, what may not be touched."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.change import ChangeStep
from backends.errors import BlockedError, DeviceGoneError, NotFoundError, RefusedError, ToolFailedError
from backends.host import Command, Completed
from backends.model import Drive, Media, State, Target
from backends.settings import Persistence, Reading, Risk
from backends.system.wrapped import ReadOnlyHost
from backends.vendors.scsi.backend import ScsiBackend
from tests.backends.scsi.drives import PROTECTED, Ata, DriveHost, Kind, Scsi, Volume
from tests.backends.taking_back import take_back

SDA = Target(backend="scsi", address="sda")


def bench(drive: Kind, *, root: bool = True, tools: tuple[str, ...] = ("hdparm", "sdparm", "smartctl")) -> DriveHost:
    return DriveHost({"sda": drive}, root=root, tools=tools)


async def reading(host: DriveHost, key: str) -> Reading:
    return (await ScsiBackend(host).read(SDA))[key]


async def inventoried(host: DriveHost) -> Drive:
    (drive,) = (await ScsiBackend(host).inventory()).drives
    return drive


# What is there


async def test_a_sata_disk_hangs_from_the_pci_function_nearest_to_it() -> None:
    drive = await inventoried(bench(Ata()))
    assert (str(drive.controller), drive.interface) == ("hba:0000:00:1f.2", "sata")


async def test_a_sata_disk_behind_a_sas_adapter_is_a_sata_disk() -> None:
    drive = await inventoried(bench(Ata(libata=False)))
    assert drive.interface == "sata"
    assert ("Attached to", "a SAS adapter") in [(fact.label, fact.value) for fact in drive.facts]


async def test_a_virtual_drive_of_a_controller_says_what_it_is_and_blocks_what_is_the_controllers() -> None:
    host = bench(Volume())
    drive = await inventoried(host)
    assert (drive.interface, drive.media) == ("raid volume", Media.UNKNOWN)
    assert "virtual drive of a RAID controller" in ((await reading(host, "drive_cache")).availability.why_not or "")
    assert (await reading(host, "queue_depth")).availability.available


async def test_a_virtual_drive_is_asked_by_no_tool() -> None:
    host = bench(Volume())
    await inventoried(host)
    await ScsiBackend(host).read(SDA)
    assert host.ran == []


async def test_health_is_told_where_the_drive_tells_it() -> None:
    smart: dict[str, object] = {
        "temperature": {"current": 34},
        "rotation_rate": 7200,
        "smart_status": {"passed": False},
    }
    facts = {fact.label: fact.value for fact in (await inventoried(bench(Ata(smart=smart)))).facts}
    assert (facts["Temperature"], facts["Rotation"], facts["SMART health"]) == ("34 °C", "7200 rpm", "FAILED")


async def test_an_answer_of_smartctl_that_is_not_understood_is_a_problem_and_no_health() -> None:
    host = bench(Ata(smart={"smart_status": {"passed": True}}))
    whole = host.run

    async def talking(command: Command) -> Completed:
        done = await whole(command)
        if not command.argv[0].endswith("smartctl"):
            return done
        return replace(done, stdout=done.stdout.replace("{", "{\nlog sense failed\n", 1))

    host.run = talking  # type: ignore[method-assign]
    backend = ScsiBackend(host)
    for found in (await backend.inventory(), await backend.cached_inventory()):
        assert [problem.message for problem in found.problems] == [
            "The output of smartctl about /dev/sda cannot be parsed: it has the line 'log sense failed'. The health "
            "of these drives is unknown."
        ]
        assert "SMART health" not in {fact.label for fact in found.drives[0].facts}


async def test_a_drive_that_smartctl_cannot_open_says_so() -> None:
    smart: dict[str, object] = {"smartctl": {"messages": [{"string": "Smartctl open device failed: busy"}]}}
    facts = {fact.label: fact.value for fact in (await inventoried(bench(Ata(smart=smart)))).facts}
    assert facts["SMART health"] == "not known: Smartctl open device failed: busy"


@pytest.mark.parametrize(
    ("smart", "size", "unusable"),
    [
        ({"logical_block_size": 520, "user_capacity": {"bytes": 1000}}, "0", "sector size 520: must be reformatted"),
        ({"logical_block_size": 528}, "0", "sector size 528: must be reformatted"),
        ({}, "0", "size 0: the disk is not ready"),
        ({"logical_block_size": 512}, "2048", None),
        ({"logical_block_size": 4096}, "2048", None),
    ],
)
async def test_a_disk_of_odd_sectors_is_online_and_says_why_it_cannot_be_used(
    smart: dict[str, object], size: str, unusable: str | None
) -> None:
    host = bench(Ata(smart=smart))
    host.files |= {
        "/sys/block/sda/size": size,
        "/sys/block/sda/removable": "0",
        "/sys/block/sda/device/state": "running",
    }
    drive = await inventoried(host)
    facts = {fact.label: fact.value for fact in drive.facts}
    assert drive.state is State.ONLINE
    assert (facts.get("Unusable") or "").startswith(unusable or "\0") is (unusable is not None)
    assert drive.size_bytes == (1000 if "user_capacity" in smart else int(size) * 512)


async def test_without_root_no_tool_runs_and_the_kernels_word_is_shown() -> None:
    host = bench(Ata(), root=False)
    await inventoried(host)
    found = await reading(host, "drive_cache")
    assert (host.ran, found.now, found.availability.why_not) == ([], "on", "needs root")


async def test_a_machine_without_such_disks_is_not_looked_at_further() -> None:
    host = DriveHost({})
    assert (await ScsiBackend(host).inventory()).drives == ()
    assert await ScsiBackend(host).diagnose() == ()


# What the drive does and what the kernel believes


async def test_a_cache_that_the_kernel_does_not_know_to_be_off_is_shown_with_its_flushes() -> None:
    host = bench(Scsi(bits={"WCE": 0, "RCD": 0, "DRA": 0}))
    found = await reading(host, "drive_cache")
    assert (found.now, found.effective) == ("off", "with flushes")
    assert "rescan" in (found.why_effective or "")


async def test_a_cache_that_the_kernel_does_not_flush_is_shown_so() -> None:
    host = bench(Ata())
    host.files["/sys/block/sda/queue/write_cache"] = "write through"
    found = await reading(host, "drive_cache")
    assert (found.now, found.effective) == ("on", "without flushes")


async def test_a_sas_drives_change_makes_the_kernel_look_again_and_so_does_its_undo() -> None:
    host = bench(Scsi())
    backend = ScsiBackend(host)
    change = await backend.plan(SDA, "drive_cache", "off")
    assert [step.shown() for step in change.writes] == [
        "/sbin/sdparm --set=WCE=0 /dev/sda",
        "echo 1 > /sys/block/sda/device/rescan",
    ]
    await backend.apply(change)
    assert host.files["/sys/block/sda/queue/write_cache"] == "write through"
    await take_back(backend, change)
    assert host.files["/sys/block/sda/queue/write_cache"] == "write back"


async def test_libata_needs_not_be_told() -> None:
    change = await ScsiBackend(bench(Ata())).plan(SDA, "drive_cache", "off")
    assert [step.shown() for step in change.writes] == ["/sbin/hdparm -W0 /dev/sda"]


async def test_a_sata_drive_behind_a_sas_adapter_is_looked_at_again() -> None:
    change = await ScsiBackend(bench(Ata(libata=False))).plan(SDA, "drive_cache", "off")
    assert change.writes[-1].path == "/sys/block/sda/device/rescan"


@pytest.mark.parametrize("drive", [Ata(), Scsi()], ids=["sata", "sas"])
async def test_without_a_tool_the_kernel_sends_the_page_itself(drive: Kind) -> None:
    host = bench(drive, tools=())
    backend = ScsiBackend(host)
    change = await backend.plan(SDA, "drive_cache", "off")
    await backend.apply(change)
    assert [step.text for step in change.writes] == ["write through"]
    assert not host.caching("sda")


async def test_a_read_cache_that_is_off_stays_off_when_the_kernel_sends_the_page() -> None:
    host = bench(Scsi(), tools=())
    host.files[host.path("sda", "cache_type")] = "write back, no read (daft)"
    change = await ScsiBackend(host).plan(SDA, "drive_cache", "off")
    assert (change.writes[0].text, change.undo[0].text) == ("none", "write back, no read (daft)")


# What a drive lacks


async def test_a_feature_that_hdparm_calls_not_supported_is_blocked_although_it_exits_with_0() -> None:
    found = await reading(bench(Ata(look_ahead=None)), "read_look_ahead")
    assert (found.now, found.availability.why_not) == (None, "the drive does not have this setting")


async def test_a_field_that_the_drive_does_not_let_change_is_blocked() -> None:
    found = await reading(bench(Scsi(fixed=("DRA",))), "read_look_ahead")
    assert (found.now, found.availability.why_not) == ("on", "the drive does not allow changing it")


async def test_a_field_that_the_page_lacks_is_blocked() -> None:
    found = await reading(bench(Scsi(bits={"WCE": 1, "RCD": 0})), "read_look_ahead")
    assert found.availability.why_not == "the drive's caching page does not have this setting"


async def test_power_management_that_is_off_is_level_255() -> None:
    found = await reading(bench(Ata(apm=255)), "apm")
    assert (found.now, found.raw) == ("255", "off")


async def test_an_acoustic_level_between_the_two_is_one_of_the_choices() -> None:
    found = await reading(bench(Ata(acoustic=200)), "acoustic")
    assert (found.now, [choice.value for choice in found.choices]) == ("200", ["128", "254", "200"])


async def test_sata_takes_32_commands_whatever_the_adapter_takes() -> None:
    sata, sas = await reading(bench(Ata()), "queue_depth"), await reading(bench(Scsi()), "queue_depth")
    assert (sata.span.maximum if sata.span else 0, sas.span.maximum if sas.span else 0) == (32, 128)


async def test_a_tool_that_is_missing_is_named() -> None:
    assert (await reading(bench(Ata(), tools=()), "apm")).availability.why_not == "hdparm is not installed"


# What is risked


async def test_a_cache_without_protection_risks_data_when_the_power_goes() -> None:
    change = await ScsiBackend(bench(Ata(cache=0))).plan(SDA, "drive_cache", "on")
    assert change.risk is Risk.POWER_LOSS


async def test_a_cache_with_protection_names_the_evidence() -> None:
    change = await ScsiBackend(bench(Ata(cache=0, smart=PROTECTED))).plan(SDA, "drive_cache", "on")
    assert change.risk is Risk.PERFORMANCE
    assert "Power_Loss_Cap_Test passes" in change.risk_text


async def test_a_protection_that_fails_its_test_is_none() -> None:
    table = [{"id": 175, "name": "Power_Loss_Cap_Test", "value": 10, "thresh": 10}]
    drive = Ata(cache=0, smart={"ata_smart_attributes": {"table": table}})
    assert (await ScsiBackend(bench(drive)).plan(SDA, "drive_cache", "on")).risk is Risk.POWER_LOSS


async def test_switching_the_cache_off_risks_nothing() -> None:
    assert (await ScsiBackend(bench(Ata())).plan(SDA, "drive_cache", "off")).risk is Risk.NONE


# What is kept


async def test_a_page_with_saved_values_is_saved() -> None:
    drive = Scsi(saved={"WCE": 1, "RCD": 0, "DRA": 0})
    change = await ScsiBackend(bench(drive)).plan(SDA, "drive_cache", "off")
    assert "--save" in change.writes[0].argv
    assert change.persistence is Persistence.STORED


async def test_a_page_without_saved_values_is_lost_with_the_power() -> None:
    change = await ScsiBackend(bench(Scsi())).plan(SDA, "drive_cache", "off")
    assert "--save" not in change.writes[0].argv
    assert change.persistence is Persistence.LOST_AT_POWER_OFF


async def test_undo_brings_back_a_saved_value_that_was_another_than_the_present() -> None:
    drive = Scsi(bits={"WCE": 0, "RCD": 0, "DRA": 0}, saved={"WCE": 1, "RCD": 0, "DRA": 0})
    backend = ScsiBackend(bench(drive))
    change = await backend.plan(SDA, "drive_cache", "on")
    await backend.apply(change)
    await take_back(backend, change)
    assert (drive.bits["WCE"], drive.saved) == (0, {"WCE": 1, "RCD": 0, "DRA": 0})


async def test_a_page_that_turns_out_not_saveable_is_planned_without_saving_the_next_time() -> None:
    backend = ScsiBackend(bench(Scsi(saved={"WCE": 1, "RCD": 0, "DRA": 0}, saveable=False)))
    with pytest.raises(ToolFailedError, match="power cycle") as failed:
        await backend.apply(await backend.plan(SDA, "drive_cache", "off"))
    assert "without --save" in failed.value.hint
    await backend.apply(await backend.plan(SDA, "drive_cache", "off"))


# How it is done


async def test_a_drive_that_first_has_something_to_tell_is_asked_again() -> None:
    drive = Scsi()
    backend = ScsiBackend(bench(drive))
    change = await backend.plan(SDA, "drive_cache", "off")
    drive.attention = 1
    await backend.apply(change)
    drive.attention = 1
    assert (await backend.read(SDA))["drive_cache"].now == "off"


async def test_a_drive_that_says_yes_and_does_nothing_reads_as_before() -> None:
    backend = ScsiBackend(bench(Ata(stubborn=True)))
    await backend.apply(await backend.plan(SDA, "drive_cache", "off"))
    assert (await backend.read(SDA))["drive_cache"].now == "on"


async def test_a_refusal_comes_in_the_tools_words() -> None:
    drive = Scsi()
    backend = ScsiBackend(bench(drive))
    change = await backend.plan(SDA, "drive_cache", "off")
    drive.fixed = ("WCE",)
    with pytest.raises(ToolFailedError, match="failed setting page"):
        await backend.apply(change)


async def test_a_kernel_that_refuses_the_second_step_is_told_with_what_was_done() -> None:
    host = bench(Scsi())
    backend = ScsiBackend(host)
    host.refusing["/sys/block/sda/device/rescan"] = "Input/output error"
    with pytest.raises(ToolFailedError) as failed:
        await backend.apply(await backend.plan(SDA, "drive_cache", "off"))
    assert "1 of 2 steps" in failed.value.hint


async def test_another_disk_under_the_name_is_left_alone() -> None:
    host = bench(Ata())
    backend = ScsiBackend(host)
    change = await backend.plan(SDA, "drive_cache", "off")
    host.files["/sys/block/sda/diskseq"] = "77"
    with pytest.raises(DeviceGoneError, match="a different device"):
        await backend.apply(change)
    assert host.caching("sda")


async def test_a_disk_that_changes_between_two_steps_gets_no_second_step() -> None:
    host = bench(Scsi())
    backend = ScsiBackend(host)
    change = await backend.plan(SDA, "drive_cache", "off")
    run = host.run

    async def run_and_swap(command):  # type: ignore[no-untyped-def]
        host.files["/sys/block/sda/diskseq"] = "77"
        return await run(command)

    host.run = run_and_swap  # type: ignore[method-assign]
    with pytest.raises(DeviceGoneError):
        await backend.apply(change)
    assert host.written == []


@pytest.mark.parametrize(
    "step",
    [
        ChangeStep(argv=("/bin/rm", "-W0", "/dev/sda")),
        ChangeStep(argv=("/sbin/hdparm", "-W0", "/dev/sdb")),
        ChangeStep(argv=("/sbin/hdparm", "--security-erase", "x", "/dev/sda")),
        ChangeStep(argv=("/sbin/hdparm", "-A0", "/dev/sda")),
        ChangeStep(argv=("/sbin/hdparm", "-W0", "-N100", "/dev/sda")),
        ChangeStep(argv=("/sbin/hdparm",)),
        ChangeStep(path="/sys/block/sdb/device/rescan", text="1"),
        ChangeStep(path="/etc/passwd", text="x"),
    ],
    ids=str,
)
async def test_a_step_of_a_forged_journal_is_not_taken(step: ChangeStep) -> None:
    host = bench(Ata())
    backend = ScsiBackend(host)
    change = await backend.plan(SDA, "drive_cache", "off")
    host.ran.clear()
    with pytest.raises(RefusedError):
        await backend.apply(replace(change, writes=(step,)))
    assert (step.argv in host.ran, host.written) == (False, [])


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (Completed(returncode=5, stdout="", stderr=""), "exit status 5"),
        (Completed(returncode=5, stdout="/dev/sda:\n", stderr="first\nHDIO: no such drive\n"), "HDIO: no such drive"),
        (Completed(returncode=5, stdout="/dev/sda:\n not today\n", stderr=""), "not today"),
    ],
)
async def test_a_tool_that_fails_is_told_in_its_last_words(said: Completed, told: str) -> None:
    host = bench(Ata())
    backend = ScsiBackend(host)
    change = await backend.plan(SDA, "drive_cache", "off")

    async def fail(command: Command) -> Completed:
        return said

    host.run = fail  # type: ignore[method-assign]
    with pytest.raises(ToolFailedError, match=rf"could not be set: {told}\.$"):
        await backend.apply(change)


async def test_a_change_without_an_identity_is_not_made() -> None:
    backend = ScsiBackend(bench(Ata()))
    change = await backend.plan(SDA, "drive_cache", "off")
    with pytest.raises(RefusedError):
        await backend.apply(replace(change, identity=None))


async def test_read_only_mode_blocks_every_setting_of_the_drive() -> None:
    backend = ScsiBackend(ReadOnlyHost(bench(Ata())))
    with pytest.raises(BlockedError, match="read-only"):
        await backend.plan(SDA, "drive_cache", "off")


@pytest.mark.parametrize("name", ["../sda", "sda/..", "nvme0n1", "sda1", "", "sda\n"])
async def test_a_name_that_is_no_disk_becomes_no_path(name: str) -> None:
    with pytest.raises(NotFoundError):
        await ScsiBackend(bench(Ata())).read(Target(backend="scsi", address=name))


async def test_doctor_says_what_is_missing_without_each_tool() -> None:
    host = DriveHost({"sda": Ata(), "sdb": Scsi()}, tools=())
    told = [problem.hint for problem in await ScsiBackend(host).diagnose()]
    assert told == ["Install hdparm.", "Install sdparm.", "Install smartmontools."]


async def test_doctor_asks_for_no_tool_that_has_nothing_to_do() -> None:
    assert await ScsiBackend(bench(Volume(), tools=())).diagnose() == ()
