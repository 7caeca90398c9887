"""Spoiled answers of fio-status: nothing raised, nothing invented, no time lost.

`RAIDBENCH_MUTATIONS` sets how many for each parser; a few hundred without it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.simulator.fusionio import IoMemory
from backends.vendors.fusionio.facts import Cards
from backends.vendors.fusionio.text import parse_document, parse_status
from tests.backends.system_texts import MANY, check_parser, spoiled

PARSERS: dict[str, Callable[[str], Cards]] = {"fio-status -a": parse_status, "fio-status -fj": parse_document}
GOOD = {name: IoMemory().answer("fio-status", (name.split()[1],)).text for name in PARSERS}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", PARSERS)
def test_no_spoiled_answer_is_more_than_it_says(name: str) -> None:
    for seed in range(MANY):
        check_parser(PARSERS[name], spoiled(GOOD[name], seed), ("NOT connected", "connected"))


@pytest.mark.parametrize("name", PARSERS)
def test_the_good_answer_tells_of_the_card(name: str) -> None:
    assert [(one.name, one.volumes[0].sector_bytes) for one in PARSERS[name](GOOD[name]).modules] == [("fct0", 512)]
