"""What the helper does at boot's behest and asks of cards, tried for success."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from app.core.changes.systemd_units import NAME, PATH
from app.privsep.client import split_host
from backends.firmware_queries import FirmwareQuery
from backends.self_exec import persistent_argv
from backends.system.local import LocalHost
from tests.backends.hba.answers import ANSWERS, AnsweringCard
from tests.core.changes.test_boot_unit import Booted
from tests.privsep.racks import side_on


class RootsOwn(Booted):
    """A machine that systemd booted, where every program is root's."""

    def which(self, names: Sequence[str]) -> str | None:
        return super().which(names) or (names[0] if names[0].startswith("/") else None)


async def test_the_unit_that_was_shown_is_the_one_that_is_enabled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = RootsOwn()
    side = side_on(host, tmp_path, monkeypatch)
    shown = (await side.ask("unit", do="plan"))["text"]

    await side.ask("unit", do="install")

    assert (host.files[PATH], host.told[-1]) == (shown, ("enable", NAME))


async def test_the_unit_starts_the_helpers_own_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "-m" not in persistent_argv():
        pytest.skip("this copy of the program is not installed, so the unit names the folders of its modules")
    shown = (await side_on(RootsOwn(), tmp_path, monkeypatch).ask("unit", do="plan"))["text"]

    assert f"ExecStart={' '.join(persistent_argv())} recover --trials\n" in shown


async def test_the_unit_is_taken_away_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = RootsOwn()
    side = side_on(host, tmp_path, monkeypatch)
    await side.ask("unit", do="install")

    there = (await side.ask("unit", do="remove"))["there"]

    assert (there, PATH in host.files) == (True, False)


@pytest.mark.parametrize("question", [FirmwareQuery.CONTROLLER, FirmwareQuery.VOLUME])
async def test_what_a_card_answers_comes_to_the_user_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: FirmwareQuery
) -> None:
    card = AnsweringCard(ANSWERS)
    user = split_host(LocalHost(firmware_queries=True), side_on(card, tmp_path, monkeypatch))
    assert user.firmware is not None

    answer = await user.firmware.ask_firmware(7, question)

    assert (answer, card.asked[-1][:2]) == (await card.ask_firmware(7, question), (7, question))


@pytest.mark.parametrize("why_not", [None, "The driver's node is not there."])
async def test_whether_cards_can_be_asked_is_told_as_root_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why_not: str | None
) -> None:
    card = AnsweringCard(ANSWERS, why_not)
    user = split_host(LocalHost(firmware_queries=True), side_on(card, tmp_path, monkeypatch))
    assert user.firmware is not None

    assert await user.firmware.firmware_reachable() == why_not
