"""Asking a card: the packet that the driver gets, who may ask, and what is done with the answers."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from app.cli.options import Options
from app.cli.session_context import host_of
from app.core.config import ConfigError
from backends.errors import RefusedError, ToolTimeoutError
from backends.firmware_queries import FirmwareQuery
from backends.model import State
from backends.system.local import LocalHost
from backends.system.local.firmware import packet, request_number
from backends.system.wrapped import ReadOnlyHost
from backends.vendors.hba.firmware.query import query_card
from tests.backends.fakes import FakeHost
from tests.backends.hba.answers import ANSWERS, BATTERY, CONTROLLER, AnsweringCard, drive
from tests.case_loop import loop_over

FROM_CARD, TO_CARD = 0x10, 0x08


@loop_over("question", list(FirmwareQuery))
def test_every_question_only_lets_data_come_from_the_card(question: FirmwareQuery) -> None:
    flags = struct.unpack_from("<H", packet(7, question, 0, question.value.size, 0), 20 + 16)[0]
    assert flags == FROM_CARD
    assert not flags & TO_CARD


READING = {0x01010000, 0x01020100, 0x02010000, 0x02020000, 0x03010000, 0x03020000, 0x04010000, 0x05010000}
"""*_GET_INFO, *_GET_LIST, CTRL_GET_PROPS, CFG_READ and BBU_GET_STATUS of the driver's and FreeBSD's headers."""


@loop_over("question", list(FirmwareQuery))
def test_no_question_is_a_command_that_does_something(question: FirmwareQuery) -> None:
    assert question.value.opcode in READING


def test_a_packet_names_the_host_the_command_and_where_the_answer_goes() -> None:
    data = packet(7, FirmwareQuery.VOLUME, 3, 384, 0x1234)
    assert struct.unpack_from("<H", data)[0] == 7
    assert struct.unpack_from("<I", data, 20 + 24)[0] == 0x03020000
    assert data[20 + 28] == 3
    assert struct.unpack_from("@PP", data, 20 + 128) == (0x1234, 384)


@pytest.mark.parametrize(("pointer", "size"), [("Q", 404), ("I", 276)])
def test_a_packet_has_the_size_that_the_driver_wants(pointer: str, size: int) -> None:
    assert len(packet(0, FirmwareQuery.CONTROLLER, 0, 2048, 0, pointer)) == size


def test_the_request_number_is_the_drivers() -> None:
    assert request_number(404) == 0xC1944D01


def test_the_machine_itself_can_be_asked_behind_any_wrapper() -> None:
    host = LocalHost()
    assert ReadOnlyHost(host).firmware is host


def test_another_host_cannot_be_asked() -> None:
    assert ReadOnlyHost(FakeHost({})).firmware is None


async def test_nobody_is_asked_unless_it_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.system.local.firmware._open", lambda: pytest.fail("it was opened"))
    with pytest.raises(RefusedError, match="firmware_queries"):
        await LocalHost().ask_firmware(0, FirmwareQuery.CONTROLLER)
    assert "firmware_queries" in (await LocalHost().firmware_reachable() or "")


async def test_another_file_is_not_taken_for_the_drivers_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.system.local.firmware.NODE", "/dev/null")
    with pytest.raises(RefusedError, match="/dev/null is not the device node of megaraid_sas_ioctl"):
        await LocalHost(firmware_queries=True).ask_firmware(0, FirmwareQuery.CONTROLLER)


async def test_a_missing_node_is_not_made_but_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.system.local.firmware.NODE", "/dev/no-such-node")
    assert "/dev/no-such-node does not exist." in (await LocalHost(firmware_queries=True).firmware_reachable() or "")


async def test_more_than_a_questions_answer_cannot_be_asked_for() -> None:
    with pytest.raises(ValueError, match="no answer of"):
        await LocalHost(firmware_queries=True).ask_firmware(0, FirmwareQuery.BATTERY, size=65536)


async def test_a_look_finds_the_card_its_arrays_and_their_members() -> None:
    found = await query_card(AnsweringCard(ANSWERS), 7, "0000:03:00.0")
    assert (found.card.serial, found.card.pci) == ("LABMEGA0", "0000:03:00.0")
    assert [(one.number, one.drives) for one in found.volumes] == [(0, (":0",)), (2, (":2",))]
    assert not found.problems


async def test_a_drive_that_is_silent_has_the_state_that_its_group_knows() -> None:
    found = await query_card(AnsweringCard(ANSWERS), 7, "0000:03:00.0")
    assert [one.state for one in found.drives] == [State.ONLINE, State.ONLINE]


async def test_the_configuration_is_asked_for_at_its_own_length() -> None:
    card = AnsweringCard(ANSWERS)
    await query_card(card, 7, "0000:03:00.0")
    sizes = [size for _, question, _, size in card.asked if question is FirmwareQuery.CONFIGURATION]
    assert sizes == [1120]


async def test_a_battery_is_asked_about_where_there_is_one() -> None:
    fitted = bytearray(CONTROLLER)
    fitted[1456] |= 1
    found = await query_card(
        AnsweringCard({**ANSWERS, FirmwareQuery.CONTROLLER: bytes(fitted), FirmwareQuery.BATTERY: BATTERY}),
        7,
        "0000:03:00.0",
    )
    assert found.card.backup is not None
    assert found.card.backup.healthy


async def test_what_a_card_refuses_is_a_problem_of_the_rest() -> None:
    card = AnsweringCard(ANSWERS)
    del card.answers[FirmwareQuery.DRIVE]
    found = await query_card(card, 7, "0000:03:00.0")
    assert len(found.volumes) == 2
    assert found.problems == ("The card refused drive.", "The card refused drive.")


async def test_an_answer_without_meaning_is_a_problem_of_the_rest() -> None:
    found = await query_card(AnsweringCard({**ANSWERS, FirmwareQuery.PROPERTIES: b"\0"}), 7, "0000:03:00.0")
    assert len(found.volumes) == 2
    assert "about the properties" in found.problems[0]


async def test_a_card_that_fell_silent_is_left_alone() -> None:
    card = AnsweringCard({**ANSWERS, FirmwareQuery.DRIVES: ToolTimeoutError("It did not answer.")})
    with pytest.raises(ToolTimeoutError):
        await query_card(card, 7, "0000:03:00.0")
    assert card.asked[-1][1] is FirmwareQuery.DRIVES


async def test_enclosures_are_no_drives() -> None:
    listed = bytearray(ANSWERS[FirmwareQuery.DRIVES])  # type: ignore[arg-type]
    listed[8 + 6] = 13
    found = await query_card(AnsweringCard({**ANSWERS, FirmwareQuery.DRIVES: bytes(listed)}), 7, "0000:03:00.0")
    assert [one.place for one in found.drives] == [":0"]


async def test_a_drive_that_speaks_has_its_own_state() -> None:
    found = await query_card(AnsweringCard({**ANSWERS, FirmwareQuery.DRIVE: drive(0, b184=b"\x11")}), 7, "0000:03:00.0")
    assert found.drives[0].state is State.FAILED


@pytest.mark.parametrize("allowed", [True, False])
def test_the_configuration_decides_whether_cards_are_asked(tmp_path: Path, *, allowed: bool) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text(f"firmware_queries = {str(allowed).lower()}\n")
    asking = host_of(Options(config=settings)).firmware
    assert asking is not None
    assert asking.firmware_queries is allowed


def test_a_configuration_that_cannot_be_read_lets_nobody_be_asked(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text("firmware_queries = 'perhaps'\n")
    with pytest.raises(ConfigError, match="firmware_queries"):
        host_of(Options(config=settings))
