"""The NVMe backend on played drives: what is found, what may be set, what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.change import ChangeStep
from backends.change_steps import lock_of
from backends.errors import DeviceGoneError, NotFoundError, RefusedError, ToolFailedError
from backends.model import Media, Scope, State, Target
from backends.settings import Persistence, Reading, Risk
from backends.vendors.nvme.backend import Nvme
from backends.vendors.nvme.sysfs import controller_target, namespace_target
from tests.backends.fakes import FakeHost
from tests.backends.nvme.drives import TOOL, PlayedDrive, controller, namespace, refused, said
from tests.backends.taking_back import take_back, way_back

CONTROLLER = controller_target("nvme0")
NAMESPACE = namespace_target("nvme0n1")


def pair() -> PlayedDrive:
    """One controller with two namespaces."""
    return PlayedDrive(
        controller("nvme0", "nvme0n1", "nvme0n2"),
        namespace("nvme0n1"),
        namespace("nvme0n2", nsid=2, devno="259:1"),
    )


def multipath() -> PlayedDrive:
    """One namespace that two controllers of a subsystem lead to, one of which is away."""
    shared = {"subsysnqn": "nqn.acme:both"}
    return PlayedDrive(
        controller("nvme0", "nvme0c0n1", **shared),
        controller("nvme1", "nvme0c1n1", **shared, state="connecting"),
        namespace("nvme0n1"),
    )


async def reading(host: PlayedDrive, key: str, target: Target = NAMESPACE) -> Reading:
    return (await Nvme(host).read(target))[key]


async def why_not(host: PlayedDrive, key: str, target: Target = NAMESPACE) -> str | None:
    return (await reading(host, key, target)).availability.why_not


async def test_a_controller_and_its_namespace_are_found() -> None:
    found = await Nvme(PlayedDrive()).inventory()
    (card,), (drive,) = found.controllers, found.drives
    assert (str(card.target), card.model, card.serial, card.firmware) == ("nvme:nvme0", "ACME SSD 9", "S1", "1.0")
    assert (card.driver, card.pci, card.target.scope) == ("nvme", "0000:00:00.0", Scope.CONTROLLER)
    assert (str(drive.target), drive.device, drive.controller) == ("nvme:nvme0n1", "/dev/nvme0n1", CONTROLLER)
    assert (drive.media, drive.interface, drive.state) == (Media.NVME, "nvme", State.ONLINE)
    assert (drive.wwn, drive.size_bytes, drive.logical_block) == ("eui.0000000000000001", 1 << 30, 512)


async def test_the_facts_tell_temperature_wear_and_format() -> None:
    (drive,) = (await Nvme(PlayedDrive()).inventory()).drives
    facts = {fact.label: fact.value for fact in drive.facts}
    assert facts["Temperature"] == "50 °C (warns at 70 °C)"
    assert facts["Endurance used"] == "3 %"
    assert facts["Spare"] == "100 % (warns at 10 %)"
    assert facts["LBA format"] == "512 bytes, good (format 0)"


async def test_the_inventory_needs_neither_root_nor_nvme_cli() -> None:
    host = PlayedDrive(root=False)
    host.files["/sys/class/nvme/nvme0/hwmon1/temp1_input"] = "38850"
    found = await Nvme(host).inventory()
    assert {fact.label: fact.value for fact in found.drives[0].facts} == {"Namespace": "1", "Temperature": "39 °C"}
    assert not host.ran


async def test_a_machine_without_nvme_has_nothing_and_asks_nothing() -> None:
    backend = Nvme(FakeHost({"/sys/block/sda/dev": "8:0"}))
    assert (await backend.inventory()).controllers == ()
    assert await backend.diagnose() == ()


async def test_a_namespace_belongs_to_the_controller_that_leads_to_it_whatever_their_numbers() -> None:
    host = PlayedDrive(controller("nvme1", "nvme0n1"), namespace("nvme0n1"))
    (drive,) = (await Nvme(host).inventory()).drives
    assert drive.controller == controller_target("nvme1")


async def test_a_namespace_with_two_paths_is_one_drive_and_degraded_when_one_is_away() -> None:
    (drive,) = (await Nvme(multipath()).inventory()).drives
    facts = {fact.label: fact.value for fact in drive.facts}
    assert (drive.device, drive.state) == ("/dev/nvme0n1", State.DEGRADED)
    assert facts["Paths"] == "nvme0 live, nvme1 connecting"


async def test_a_garbled_answer_leaves_the_kernels_facts() -> None:
    host = PlayedDrive()
    host.answers = {verb: lambda _words: said("{") for verb in ("id-ctrl", "id-ns", "smart-log")}
    (drive,) = (await Nvme(host).inventory()).drives
    assert drive.serial == "S1"
    assert {fact.label for fact in drive.facts} == {"Namespace"}


@pytest.mark.parametrize(
    ("key", "now"),
    [
        ("drive_cache", "on"),
        ("power_state", "0"),
        ("irq_coalescing_threshold", "4"),
        ("irq_coalescing_time", "100"),
        ("arbitration_burst", "8"),
        ("lba_format", "512"),
    ],
)
async def test_settings_are_read(key: str, now: str) -> None:
    assert (await reading(PlayedDrive(), key)).now == now


@pytest.mark.parametrize(
    ("key", "value", "written"),
    [
        ("drive_cache", "off", "--feature-id=6 --value=0x00000000"),
        ("power_state", "1", "--feature-id=2 --value=0x00000021"),
        ("irq_coalescing_threshold", "16", "--feature-id=8 --value=0x0000010f"),
        ("irq_coalescing_time", "25500", "--feature-id=8 --value=0x0000ff03"),
        ("arbitration_burst", "unlimited", "--feature-id=1 --value=0x07030207"),
    ],
)
async def test_a_field_is_written_with_its_neighbours_as_they_are(key: str, value: str, written: str) -> None:
    change = await Nvme(PlayedDrive()).plan(CONTROLLER, key, value)
    assert change.writes[0].shown() == f"{TOOL} set-feature /dev/nvme0 {written}"
    assert change.persistence is Persistence.LOST_AT_REBOOT


async def test_switching_the_cache_on_risks_data_and_off_does_not() -> None:
    backend = Nvme(PlayedDrive())
    assert (await backend.plan(CONTROLLER, "drive_cache", "on")).risk is Risk.POWER_LOSS
    assert (await backend.plan(CONTROLLER, "drive_cache", "off")).risk is Risk.NONE


async def test_two_settings_in_one_feature_follow_each_other() -> None:
    host = PlayedDrive()
    backend = Nvme(host)
    for key, value in (("irq_coalescing_threshold", "9"), ("irq_coalescing_time", "300")):
        change = await backend.plan(CONTROLLER, key, value)
        assert change.shares
        await backend.apply(change)
    assert host.features[8] == 0x0308


async def test_taking_one_back_does_not_undo_the_other() -> None:
    host = PlayedDrive()
    backend = Nvme(host)
    change = await backend.plan(CONTROLLER, "irq_coalescing_threshold", "9")
    await backend.apply(change)
    await backend.apply(await backend.plan(CONTROLLER, "irq_coalescing_time", "300"))
    await take_back(backend, change)
    assert host.features[8] == 0x0303


async def test_a_way_back_that_was_planned_before_the_other_was_set_is_refused() -> None:
    host = PlayedDrive()
    backend = Nvme(host)
    change = await backend.plan(CONTROLLER, "irq_coalescing_threshold", "9")
    await backend.apply(change)
    back = await way_back(backend, change)
    await backend.apply(await backend.plan(CONTROLLER, "irq_coalescing_time", "300"))
    with pytest.raises(RefusedError, match="shares its value"):
        await backend.apply(back)
    assert host.features[8] == 0x0308


async def test_the_lock_is_the_only_namespaces_disk() -> None:
    host = PlayedDrive()
    disk = await lock_of(host, "nvme0n1")
    locks = {(await Nvme(host).plan(target, "drive_cache", "off")).lock for target in (CONTROLLER, NAMESPACE)}
    assert locks == {disk}


async def test_a_namespace_of_another_subsystem_is_not_of_the_drive() -> None:
    host = PlayedDrive(
        controller("nvme0", "nvme0n1"),
        controller("nvme1", "nvme1n1", serial="S2"),
        namespace("nvme0n1"),
        namespace("nvme1n1", devno="259:1", serial="S2"),
    )
    disk = await lock_of(host, "nvme0n1")
    assert (await Nvme(host).plan(CONTROLLER, "drive_cache", "off")).lock == disk


async def test_the_lock_of_a_drive_with_several_namespaces_is_that_of_its_serial_number() -> None:
    assert (await Nvme(pair()).plan(CONTROLLER, "drive_cache", "off")).lock == "nvme-S1"


async def test_the_kernel_goes_on_flushing_when_the_cache_is_off_and_that_is_said() -> None:
    host = PlayedDrive()
    host.features[6] = 0
    now = await reading(host, "drive_cache")
    assert (now.now, now.effective) == ("off", "off, still flushed")


async def test_a_kernel_that_does_not_flush_a_caching_drive_is_pointed_out() -> None:
    host = PlayedDrive()
    host.files["/sys/block/nvme0n1/queue/write_cache"] = "write through"
    now = await reading(host, "drive_cache")
    assert now.effective == "on, never flushed"
    assert "power failure" in (now.why_effective or "")


async def test_states_without_io_are_offered_only_where_one_is_set() -> None:
    host = PlayedDrive()
    assert [choice.value for choice in (await reading(host, "power_state")).choices] == ["0", "1"]
    host.features[2] = 2
    sleeping = (await reading(host, "power_state")).choices[2]
    assert (sleeping.value, sleeping.risk) == ("2", Risk.PERFORMANCE)
    assert "no I/O" in sleeping.help


async def test_why_a_setting_cannot_be_changed() -> None:
    fixed = PlayedDrive()
    fixed.feature_capabilities[8] = 1
    assert await why_not(fixed, "irq_coalescing_time") == "the drive does not allow changing it"
    assert await why_not(PlayedDrive(vwc=6), "drive_cache") == "the drive reports no volatile write cache"
    assert await why_not(PlayedDrive(root=False), "drive_cache") == "needs root"
    bare = PlayedDrive()
    bare.installed = False
    assert await why_not(bare, "drive_cache") == "nvme-cli is not installed"
    away = PlayedDrive(controller("nvme0", "nvme0n1", state="resetting"), namespace("nvme0n1"))
    assert await why_not(away, "lba_format") == "the controller is resetting"
    assert not away.ran


async def test_a_feature_that_the_drive_does_not_have_says_so_in_its_words() -> None:
    host = PlayedDrive()
    host.answers["get-feature"] = lambda _words: refused("Invalid Field in Command(0x4002)")
    assert await why_not(host, "power_state") == "the drive answers: Invalid Field in Command(0x4002)"


async def test_a_drive_without_save_and_select_is_not_asked_for_it() -> None:
    host = PlayedDrive(oncs=0)
    assert await why_not(host, "drive_cache") is None
    assert not any("--sel=3" in words for words in host.ran)


async def test_a_controllers_setting_is_not_set_through_one_of_two_namespaces() -> None:
    host = pair()
    assert await why_not(host, "drive_cache") == "it is shared by nvme0n1, nvme0n2. Set it on nvme:nvme0"
    assert await why_not(host, "drive_cache", CONTROLLER) is None


async def test_a_format_names_the_namespace_by_node_and_number_and_restores_metadata_and_protection() -> None:
    host = PlayedDrive()
    host.space |= {"flbas": 0x12, "dps": 0x0A}
    change = await Nvme(host).plan(NAMESPACE, "lba_format", "4096")
    assert change.writes[0].shown() == f"{TOOL} format /dev/nvme0n1 --namespace-id=1 --lbaf=1"
    assert change.undo[0].shown() == f"{TOOL} format /dev/nvme0n1 --namespace-id=1 --lbaf=2 --ms=1 --pi=2 --pil=1"
    assert (change.before, change.risk, change.persistence) == ("512+8", Risk.DESTROYS_DATA, Persistence.STORED)


async def test_a_format_names_what_would_be_lost() -> None:
    host = PlayedDrive()
    host.blkid = "DEVNAME=/dev/nvme0n1\nLABEL=precious\nTYPE=ext4\nUSAGE=filesystem\n"
    change = await Nvme(host).plan(NAMESPACE, "lba_format", "4096")
    assert change.risk_text.endswith("not the data. /dev/nvme0n1 contains: ext4 'precious'.")


async def test_a_format_survives_a_change_of_size() -> None:
    host = PlayedDrive()
    backend = Nvme(host)
    change = await backend.plan(NAMESPACE, "lba_format", "4096")
    await backend.apply(change)
    host.files["/sys/block/nvme0n1/size"] = "2097144"
    await take_back(backend, change)
    assert (await backend.read(NAMESPACE))["lba_format"].now == "512"


async def test_a_kernel_that_has_not_looked_again_is_pointed_out() -> None:
    host = PlayedDrive()
    host.space["flbas"] = 1
    now = await reading(host, "lba_format")
    assert (now.now, now.effective) == ("4096", "512")


@pytest.mark.parametrize(
    ("ident", "space", "words"),
    [
        ({"oacs": 0}, {}, "the drive has no format command"),
        ({}, {"nmic": 1}, "other controllers, perhaps of other hosts, may use it as well"),
        ({}, {"nmic": None}, "other controllers, perhaps of other hosts, may use it as well"),
    ],
)
async def test_what_rules_out_a_format(ident: dict[str, int], space: dict[str, int | None], words: str) -> None:
    host = PlayedDrive()
    host.ident |= ident
    host.space |= space
    assert await why_not(host, "lba_format") == words


async def test_a_drive_that_formats_all_namespaces_at_once_is_formatted_only_where_there_is_one() -> None:
    two = pair()
    two.ident["fna"] = 1
    assert await why_not(two, "lba_format") == "the drive would also format nvme0n2"
    hidden = PlayedDrive(fna=1)
    hidden.allocated = [1, 7]
    assert "there may be others" in (await why_not(hidden, "lba_format") or "")
    silent = PlayedDrive(fna=1)
    silent.answers["list-ns"] = lambda _words: refused("Invalid Command Opcode(0x4001)")
    assert "there may be others" in (await why_not(silent, "lba_format") or "")
    assert await why_not(PlayedDrive(fna=1), "lba_format") is None


async def test_an_attribute_that_is_not_told_counts_as_set() -> None:
    host = pair()
    del host.ident["fna"]
    assert await why_not(host, "lba_format") == "the drive would also format nvme0n2"


async def test_a_drive_of_another_machine_is_not_formatted() -> None:
    host = PlayedDrive(controller("nvme0", "nvme0n1", transport="tcp", address="traddr=10.0.0.1"), namespace("nvme0n1"))
    assert "not in this host" in (await why_not(host, "lba_format") or "")


async def test_a_mounted_namespace_is_not_formatted() -> None:
    host = PlayedDrive()
    host.files["/proc/self/mountinfo"] += "\n26 25 259:0 / /data rw shared:1 - ext4 /dev/nvme0n1 rw"
    assert "in use" in (await why_not(host, "lba_format") or "")
    with pytest.raises(RefusedError, match="/dev/nvme0n1 is mounted on /data"):
        await Nvme(host).plan(NAMESPACE, "lba_format", "4096")


async def test_a_namespace_without_serial_number_and_wwn_is_not_formatted() -> None:
    host = PlayedDrive()
    del host.files["/sys/block/nvme0n1/wwid"]
    assert await why_not(host, "lba_format") is None
    del host.files["/sys/block/nvme0n1/device/serial"]
    assert "cannot be distinguished from another" in (await why_not(host, "lba_format") or "")


async def test_a_read_only_namespace_is_not_formatted() -> None:
    host = PlayedDrive()
    backend = Nvme(host)
    change = await backend.plan(NAMESPACE, "lba_format", "4096")
    host.files["/sys/block/nvme0n1/ro"] = "1"
    assert await why_not(host, "lba_format") == "it is read-only"
    with pytest.raises(RefusedError, match="read-only"):
        await backend.apply(change)


async def test_a_member_of_a_stopped_array_is_not_formatted() -> None:
    host = PlayedDrive()
    host.blkid = "DEVNAME=/dev/nvme0n1\nTYPE=linux_raid_member\nUSAGE=raid\n"
    with pytest.raises(RefusedError, match="member of a RAID"):
        await Nvme(host).plan(NAMESPACE, "lba_format", "4096")


async def test_a_namespace_mounted_after_planning_is_not_formatted() -> None:
    host = PlayedDrive()
    backend = Nvme(host)
    change = await backend.plan(NAMESPACE, "lba_format", "4096")
    host.files["/proc/self/mountinfo"] += "\n26 25 259:0 / /data rw shared:1 - ext4 /dev/nvme0n1 rw"
    with pytest.raises(RefusedError, match="/dev/nvme0n1 is mounted on /data"):
        await backend.apply(change)
    assert host.sets == []


async def test_another_drive_under_the_same_name_is_not_touched() -> None:
    for key, target in (("drive_cache", CONTROLLER), ("drive_cache", NAMESPACE), ("lba_format", NAMESPACE)):
        host = PlayedDrive()
        change = await Nvme(host).plan(target, key, "off" if key == "drive_cache" else "4096")
        host.files |= controller("nvme0", "nvme0n1", serial="S2") | namespace("nvme0n1", serial="S2")
        with pytest.raises(DeviceGoneError):
            await Nvme(host).apply(change)
        assert host.sets == []


@pytest.mark.parametrize(
    "argv",
    [
        ("/bin/sh", "format", "/dev/nvme0n1", "--namespace-id=1", "--lbaf=1"),
        (TOOL, "format", "/dev/nvme0", "--namespace-id=1", "--lbaf=1"),
        (TOOL, "format", "/dev/nvme0n1", "--namespace-id=0xffffffff", "--lbaf=1"),
        (TOOL, "format", "/dev/nvme0n1", "--lbaf=1"),
        (TOOL, "format", "/dev/nvme0n1", "--namespace-id=1", "--lbaf=1", "--force"),
        (TOOL, "sanitize", "/dev/nvme0n1", "--namespace-id=1", "--lbaf=1"),
    ],
)
async def test_only_a_format_of_this_very_namespace_is_run(argv: tuple[str, ...]) -> None:
    host = PlayedDrive()
    change = await Nvme(host).plan(NAMESPACE, "lba_format", "4096")
    with pytest.raises(RefusedError):
        await Nvme(host).apply(replace(change, writes=(ChangeStep(argv=argv),)))
    assert host.sets == []


@pytest.mark.parametrize(
    "argv",
    [
        (TOOL, "format", "/dev/nvme0n1", "--namespace-id=1", "--lbaf=1"),
        (TOOL, "set-feature", "/dev/nvme1", "--feature-id=6", "--value=0x00000000"),
        (TOOL, "set-feature", "/dev/nvme0", "--feature-id=2", "--value=0x00000000"),
        (TOOL, "set-feature", "/dev/nvme0", "--feature-id=6", "--value=0x00000000", "--save"),
        (TOOL, "set-feature", "/dev/nvme0", "--feature-id=6", "--value=0"),
        (),
    ],
)
async def test_only_the_feature_of_the_setting_is_written(argv: tuple[str, ...]) -> None:
    host = PlayedDrive()
    change = await Nvme(host).plan(NAMESPACE, "drive_cache", "off")
    with pytest.raises(RefusedError):
        await Nvme(host).apply(replace(change, writes=(ChangeStep(argv=argv),)))
    assert host.sets == []


async def test_a_refusal_is_told_in_the_drives_words() -> None:
    host = PlayedDrive()
    host.answers["set-feature"] = lambda _words: refused("Feature Not Changeable: no(0x410e)")
    backend = Nvme(host)
    change = await backend.plan(CONTROLLER, "drive_cache", "off")
    with pytest.raises(ToolFailedError, match=r"Feature Not Changeable: no\(0x410e\)"):
        await backend.apply(change)


@pytest.mark.parametrize("address", ["nvme0n1p1", "../sda", "nvme0c0n1", "", "nvme"])
async def test_what_is_no_controller_or_namespace_is_not_found(address: str) -> None:
    backend = Nvme(PlayedDrive())
    target = Target(backend="nvme", address=address)
    assert backend.settings(target) == ()
    with pytest.raises(NotFoundError):
        await backend.read(target)


async def test_what_is_gone_is_gone() -> None:
    with pytest.raises(DeviceGoneError):
        await Nvme(PlayedDrive()).read(namespace_target("nvme5n1"))


async def test_the_doctor_says_what_is_missing_without_nvme_cli_and_which_controller_is_away() -> None:
    host = PlayedDrive(controller("nvme0", "nvme0n1", state="dead"), namespace("nvme0n1"))
    host.installed = False
    missing, away = await Nvme(host).diagnose()
    assert ("nvme-cli" in missing.message, missing.hint) == (True, "Install nvme-cli.")
    assert away.message == "The NVMe controller nvme0 (ACME SSD 9) is dead."


async def test_the_doctor_says_nothing_when_all_is_well() -> None:
    assert await Nvme(PlayedDrive()).diagnose() == ()
