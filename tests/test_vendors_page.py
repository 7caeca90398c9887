"""docs/vendors.md is what the declarations and the backends say: `python -m tests.vendors_page` writes it."""

from __future__ import annotations

import pkgutil

import backends.vendors
from backends.vendors.smcli.readings import BY_KEY
from tests.vendors_page import PAGE, SECTIONS, page

OF_THE_KERNEL = {"block", "hba", "mdraid", "scsi"}
"""Those have pages of their own."""
WITHOUT_SETTINGS = {"areca", "btrfs", "dm", "drbd", "marvell", "stratis"}


async def test_the_page_is_what_the_backends_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == await page()


def test_every_vendor_whose_tool_sets_something_is_on_it() -> None:
    names = {module.name for module in pkgutil.iter_modules(backends.vendors.__path__) if module.name[0] != "_"}
    told = {type(section.well()).__module__.split(".")[2] for section in SECTIONS}
    assert names - told == OF_THE_KERNEL | WITHOUT_SETTINGS


def test_every_setting_of_a_disk_system_is_on_it() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [key for key in BY_KEY if f"| `{key}` |" not in text] == []
