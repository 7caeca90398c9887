"""Disk systems behind SANtricity's web services: what is shown, what is in force, and the requests that change them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from backends.change import Change, ChangeStep
from backends.errors import (
    BlockedError,
    DeviceGoneError,
    InvalidValueError,
    NotFoundError,
    RefusedError,
    ToolFailedError,
)
from backends.host import Command, Completed
from backends.model import Array, Level, Media, State, Target
from backends.settings import Reading, Risk
from backends.system.https.host import WebHost
from backends.system.recorded import RecordingHost, ReplayHost
from backends.system.wrapped import DryRunHost, ReadOnlyHost
from backends.vendors.santricity import VENDOR
from backends.vendors.santricity.backend import Santricity
from backends.vendors.santricity.readings import SETTINGS
from backends.vendors.smcli.readings import VOLUME_SETTINGS
from tests.backends.fakes import FakeHost, machine
from tests.backends.santricity.services import DOOR, GROUP, ROOT, WWN, PlayedServer, PlayedServices, PlayedWeb
from tests.backends.santricity.test_conformance import FAST

OWN = f"{ROOT}/1/volumes/{PlayedServices().reference}"


async def array(host: PlayedWeb) -> Array:
    return (await Santricity(host).inventory()).arrays[0]


async def reading(key: str, services: PlayedServices | None = None) -> Reading:
    return (await Santricity(PlayedWeb(services)).read(FAST))[key]


async def planned(host: PlayedWeb, key: str, value: str) -> Change:
    return await Santricity(host).plan(FAST, key, value)


def changes(host: PlayedWeb) -> list[object]:
    return [body for method, _, body in host.services.asked if method != "GET"]


async def test_a_volume_is_shown_with_its_shape() -> None:
    one = await array(PlayedWeb())
    assert (one.name, one.level, one.state, one.size_bytes, one.strip_bytes, one.data_drives) == (
        "fast",
        Level.RAID6,
        State.OPTIMAL,
        10 << 30,
        128 << 10,
        3,
    )
    assert {fact.label: fact.value for fact in one.facts} == {
        "Volume group": "group1",
        "Owner": "A",
        "Preferred owner": "B",
    }


async def test_a_volume_of_a_pool_lies_on_no_fixed_drives() -> None:
    one = await array(PlayedWeb(PlayedServices(pool=True)))
    assert (one.data_drives, one.spans, one.facts[0].label) == (None, None, "Pool")


async def test_a_volume_is_the_disk_of_its_world_wide_name() -> None:
    one = await array(PlayedWeb())
    assert one.device == "/dev/sdb"
    assert one.identity is not None
    assert one.identity.wwn == f"naa.{WWN}"


async def test_a_volume_behind_multipath_is_its_multipath_device() -> None:
    host = PlayedWeb()
    own = {path.replace("/sdb/", "/dm-3/"): text for path, text in host.files.items() if "/sdb/" in path}
    host.files |= own | {"/sys/block/dm-3/dm/uuid": f"mpath-3{WWN}", "/sys/block/dm-3/dev": "253:3"}
    assert (await array(host)).device == "/dev/dm-3"


async def test_a_volume_of_no_disk_here_still_says_which_it_is() -> None:
    host = PlayedWeb()
    host.files = machine()
    one = await array(host)
    assert one.device is None
    assert one.identity is not None
    assert one.identity.wwn == f"naa.{WWN}"


async def test_its_drives_are_members_by_tray_and_slot() -> None:
    found = await Santricity(PlayedWeb()).inventory()
    assert [str(one) for one in found.arrays[0].members] == [f"santricity:lab/array1/drive 99,{n}" for n in range(1, 6)]
    assert [(one.media, one.state, one.array) for one in found.drives] == [
        (Media.SSD, State.ONLINE, FAST),
    ] * 5 + [(Media.SSD, State.UNASSIGNED, None)]
    assert found.drives[0].wwn == "naa.58ce38ee20360001"


async def test_the_disk_system_tells_of_its_controllers_and_batteries() -> None:
    found = await Santricity(PlayedWeb(PlayedServices(second="serviceMode", battery="learning"))).inventory()
    (one,) = found.controllers
    assert (one.model, one.firmware, one.serial) == ("5700", "08.74.02.00", "721848500123")
    assert one.protection is not None
    assert one.protection.state == "learning"
    assert {"Controller A": "optimal", "Controller B": "serviceMode"}.items() <= {
        fact.label: fact.value for fact in one.facts
    }.items()
    assert [problem.message for problem in found.problems] == [
        "The status of controller B of array1 is service mode (serviceMode)."
    ]


async def test_what_tells_its_parts_from_all_others_is_known_so_that_a_recording_can_hide_it() -> None:
    (one,) = (await Santricity(PlayedWeb()).inventory()).controllers
    told = next(fact.value for fact in one.facts if fact.label == "Serial numbers").split()
    assert sorted(told) == sorted(
        ["021833001", "021833002", "BA1", "BA2", "SFP123456", "721848500123", GROUP[8:].lower()]
    )


async def test_its_settings_are_those_of_smcli() -> None:
    assert set(SETTINGS) < set(VOLUME_SETTINGS)


async def test_every_setting_has_its_value() -> None:
    found = await Santricity(PlayedWeb()).read(FAST)
    assert {key: one.now for key, one in found.items()} == {
        "read_cache": "on",
        "write_cache": "write-back",
        "cache_without_battery": "off",
        "cache_mirroring": "on",
        "read_prefetch": "on",
        "flush_modifier": "10",
        "segment_size": "128",
    }


@pytest.mark.parametrize(
    ("field", "value", "key"),
    [
        ("readCacheEnable", "true", "read_cache"),
        ("writeCacheEnable", 1, "write_cache"),
        ("cwob", [], "cache_without_battery"),
        ("readAheadMultiplier", -1, "read_prefetch"),
        ("readAheadMultiplier", True, "read_prefetch"),
        ("cacheFlushModifier", "flush11Sec", "flush_modifier"),
        ("cacheFlushModifier", 10, "flush_modifier"),
    ],
)
async def test_a_value_that_is_not_understood_is_unknown_and_not_changed(field: str, value: object, key: str) -> None:
    services = PlayedServices()
    services.cache[field] = value
    found = await reading(key, services)
    assert found.now == "unknown"
    assert not found.availability.available


@pytest.mark.parametrize(
    ("battery", "second", "without", "force", "why"),
    [
        ("optimal", "optimal", False, None, None),
        (
            "failed",
            "optimal",
            False,
            "write-through",
            "the disk system reports that it is not active; a battery is failed",
        ),
        (
            "optimal",
            "failed",
            False,
            "write-through",
            "the disk system reports that it is not active; the status of controller B is failed",
        ),
        (
            "failed",
            "optimal",
            True,
            "write-back, not protected",
            "a battery is failed, and caching without batteries is on",
        ),
        ("optimal", "optimal", True, None, None),
    ],
)
async def test_what_is_in_force_is_what_the_disk_system_says(
    battery: str, second: str, without: bool, force: str | None, why: str | None
) -> None:
    services = PlayedServices(battery=battery, second=second)
    services.cache["cwob"] = without
    found = await reading("write_cache", services)
    assert (found.now, found.effective, found.why_effective) == ("write-back", force, why)


async def test_a_mirror_to_a_controller_that_is_gone_is_not_in_force() -> None:
    found = await reading("cache_mirroring", PlayedServices(second="removed"))
    assert (found.now, found.effective) == ("on", "off")


async def test_a_cache_that_is_off_and_still_active_says_so() -> None:
    class Lagging(PlayedServices):
        def volume(self) -> dict[str, object]:
            return super().volume() | {"cache": self.cache | {"writeCacheActive": True}}

    services = Lagging()
    services.cache["writeCacheEnable"] = False
    found = await reading("write_cache", services)
    assert (found.now, found.effective) == ("write-through", "write-back")


async def test_what_it_is_made_of_is_asked_for_only_where_it_says_why() -> None:
    well, ill = PlayedWeb(), PlayedWeb(PlayedServices(battery="failed"))
    await Santricity(well).read(FAST)
    await Santricity(ill).read(FAST)
    assert [path.rpartition("/")[2] for _, path, _ in well.services.asked] == ["storage-systems", "volumes"]
    assert [path.rpartition("/")[2] for _, path, _ in ill.services.asked][2:] == ["hardware-inventory"]


@pytest.mark.parametrize(
    ("key", "value", "sent"),
    [
        ("read_cache", "off", {"readCacheEnable": False}),
        ("write_cache", "write-through", {"writeCacheEnable": False}),
        ("cache_without_battery", "on", {"cacheWithoutBatteries": True}),
        ("cache_mirroring", "off", {"mirrorEnable": False}),
        ("read_prefetch", "off", {"readAheadEnable": False}),
        ("flush_modifier", "0.25", {"cacheFlushModifier": "flush250Msec"}),
        ("flush_modifier", "1.5", {"cacheFlushModifier": "flush1500Msec"}),
        ("flush_modifier", "immediate", {"cacheFlushModifier": "flushImmediate"}),
        ("flush_modifier", "infinite", {"cacheFlushModifier": "flushInfinite"}),
        ("flush_modifier", "3600", {"cacheFlushModifier": "flush3600Sec"}),
    ],
)
async def test_a_change_is_one_request_for_one_field(key: str, value: str, sent: object) -> None:
    host = PlayedWeb()
    await Santricity(host).apply(await planned(host, key, value))
    assert changes(host) == [{"cacheSettings": sent}]
    assert (await Santricity(host).read(FAST))[key].now == value


async def test_a_change_says_what_it_will_send_and_what_takes_it_back() -> None:
    change = await planned(PlayedWeb(), "read_cache", "off")
    assert change.writes[0].argv == (DOOR, "POST", OWN, '{"cacheSettings": {"readCacheEnable": false}}')
    assert change.undo[0].argv == (DOOR, "POST", OWN, '{"cacheSettings": {"readCacheEnable": true}}')
    assert (change.confirmed, change.effect.value) == (False, "at-once")


async def test_its_lock_is_that_of_the_disk_where_there_is_one() -> None:
    host, elsewhere = PlayedWeb(), PlayedWeb()
    elsewhere.files = machine()
    assert (await planned(host, "read_cache", "off")).lock.startswith("disk-")
    assert (await planned(elsewhere, "read_cache", "off")).lock == "disk-system-600a098000e3c1b00000000062cf7f1e"


async def test_an_equal_value_is_not_sent() -> None:
    host = PlayedWeb()
    await Santricity(host).apply(await planned(host, "flush_modifier", "10"))
    assert changes(host) == []


@pytest.mark.parametrize(
    ("status", "told", "sentence"),
    [
        (401, {}, "santricity lab rejects the user and password."),
        (403, {"errorMessage": "No role."}, "santricity lab denies this action to the user: No role."),
        (409, {"errorMessage": "Busy"}, "santricity lab is busy: Busy."),
        (423, {"localizedMessage": "Locked."}, "santricity lab is busy: Locked."),
        (422, {"errorMessage": "Bad value."}, "santricity lab refuses the value: Bad value."),
        (404, {}, "santricity lab does not have this object."),
        (302, {}, "santricity lab redirects to another address (HTTP 302 Word). raidbench does not follow redirects."),
        (500, "<html>\x1b[31m", "santricity lab failed (HTTP 500 Word)."),
        (400, {"errorMessage": "\x1b[2J" + "x" * 5000}, "santricity lab failed (HTTP 400 Word): "),
    ],
)
async def test_every_refusal_is_a_sentence(status: int, told: object, sentence: str) -> None:
    host = PlayedWeb(PlayedServices(refusing=(status, told)))
    change = await planned(host, "read_cache", "off")
    with pytest.raises(ToolFailedError) as caught:
        await Santricity(host).apply(change)
    expected = f"Read cache of santricity:lab/array1/fast could not be set: {sentence.rstrip('.')}"
    assert caught.value.message.startswith(expected)
    assert "\x1b" not in caught.value.message + caught.value.hint
    assert len(caught.value.message) < 600


async def test_what_says_yes_and_does_nothing_is_found_by_reading() -> None:
    host = PlayedWeb(PlayedServices(deaf=True))
    await Santricity(host).apply(await planned(host, "read_cache", "off"))
    assert (await Santricity(host).read(FAST))["read_cache"].now == "on"


async def test_another_volume_under_the_same_name_is_left_alone() -> None:
    host = PlayedWeb()
    change = await planned(host, "read_cache", "off")
    host.services.wwn = f"{WWN[:-1]}0"
    with pytest.raises(DeviceGoneError, match="WWN was"):
        await Santricity(host).apply(change)
    assert changes(host) == []


@pytest.mark.parametrize(
    "words",
    [
        (DOOR, "DELETE", OWN),
        (DOOR, "POST", OWN, '{"cacheSettings": {"readCacheEnable": false}, "name": "x"}'),
        (DOOR, "POST", OWN.replace("/1/", "/2/"), '{"cacheSettings": {"readCacheEnable": false}}'),
        ("/santricity:/other", "POST", OWN, '{"cacheSettings": {"readCacheEnable": false}}'),
    ],
)
async def test_a_request_that_is_not_of_this_change_is_not_sent(words: tuple[str, ...]) -> None:
    host = PlayedWeb()
    change = replace(await planned(host, "read_cache", "off"), writes=(ChangeStep(argv=words),))
    with pytest.raises(RefusedError, match="the recorded step does not set read cache"):
        await Santricity(host).apply(change)
    assert changes(host) == []


@pytest.mark.parametrize(
    ("services", "why"),
    [
        (PlayedServices(thin=True), "raidbench cannot change settings of thin volumes"),
        (PlayedServices(changeable=False), "the disk system reports that its cache settings cannot be changed"),
        (PlayedServices(status="offline"), "the proxy does not reach its disk system, which is offline"),
    ],
)
async def test_what_cannot_be_changed_says_why(services: PlayedServices, why: str) -> None:
    with pytest.raises(BlockedError, match=why.replace("(", r"\(").replace(")", r"\)")):
        await planned(PlayedWeb(services), "read_cache", "off")


async def test_the_segment_size_is_shown_and_not_set() -> None:
    with pytest.raises(BlockedError, match="moves all data for hours"):
        await planned(PlayedWeb(), "segment_size", "64")


async def test_an_illegal_value_names_the_legal_ones() -> None:
    with pytest.raises(InvalidValueError) as caught:
        await planned(PlayedWeb(), "flush_modifier", "11")
    assert "infinite" in caught.value.hint


async def test_write_back_on_an_unprotected_cache_risks_data() -> None:
    services = PlayedServices(battery="failed")
    services.cache["cwob"] = True
    risks = {choice.value: choice.risk for choice in (await reading("write_cache", services)).choices}
    assert risks == {"write-back": Risk.POWER_LOSS, "write-through": Risk.NONE}


async def test_nothing_may_be_set_read_only_and_everything_planned_dry() -> None:
    host = PlayedWeb()
    found = await Santricity(ReadOnlyHost(host)).read(FAST)
    assert found["read_cache"].availability.why_not == "read-only mode"
    assert (await Santricity(DryRunHost(host)).plan(FAST, "read_cache", "off")).after == "off"


async def test_through_the_root_helper_nothing_is_set() -> None:
    class Helped(PlayedWeb):
        root_side = object()  # type: ignore[assignment]

    found = await Santricity(Helped()).read(FAST)  # type: ignore[arg-type]
    assert "Start raidbench with --no-helper" in (found["read_cache"].availability.why_not or "")


@pytest.mark.parametrize("address", ["lab/array1", "lab/array1/drive 99,1", "lab", "lab//fast", "lab/a/b/c", ""])
async def test_only_volumes_have_settings(address: str) -> None:
    target = Target(backend="santricity", address=address)
    assert Santricity(PlayedWeb()).settings(target) == ()
    with pytest.raises(NotFoundError):
        await Santricity(PlayedWeb()).plan(target, "read_cache", "off")


async def test_a_door_that_the_configuration_does_not_name_is_not_asked() -> None:
    with pytest.raises(NotFoundError, match="has no santricity other"):
        await Santricity(PlayedWeb()).read(replace(FAST, address="other/array1/fast"))


@pytest.mark.parametrize("address", ["lab/array2/fast", "lab/array1/slow"])
async def test_what_is_gone_is_told_as_such(address: str) -> None:
    with pytest.raises(DeviceGoneError):
        await Santricity(PlayedWeb()).read(replace(FAST, address=address))


async def test_names_that_cannot_be_addressed_are_called_by_their_id() -> None:
    found = await Santricity(PlayedWeb(PlayedServices(name="a/b", label="../x y"))).inventory()
    assert str(found.arrays[0].target) == f"santricity:lab/1/{PlayedServices().reference}"


async def test_what_was_read_is_kept_for_who_cannot_wait() -> None:
    host = PlayedWeb()
    backend = Santricity(host)
    await backend.inventory()
    host.services.cache["readCacheEnable"] = False
    assert (await backend.readings(FAST))["read_cache"].now == "on"
    assert (await backend.read(FAST))["read_cache"].now == "off"
    assert (await backend.readings(FAST))["read_cache"].now == "off"


@pytest.mark.parametrize("there", [True, False])
async def test_it_is_looked_for_where_a_door_is_named(there: bool) -> None:
    assert await VENDOR.present(PlayedWeb() if there else FakeHost(machine())) is there


async def test_a_door_that_does_not_answer_is_a_problem_and_not_the_end(tmp_path: Path) -> None:
    class Dead(PlayedWeb):
        async def run(self, command: Command) -> Completed:
            raise ToolFailedError("Nobody there.", hint="Look.")

    found = await Santricity(Dead()).inventory()
    assert [(one.where, one.message, one.hint) for one in found.problems] == [
        ("santricity:lab", "Nobody there.", "Look.")
    ]
    assert [one.message for one in await Santricity(Dead()).diagnose()] == ["Nobody there."]


async def test_a_part_that_is_not_told_leaves_the_rest() -> None:
    class Guarded(PlayedServices):
        def answer(self, method: str, path: str, body: str | None) -> tuple[int, object]:
            if path.endswith("hardware-inventory"):
                return 403, {"errorMessage": "Not for you."}
            return super().answer(method, path, body)

    found = await Santricity(PlayedWeb(Guarded())).inventory()
    assert len(found.arrays) == len(found.controllers) == 1
    assert [one.message for one in found.problems] == ["santricity lab denies this action to the user: Not for you."]


async def test_a_user_who_is_told_nothing_hears_of_it_once() -> None:
    class Closed(PlayedServices):
        def answer(self, method: str, path: str, body: str | None) -> tuple[int, object]:
            return super().answer(method, path, body) if path == ROOT else (403, {"errorMessage": "Not for you."})

    assert len((await Santricity(PlayedWeb(Closed())).inventory()).problems) == 1


async def test_what_is_in_force_is_told_even_if_nobody_may_know_why() -> None:
    class Guarded(PlayedServices):
        def answer(self, method: str, path: str, body: str | None) -> tuple[int, object]:
            denied = path.endswith("hardware-inventory")
            return (403, {"errorMessage": "Not for you."}) if denied else super().answer(method, path, body)

    found = await reading("write_cache", Guarded(battery="failed"))
    assert found.effective == "write-through"
    assert found.why_effective == "the disk system reports that it is not active"


async def test_a_door_is_asked_one_thing_at_a_time_and_two_doors_at_once() -> None:
    class Busy(PlayedWeb):
        def __init__(self) -> None:
            super().__init__()
            self.going: list[str] = []
            self.crowds: list[list[str]] = []
            self.met = asyncio.Event()

        async def list(self, pattern: str) -> tuple[str, ...]:
            return (DOOR, f"{DOOR}2") if pattern == "/santricity:/*" else await super().list(pattern)

        async def run(self, command: Command) -> Completed:
            self.going.append(command.argv[0])
            self.crowds.append(sorted(self.going))
            if len(self.going) > 1:
                self.met.set()
            if not self.met.is_set():
                await asyncio.wait_for(self.met.wait(), 120)
            await asyncio.sleep(0)
            self.going.remove(command.argv[0])
            return await super().run(replace(command, argv=(DOOR, *command.argv[1:])))

    host = Busy()
    backend = Santricity(host)
    await asyncio.gather(backend.inventory(), backend.inventory())
    assert [DOOR, f"{DOOR}2"] in host.crowds
    assert max(len(crowd) for crowd in host.crowds) == 2
    assert [DOOR, DOOR] not in host.crowds


@pytest.mark.parametrize("said", ["", "<html>login</html>", "{}", "null", "[", '"x"'])
async def test_an_answer_that_is_none_of_the_web_services_says_so(said: str) -> None:
    class Other(PlayedWeb):
        async def run(self, command: Command) -> Completed:
            return Completed(returncode=0, stdout=said, stderr="HTTP 200 OK")

    (problem,) = (await Santricity(Other()).inventory()).problems
    assert problem.message == "santricity lab does not respond like the SANtricity web services."


@pytest.mark.parametrize("part", ["volumes", "storage-pools", "hardware-inventory"])
async def test_half_an_answer_hides_nothing_silently(part: str) -> None:
    class Cut(PlayedWeb):
        async def run(self, command: Command) -> Completed:
            done = await super().run(command)
            return replace(done, stdout=done.stdout[:-1]) if command.argv[-1].endswith(part) else done

    (problem,) = (await Santricity(Cut()).inventory()).problems
    assert problem.message == "santricity lab does not respond like the SANtricity web services."


async def test_doctor_tells_of_a_proxy_without_the_right_password() -> None:
    class Locked(PlayedServices):
        def system(self) -> dict[str, object]:
            return super().system() | {"passwordStatus": "invalid"}

    (problem,) = await Santricity(PlayedWeb(Locked())).diagnose()
    assert "has a wrong password for array1" in problem.message


@pytest.fixture
def server() -> Iterator[PlayedServer]:
    with PlayedServer(PlayedServices()).running() as running:
        yield running


async def test_a_wrong_password_is_told_as_such(server: PlayedServer, tmp_path: Path) -> None:
    door = server.door(tmp_path)
    (tmp_path / "password").write_text("guess\n")
    (problem,) = (await Santricity(WebHost(FakeHost(machine()), (door,))).inventory()).problems
    assert problem.message == "santricity lab rejects the user and password: Authentication failed."
    assert problem.hint == "Check user and password_file in the configuration."


async def test_a_recorded_disk_system_is_seen_as_the_real_one(server: PlayedServer, tmp_path: Path) -> None:
    host = RecordingHost(WebHost(FakeHost(machine()), (server.door(tmp_path),)))
    seen = await Santricity(host).inventory()
    read = await Santricity(host).read(FAST)
    host.save(tmp_path / "machine")
    replay = ReplayHost(tmp_path / "machine")
    assert await Santricity(replay).inventory() == seen
    again = await Santricity(replay).read(FAST)
    assert {key: one.now for key, one in again.items()} == {key: one.now for key, one in read.items()}
    assert json.loads((tmp_path / "machine" / "machine.json").read_text())["lists"]["/santricity:/*"] == [DOOR]
