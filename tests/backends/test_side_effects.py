"""Which setting of a queue moves which: the order of a set, what comes back, and the kernel at hand."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest

from backends.change_steps import order_by_moves
from backends.model import Target
from backends.vendors.block.backend import BlockBackend
from backends.vendors.block.settings import BY_KEY, SIDE_EFFECTS, actions, in_order, resets_to
from tests.backends.fakes import QUEUE, FakeHost, disk, machine
from tests.backends.loops import Loop, loop, needs_loops
from tests.backends.queue_effects import effects_words, measured_effects
from tests.case_loop import loop_over

SDA = Target(backend="block", address="sda")
PAGE = Path(__file__).parents[2] / "docs" / "queue.md"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Loop]:
    with loop(tmp_path / "disk.img") as made:
        yield made


@loop_over("keys", permutations(("read_ahead_kb", "max_sectors_kb", "scheduler", "nr_requests")))
def test_nothing_is_reset_by_what_comes_after_it(keys: tuple[str, ...]) -> None:
    ordered = in_order(keys)
    assert sorted(ordered) == sorted(keys)
    for at, key in enumerate(ordered):
        assert not set(SIDE_EFFECTS.get(key, ())) & set(ordered[:at]), ordered


def test_keys_that_move_nothing_of_each_other_keep_their_place() -> None:
    assert in_order(("nomerges", "iostats", "rq_affinity")) == ["nomerges", "iostats", "rq_affinity"]


def test_of_a_cycle_the_first_stays_first() -> None:
    assert order_by_moves(("one", "other"), {"one": ("other",), "other": ("one",)}) == ["one", "other"]
    assert order_by_moves(("third", "one", "other"), {"one": ("other",), "other": ("one", "third")}) == [
        *("one", "other", "third"),
    ]


async def test_a_set_is_planned_in_that_order() -> None:
    host = FakeHost(machine(disk("sda", queue=QUEUE, serial="S1", mq__0__nr_tags="32")))
    wanted = {"read_ahead_kb": "256", "nr_requests": "64", "iostats": "0", "max_sectors_kb": "128", "scheduler": "none"}
    planned = await BlockBackend(host).plan_together(SDA, wanted | {"nr_requests": "16"})
    assert [change.key for change in planned] == [
        *("iostats", "max_sectors_kb", "read_ahead_kb", "scheduler", "nr_requests"),
    ]


def test_a_rule_writes_read_ahead_after_what_resets_it() -> None:
    line = actions({"read_ahead_kb": "64", "iostats": "0", "max_sectors_kb": "256", "scheduler": "none"})
    keys = [re.findall(r"queue/(\w+)", action)[0] for action in line]
    assert keys.index("read_ahead_kb") == len(keys) - 1
    assert set(keys) == {"read_ahead_kb", "iostats", "max_sectors_kb", "scheduler"}


@pytest.mark.parametrize(
    ("attributes", "values"),
    [
        ({"max_sectors_kb": "1280", "optimal_io_size": "0"}, ("128", "512", "2560")),
        ({"max_sectors_kb": "1280", "optimal_io_size": "1048576"}, ("128", "512", "2048", "2560")),
        ({}, ("128", "512")),
    ],
)
def test_read_ahead_is_led_to_the_kernels_defaults_alone(attributes: dict[str, str], values: tuple[str, ...]) -> None:
    led_to = resets_to("max_sectors_kb", "256", attributes, 4)
    assert sorted(led_to["read_ahead_kb"], key=int) == list(values)


@pytest.mark.parametrize(("page_kb", "values"), [(4, ("128", "160")), (64, ("128", "128"))])
def test_read_ahead_is_led_to_whole_pages(page_kb: int, values: tuple[str, ...]) -> None:
    led_to = resets_to("max_sectors_kb", "81", {"rotational": "1"}, page_kb)
    assert set(led_to["read_ahead_kb"]) == set(values)


def test_what_resets_no_limits_leads_read_ahead_nowhere() -> None:
    assert resets_to("nomerges", "2", {"max_sectors_kb": "1280"}, 4) == {}


# -- the kernel at hand -----------------------------------------------------------------------------------------------


@needs_loops()
@pytest.mark.root
def test_this_kernel_moves_nothing_that_is_not_in_the_table(own: Loop) -> None:
    queue = Path(f"/sys/block/{Path(own.sure()).name}/queue")
    attributes = {key: (queue / key).read_text().strip() for key in ("max_sectors_kb", "optimal_io_size")}
    page_kb = os.sysconf("SC_PAGE_SIZE") // 1024
    found = measured_effects(queue)
    for key, moved in found.items():
        assert set(moved) <= set(SIDE_EFFECTS.get(key, ())), key
        for value in ("64", "128", "256", attributes["max_sectors_kb"]):
            attributes |= {"max_sectors_kb": value} if key == "max_sectors_kb" else {}
        if key != "max_sectors_kb" and "read_ahead_kb" in moved:
            assert moved["read_ahead_kb"] <= set(resets_to(key, "", attributes, page_kb)["read_ahead_kb"]), key
    largest = found.get("max_sectors_kb", {}).get("read_ahead_kb", set())
    ends = [resets_to("max_sectors_kb", size, {}, page_kb)["read_ahead_kb"] for size in ("64", "128", "256")]
    assert largest <= {value for values in ends for value in values}


@needs_loops()
@pytest.mark.root
def test_the_page_says_what_this_kernel_moves(own: Loop) -> None:
    series = ".".join(os.uname().release.split(".")[:2])
    rows = [line.strip("| \n").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("|")]
    heads = next(row for row in rows if row[0] == "Written")
    if f"Linux {series}" not in heads:
        pytest.skip(f"the page has no column of Linux {series}")
    column = heads.index(f"Linux {series}")
    queue = Path(f"/sys/block/{Path(own.sure()).name}/queue")
    there = [key for key in BY_KEY if (queue / key).exists()]
    claimed = {row[0].strip("`"): row[column].replace("`", "") for row in rows}
    found = measured_effects(queue)
    assert {key: claimed[key] for key in there} == {key: effects_words(found, key) for key in there}
