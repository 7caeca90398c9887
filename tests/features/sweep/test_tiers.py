"""The sweep over the kernel's caches that comes along, on the simulated rack that has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.features.sweep.test_articles import SPEED, cells_of, swept, verdict

LINUX = ("--demo", "linux", *SPEED)
PLANS = Path(__file__).parents[3] / "plans"


def test_all_that_the_plan_names_is_there_and_what_would_spoil_a_cache_is_left_out(cli: Cli) -> None:
    plan = cli(*LINUX, "sweep", "cache-modes", "--dry-run", "--json").json["sweep"]
    cells = {(cell["row"], cell["column"]) for cell in plan["cells"]}
    assert len(cells) == 31
    assert ("bcache, none", "random write") not in cells
    assert len(plan["destroys"]) == 4


def test_what_is_not_there_is_left_out_and_so_is_what_was_named_empty(cli: Cli) -> None:
    words = ("--target", "plain=", "--target", "dm-cache=", "--target", "writecache=")
    plan = cli(*LINUX, "sweep", "cache-modes", *words, "--dry-run", "--json").json["sweep"]
    assert {cell["row"].partition(",")[0] for cell in plan["cells"]} == {"bcache"}


def test_where_nothing_of_a_plan_is_there_it_says_so(cli: Cli) -> None:
    done = cli("--demo", "sweep", "cache-modes", "--dry-run")
    assert done.status == 2
    assert "vg0/spare" in done.err


OTHERS = ("70/30 mix", "sequential read", "sequential write")
"""Workloads of which the verdicts below do not tell; a cell of each set-up with each takes minutes."""


SHORT = {'runtime = "60s"': 'runtime = "6s"', 'ramp = "10s"': 'ramp = "5s"'}
"""What is shorter in the test, and to what."""


def random_only(plan: str) -> str:
    """The plan without the other workloads, in short runs."""
    blocks = [block for block in plan.split("\n[[") if not any(f'name = "{name}"' in block for name in OTHERS)]
    kept = [block for block in blocks if 'workload = "sequential write"' not in block]
    for name in OTHERS:
        kept = [block.replace(f', "{name}"', "") for block in kept]
    text = "\n[[".join(kept)
    for long, brief in SHORT.items():
        assert long in text
        text = text.replace(long, brief)
    return text


@pytest.mark.exhaustive
def test_every_mode_is_as_fast_as_the_part_that_serves(cli: Cli, tmp_path: Path) -> None:
    plan = tmp_path / "modes.toml"
    plan.write_text(random_only((PLANS / "cache-modes.toml").read_text()))
    cells = cells_of(swept(cli, *LINUX, "sweep", str(plan)))
    assert {column for _, column in cells} == {"random read", "random write"}
    iops = {place: cell["iops"] for place, cell in cells.items()}
    verdicts = {place: verdict(cell) for place, cell in cells.items()}
    for cache in ("dm-cache", "bcache"):
        assert verdicts[f"{cache}, write-back", "random write"] == "faster"
        assert iops[f"{cache}, write-through", "random write"] < 1000
        assert iops[f"{cache}, write-through", "random read"] > 50_000
    assert verdicts["dm-cache, write-through", "random read"] == "faster"
    assert verdicts["dm-cache, passthrough", "random read"] == "slower"
    assert verdicts["writecache", "random write"] == "faster"


@pytest.mark.long
@pytest.mark.parametrize("name", ["vg0/mail", "lvm:vg0/mail", "tank/vm", "/dev/vg0/mail"])
def test_a_volume_is_found_as_the_list_writes_it(cli: Cli, name: str) -> None:
    assert cli(*LINUX, "show", name).status == 0
    done = cli(*LINUX, "bench", name, "--profile", "randread-4k", "--runtime", "2", "--ramp", "0", "--json")
    assert (done.status, done.json["run"]["status"]) == (0, "ok")


def test_a_path_that_is_no_volume_is_a_path(cli: Cli) -> None:
    done = cli(*LINUX, "bench", "vg0/nothing", "--profile", "randread-4k")
    assert done.status != 0
    assert "does not exist" in done.err


def test_a_filesystem_is_measured_in_its_folder(cli: Cli) -> None:
    words = ("--profile", "randread-4k", "--runtime", "2", "--ramp", "0", "--size", "64M", "--json")
    done = cli(*LINUX, "bench", "tank/files", *words)
    assert done.status == 0, done.err
    keys = {each["key"] for each in done.json["run"]["advice"]}
    assert {"cache-larger-than-area", "zfs-block-size"} <= keys


@pytest.mark.long
def test_write_back_is_told_from_write_through(cli: Cli) -> None:
    job = ("--profile", "randwrite-4k", "--size", "2G", "--runtime", "5", "--ramp", "1")
    done = cli(
        *LINUX,
        "ab",
        "vg0/mail",
        "cache_mode=write-back",
        *job,
        "--pairs",
        "3",
        "--yes",
        "--confirm",
        "vg0/mail",
        "--json",
    )
    assert done.status == 0, done.err
    rows = done.json["experiment"]["figures"]
    assert next(row["verdict"] for row in rows if row["figure"] == "iops") == "faster"


def test_a_run_keeps_what_was_inherited_by_its_value(cli: Cli) -> None:
    words = ("--profile", "randread-4k", "--runtime", "2", "--ramp", "0", "--json")
    settings = cli(*LINUX, "bench", "tank/vm", *words).json["run"]["settings"]
    assert (settings["compression"], settings["sync"], settings["volblocksize"]) == ("lz4", "standard", "8192")
