"""docs/vendors.md and docs/dev/vendor-settings.md match the backends: `python -m tests.vendors_page` writes both."""

from __future__ import annotations

import pkgutil
import re
from collections import Counter

import backends.vendors
from app.tui.devices.settings_panel import WIDTHS
from backends.vendors.smcli.readings import BY_KEY
from tests.vendors_page import DETAILS, PAGE, SECTIONS, details, page
from widgets.text_utils.text import shorten

KERNEL_VENDORS = {"block", "hba", "mdraid", "scsi"}
"""Vendors with settings of the kernel, which are only in the table of settings."""
WITHOUT_SETTINGS = {"areca", "btrfs", "dm", "drbd", "marvell", "stratis"}


async def test_the_page_of_settings_matches_the_backends() -> None:
    assert PAGE.read_text(encoding="utf-8") == await page()


async def test_the_page_of_details_matches_the_backends() -> None:
    assert DETAILS.read_text(encoding="utf-8") == await details()


def test_every_vendor_with_settings_has_a_section() -> None:
    names = {module.name for module in pkgutil.iter_modules(backends.vendors.__path__) if module.name[0] != "_"}
    listed = {type(section.well()).__module__.split(".")[2] for section in SECTIONS}
    assert names - listed == KERNEL_VENDORS | WITHOUT_SETTINGS


def test_every_setting_of_a_disk_system_is_on_both_pages() -> None:
    for path in (PAGE, DETAILS):
        text = path.read_text(encoding="utf-8")
        assert [key for key in BY_KEY if f"`{key}` |" not in text] == []


def test_no_two_labels_of_a_system_look_alike_in_the_narrowest_column() -> None:
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|(.*)\|(.*)\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) > 100
    shown = Counter(
        (system, shorten(label.strip() or key, WIDTHS["setting"]))
        for key, label, *systems in rows
        for system in {name.strip() for cell in systems for name in cell.split(",")} - {"-"}
    )
    assert [what for what, number in shown.items() if number > 1] == []
