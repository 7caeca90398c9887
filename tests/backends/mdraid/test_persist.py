"""Settings of an array that outlive a reboot: a line of the udev rules file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.errors import BlockedError, InvalidValueError, NotFoundError
from backends.model import Target
from backends.protocol import CanPersist
from backends.vendors.block.backend import BlockBackend
from backends.vendors.mdraid.backend import MdRaid
from backends.vendors.mdraid.running import RULES, actions, match_of
from tests.backends.mdraid.machines import MD0, MDADM_UUID, MdHost, array

LINE = (
    'ACTION=="add|change", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", '
    f'ENV{{MD_UUID}}=="{MDADM_UUID}", ATTR{{md/stripe_cache_size}}="4096", ATTR{{md/preread_bypass_threshold}}="200"'
)
WANTED = {"preread_bypass_threshold": "200", "stripe_cache_size": "4096"}


async def test_the_array_is_known_by_its_uuid_and_the_cache_is_set_before_what_it_bounds() -> None:
    rule = await MdRaid(MdHost(array())).persist(MD0, WANTED)
    assert (rule.path, rule.text.splitlines()) == (RULES.path, [RULES.header, LINE])
    assert rule.reload == (("udevadm", "control", "--reload"),)


async def test_the_kernels_words_are_kept() -> None:
    rule = await MdRaid(MdHost(array())).persist(MD0, {"skip_copy": "on", "safe_mode_delay": "1500"})
    assert 'ATTR{md/skip_copy}="1", ATTR{md/safe_mode_delay}="1.500"' in rule.text


async def test_lines_of_disks_and_of_persons_stay() -> None:
    host = MdHost(array())
    host.files[RULES.path] = '# mine\nKERNEL=="md7", ATTR{md/skip_copy}="1"\n'
    host.files[RULES.path] = (await MdRaid(host).persist(MD0, {"skip_copy": "on"})).text
    disks_line = (await BlockBackend(host).persist(Target(backend="block", address="sda"), {"nomerges": "2"})).text
    host.files[RULES.path] = disks_line
    again = await MdRaid(host).persist(MD0, {"skip_copy": "off"})
    assert again.text.count("MD_UUID") == 1
    assert 'ATTR{md/skip_copy}="0"' in again.text
    assert 'KERNEL=="md7"' in again.text
    assert "S-sda" in again.text


async def test_the_queue_of_an_array_is_kept_by_the_same_uuid_in_a_line_of_its_own() -> None:
    host = MdHost(array())
    host.files["/run/udev/data/b9:0"] = f"E:MD_UUID={MDADM_UUID}"
    host.files[RULES.path] = (await MdRaid(host).persist(MD0, {"skip_copy": "on"})).text
    rule = await BlockBackend(host).persist(Target(backend="block", address="md0"), {"read_ahead_kb": "4096"})
    assert rule.text.count(f'ENV{{MD_UUID}}=="{MDADM_UUID}"') == 2
    assert 'ATTR{queue/read_ahead_kb}="4096"' in rule.text


async def test_nothing_left_removes_the_file() -> None:
    host = MdHost(array())
    host.files[RULES.path] = (await MdRaid(host).persist(MD0, {"skip_copy": "on"})).text
    assert (await MdRaid(host).persist(MD0, {})).text == ""


async def test_what_the_array_keeps_itself_is_not_kept_twice() -> None:
    with pytest.raises(BlockedError, match="stored in the array itself"):
        await MdRaid(MdHost(array())).persist(MD0, {"bitmap": "internal"})


@pytest.mark.parametrize("values", [{"skip_copy": '1", RUN+="/bin/sh'}, {"stripe_cache_size": "1e9"}])
async def test_values_that_the_setting_does_not_allow_are_refused(values: dict[str, str]) -> None:
    with pytest.raises(InvalidValueError):
        await MdRaid(MdHost(array())).persist(MD0, values)
    with pytest.raises(NotFoundError):
        await MdRaid(MdHost(array())).persist(MD0, {"level": "raid6"})


async def test_without_a_uuid_it_is_refused() -> None:
    with pytest.raises(BlockedError, match="no UUID"):
        await MdRaid(MdHost(array(drop=("uuid",)))).persist(MD0, {"skip_copy": "on"})


@pytest.mark.long
@given(st.text(max_size=40), st.text(max_size=20))
def test_nothing_breaks_out_of_its_quotes(uuid: str, value: str) -> None:
    try:
        line = RULES.line(match_of(uuid), actions({"stripe_cache_size": value}))
    except BlockedError:
        return
    assert line.count('"') == 10


@given(st.lists(st.text(max_size=60) | st.just(LINE), max_size=6).map("\n".join))
def test_no_line_but_ours_is_lost(text: str) -> None:
    content = text.encode("utf-8", "surrogatepass")
    theirs = [line for line in content.split(b"\n") if line and line not in (LINE.encode(), RULES.header.encode())]
    merged = RULES.merge(content, match_of(MDADM_UUID), ())
    assert [line for line in merged.split(b"\n") if line in theirs] == theirs


def test_the_backend_says_that_it_can_keep_settings() -> None:
    assert isinstance(MdRaid(MdHost()), CanPersist)
