"""Sweeps on real md arrays: the shipped write-mostly plan, and chunk against read-ahead."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from app.features.sweep.engine.builtin_plans import plan_files
from tests.lab.disks import Disk, Disks
from tests.lab.making import Md
from tests.lab.results import Results
from tests.lab.running import Outcome, raidbench, run

TIMES = {'runtime = "60s"': 'runtime = "2s"', 'ramp = "10s"': 'ramp = "0s"'}
SHORT = {**TIMES, "repeats = 5": "repeats = 1\npairs = 0\nrest = 0"}

CHUNK = """
[targets]
array = ""
[measure]
repeats = 1
pairs = 0
rest = 0
[job]
rw = "read"
bs = "128k"
runtime = "2s"
ramp = "0s"
[[axis]]
setting = "chunk_size"
values = ["64k", "128k"]
[[axis]]
setting = "read_ahead_kb"
values = [128, 1024]
"""


SMALL = {
    **TIMES,
    "iodepth = 512": "iodepth = 32",
    "iodepth = 64": "iodepth = 4",
    "repeats = 4": "repeats = 1",
    'rest = "2s"': "rest = 0",
    'layout = ["n2", "f2"]': 'layout = ["f2"]',
    'strip = "64k"\n': 'strip = "64k"\nassume_clean = true\n',
    '"raid0", "raid5", "raid6", "raid50", "raid10", "jbod"]': '"raid5", "raid50", "raid10", "jbod"]',
    "raid0 = 24, raid5 = 23, raid6 = 23, raid50": "raid5 = 23, raid50",
}
"""Of articles-b, for disks of a guest, without two levels: here each takes a minute, and others make them, too."""

LEFT_OUT = (
    r'\[\[workload\]\]\nname = "(4k write|4M read)"\n(.+\n)+\n|, "4k write" = [\d.]+|"4M read" = [\d.]+, '
    r'|\[\[published\]\]\nrow = "raid[06],.+\n(.+\n)+|"raid[06],.+\n'
)
"""Two of its four workloads and two of its levels, and what was published of them: what is left reads and writes every
array."""


pytestmark = pytest.mark.vendors("block", "md")


def short(tmp_path: Path, name: str, words: Mapping[str, str], left_out: str = "$^") -> str:
    """A shipped plan, with other words for some of it: its runs are short. `left_out`: a pattern of what it loses."""
    text = re.sub(left_out, "", plan_files()[name].read_text())
    for long, brief in words.items():
        assert long in text
        text = text.replace(long, brief)
    file = tmp_path / f"{name}.toml"
    file.write_text(text)
    return str(file)


def swept(*words: str) -> Outcome:
    done = raidbench("sweep", *words, "--json")
    assert done.status == 0, done.err
    return done


@pytest.mark.seconds(1200)
def test_write_mostly_matters_on_a_mirror_and_is_taken_back(
    array: Callable[..., Md], disks: Disks, state: Path, tmp_path: Path, table: Results
) -> None:
    made = array("raid1", ["nvme0", "sata0"], "--assume-clean")
    fast, slow = disks["nvme0"].device, disks["sata0"].device
    roles = ("--target", f"array={made.device}", "--target", f"fast={fast}", "--target", f"slow={slow}")
    done = swept(short(tmp_path, "articles-c", SHORT), *roles, "--yes", "--confirm", made.kernel)
    sweep = done.json["sweep"]
    assert sweep["result"] == "finished"
    assert [cell["runs"] for cell in sweep["cells"]] == [1] * 6
    assert len(sweep["published"]) == 8
    shares = [
        {member["role"]: member["share_of_reads"] for member in each["members"]}
        for each in raidbench("runs", "--json").json["runs"]
        if len(each["members"]) == 2
    ]
    marked = [each for each in shares if "write-mostly" in each]
    assert [each["write-mostly"] for each in marked] == [pytest.approx(0, abs=0.01)] * 2
    assert len(shares) == 4
    back = "write_mostly" not in made.read(f"md/dev-{disks['sata0'].kernel}/state").split(",")
    assert table.add("Arrays", "raid1 of NVMe and SATA", "sweep of write-mostly", "6 cells, flag as before", ok=back)


@pytest.mark.seconds(1200)
def test_chunk_and_read_ahead_are_swept_on_a_parity_array(
    array: Callable[..., Md], state: Path, tmp_path: Path, table: Results
) -> None:
    made = array("raid5", ["nvme0", "nvme1", "nvme2"], "--chunk=64", "--assume-clean", size="16M")
    before = made.read("queue/read_ahead_kb")
    plan = tmp_path / "chunk.toml"
    plan.write_text(CHUNK)
    done = swept(str(plan), "--target", made.device, "--yes", "--confirm", made.kernel)
    sweep = done.json["sweep"]
    assert sweep["result"] == "finished"
    assert len(sweep["cells"]) == 4
    made.settle()
    chunk, ahead = made.read("md/chunk_size").split()[0], made.read("queue/read_ahead_kb")
    back = (chunk, ahead) == ("65536", before)
    seen = f"4 cells, chunk {chunk} and read-ahead {ahead} KiB as before"
    assert table.add("Arrays", "raid5 of 3", "sweep of chunk (reshape) and read-ahead", seen, ok=back)


class Watched(threading.Thread):
    """Looks at every array that raidbench makes while it is there; in sysfs, which keeps no md from stopping."""

    def __init__(self) -> None:
        super().__init__()
        self.over = threading.Event()
        self.seen: set[tuple[str, str, str]] = set()
        """Level, devices, and bytes of a chunk."""

    def run(self) -> None:
        """Until it is over."""
        while not self.over.wait(0.1):
            for folder in Path("/sys/block").glob("md1[0-9][0-9]/md"):
                with contextlib.suppress(OSError):  # gone meanwhile
                    level, devices, chunk = (
                        (folder / name).read_text().strip() for name in ("level", "raid_disks", "chunk_size")
                    )
                    if level.startswith("raid"):  # a number, or nothing, until it is set up
                        self.seen.add((level, devices, chunk))


@pytest.mark.seconds(2400)
def test_arrays_of_two_levels_are_made_measured_and_deleted_without_a_trace(
    blank: Callable[..., tuple[Disk, ...]], state: Path, tmp_path: Path, table: Results
) -> None:
    """Sweep the plan of the article with 24 SSDs over four drives: they are too few for RAID 50.

    RAID 10 has far copies, and one drive is measured alone.
    """
    disks = blank("nvme0", "nvme1", "nvme2", "nvme3")
    levels = ("raid10", "raid5")
    words = ("--drives", ",".join(disk.kernel for disk in disks), "--yes")
    plan = short(tmp_path, "articles-b", SMALL, LEFT_OUT)
    typed = raidbench("sweep", plan, *words).err.split("--confirm ")[1].split()[0]
    watched = Watched()
    watched.start()
    try:
        done = swept(plan, *words, "--confirm", typed)
    finally:
        watched.over.set()
        watched.join()
    sweep = done.json["sweep"]
    assert sweep["result"] == "finished"
    runs = {(cell["row"], cell["column"]): cell["runs"] for cell in sweep["cells"]}
    assert {key: number for key, number in runs.items() if number != 1} == {}, done.out
    assert len(runs) == (len(levels) + 1) * 2, runs
    beside = [each for each in sweep["published"] if each.get("measured") is not None]
    assert len(beside) == 4, sweep["published"]  # RAID 10 was not measured there
    assert watched.seen == {(level, "4", "65536") for level in levels}
    left = [line for disk in disks for line in run("wipefs", "-n", disk.device).splitlines()[1:]]
    left += [str(path) for path in Path("/sys/block").glob("md1[0-9][0-9]") if (path / "md/array_state").exists()]
    seen = f"{len(levels)} levels measured, wipefs shows {len(left) or 'nothing'}"
    assert table.add("Arrays", "levels of four NVMe", "sweep that makes and deletes them", seen, ok=not left)
