"""The workbench in a terminal, driven by keys: devices, a setting reviewed, applied and undone, a run, the way out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.core.fio.fields import COMMON, FIELDS, GROUPS
from tests.lab.disks import Disks
from tests.lab.making import Md
from tests.lab.results import Results
from tests.lab.terminal import Terminal, raidbench, terminal

SETTING, VALUE = "stripe_cache_size", "1024"

pytestmark = pytest.mark.seconds(900)


@pytest.fixture
def screen(state: Path) -> Iterator[Terminal]:
    with terminal(state) as opened:
        opened.wait("ready>")
        yield opened


def test_a_setting_and_a_run_by_keys_alone(
    screen: Terminal, array: Callable[..., Md], disks: Disks, table: Results
) -> None:
    made = array("raid5", ["nvme0", "nvme1", "nvme2"])
    before = made.read(f"md/{SETTING}")
    modes = screen.modes
    screen.type(raidbench())
    screen.press("Enter")

    shown = lists_devices(screen, made, disks)
    assert table.add("Terminal", "devices", "", "the array with its members, NVMe, SATA and SCSI disks", ok=shown)

    command = stages(screen, made)
    exact = f"/sys/block/{made.kernel}/md/{SETTING}" in command
    assert table.add("Terminal", "review", "a", "the file and both values", ok=exact)
    assert made.read(f"md/{SETTING}") == before

    screen.press_until("y", "verified")
    assert table.add("Terminal", "apply", "y", "verified", ok=made.read(f"md/{SETTING}") == VALUE)

    figures = runs(screen, made)
    assert table.add("Terminal", "bench", "m e r", "graphs, members, IOPS at the end", ok=figures)

    undoes(screen)
    assert table.add("Terminal", "undo", "u y", "the old value is back", ok=made.read(f"md/{SETTING}") == before)

    screen.press("q")
    screen.wait(r"ready> *\n*$")
    assert table.add("Terminal", "the way out", "q", "the terminal as it was", ok=screen.modes == modes)


def lists_devices(screen: Terminal, made: Md, disks: Disks) -> bool:
    """Whether every kind of disk is in the list, and the array, once it is opened, with its members."""
    apart = [disks[name].kernel for name in ("nvme3", "sata0", "scsi0")]
    there = screen.until(lambda text: made.kernel in text and "scanning hardware" not in text, made.kernel)
    if not all(kernel in there for kernel in apart):
        return False
    screen.press("/")
    screen.type(made.kernel)
    screen.wait("of [0-9]+ match")
    screen.press("Enter")
    members = [disks[name].kernel for name in ("nvme0", "nvme1", "nvme2")]
    if members[0] not in screen.screen():  # one that is busy is open
        screen.press("l")
    there = screen.wait(members[0])
    return all(kernel in there for kernel in members)


def stages(screen: Terminal, made: Md) -> str:
    """Go into the array that is found, stage the value, ask for the review; the dialog."""
    screen.press("Enter")
    screen.wait(r"> Stripe cache")  # the first of its settings
    screen.press("Enter")
    screen.wait("OK +enter")
    screen.type_until(VALUE, rf"│ +{VALUE} +│")
    screen.press_until("Enter", "1 staged")
    screen.press("a")
    screen.wait("Apply 1 change")
    return screen.wait(rf"\$ .*{SETTING}")


def runs(screen: Terminal, made: Md) -> bool:
    """Measure the array for six seconds; whether graphs and figures were there."""
    screen.press("m")
    screen.wait(rf"raid5 · {made.kernel} ")
    screen.press("e")
    screen.wait("Edit job")
    shown = [key for keys in GROUPS.values() for key in keys if key in COMMON]
    fields = {field.key: field for field in FIELDS}
    at = 0
    for key, text in (("runtime", "6"), ("ramp", "1")):
        screen.press(*["Tab"] * (shown.index(key) - at))
        screen.wait(re.escape(fields[key].help[:30]))  # it tells of the field that has the keys
        screen.type_until(text, rf"{fields[key].label}, {fields[key].unit} +{text} ")
        at = shown.index(key)
    screen.press("C-s")
    screen.until(lambda text: "· 6 s" in text and "Edit job" not in text, "the job")
    screen.press("r")
    screen.wait(r"ramp|measuring|done: ")
    done = screen.wait(r"(done|failed|stopped): ", 120)
    return all(word in done for word in ("IOPS", "p99")) and bool(re.search(r"[⠁-⣿▁-█]", done))


def undoes(screen: Terminal) -> None:
    """Back to the devices, take the change back."""
    screen.press("1")
    screen.wait("Stripe cache")
    screen.press("u")
    screen.wait("Undo stripe cache")
    screen.press_until("y", "undone")
