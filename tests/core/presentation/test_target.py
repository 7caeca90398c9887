"""What is measured, in one line with the settings in force that tell most."""

from __future__ import annotations

from app.core.presentation.device import informative_settings, target_texts
from backends.model import Array, Inventory, Level, Target

SSD = Array(target=Target(backend="megaraid", address="/c0/v1"), name="ssd", level=Level.RAID5, device="/dev/sdb")
VALUES = {"strip_size": "65536", "read_ahead": "none", "write_cache": "write-through", "scheduler": "none"}


def test_of_an_array_its_policies_and_strip_are_told() -> None:
    assert informative_settings(VALUES) == ("write through", "read-ahead none", "strip 64K")


def test_of_a_cached_device_the_mode_of_its_cache_comes_first() -> None:
    assert informative_settings({**VALUES, "cache_mode": "write-around"})[:2] == (
        "cache around",
        "write through",
    )


def test_a_setting_that_bears_its_name_as_value_is_on() -> None:
    assert informative_settings({"read_ahead": "read-ahead"}) == ("read-ahead on",)


def test_of_a_disk_scheduler_and_queue_are_told() -> None:
    values = {"scheduler": "mq-deadline", "nr_requests": "256", "nomerges": "0"}
    assert informative_settings(values) == ("scheduler mq-deadline", "requests 256")


def test_an_array_is_told_by_its_name_level_and_node() -> None:
    assert target_texts(Inventory(arrays=(SSD,)), "/dev/sdb", "megaraid:/c0/v1") == ("ssd", "raid5", "sdb")


def test_a_file_is_told_by_its_path_and_what_it_lies_on() -> None:
    assert target_texts(Inventory(arrays=(SSD,)), "/dev/sdb", "/srv/a.dat") == ("file /srv/a.dat", "on sdb")


def test_what_is_not_known_is_told_by_its_name() -> None:
    assert target_texts(Inventory(), None, "a scratch file of 1 GiB") == ("a scratch file of 1 GiB",)
