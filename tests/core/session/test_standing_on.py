"""What a change of a lower layer disturbs: what stands on an array, a member, all that hangs from a card."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.presentation.change import change_facts
from app.core.presentation.change import dependents_texts as sentences
from app.core.presentation.json_schema import change as as_json
from app.core.session.events import ChangeIntended
from app.core.session.inventory import dependents_of
from app.core.session.state import ChangeRecord
from backends.change import Change
from backends.identity import Use
from backends.merge_inventory import join_views
from backends.model import Array, Controller, Drive, Inventory, Scope, Target

CARD = Target(backend="megaraid", address="/c0", scope=Scope.CONTROLLER)
VOLUME = Target(backend="megaraid", address="/c0/v1", scope=Scope.ARRAY)
KERNEL = Target(backend="block", address="sda")
MEMBER = Target(backend="megaraid", address="/c0/e8/s1")
LV = Target(backend="lvm", address="vg0/mail", scope=Scope.ARRAY)
FREE = Target(backend="block", address="sdb")

_FOUND = Inventory(
    controllers=(Controller(target=CARD, vendor="megaraid", model="9361"),),
    arrays=(
        Array(target=VOLUME, controller=CARD, device="/dev/sda", members=(MEMBER,)),
        Array(
            target=LV,
            device="/dev/dm-5",
            uses=(
                Use(kind="mount", detail="mounted on /var/mail"),
                Use(kind="open", detail="postgres has it open"),
                Use(kind="root", detail="the running system is on it"),
            ),
        ),
    ),
    drives=(
        Drive(target=KERNEL, device="/dev/sda", above=("vg0/mail", "mounted on /var/mail")),
        Drive(target=MEMBER, controller=CARD, array=VOLUME),
        Drive(target=FREE, device="/dev/sdb"),
    ),
)


FOUND = join_views(_FOUND)


@pytest.mark.parametrize("target", [CARD, VOLUME, KERNEL, MEMBER])
def test_a_layer_below_names_what_stands_on_it(target: Target) -> None:
    assert dependents_of(FOUND, target) == ("vg0/mail", "mounted on /var/mail")


def test_a_pool_names_what_stands_on_its_disks() -> None:
    pool = Array(target=Target(backend="zfs", address="tank", scope=Scope.ARRAY), members=(KERNEL, FREE))
    found = replace(_FOUND, arrays=(pool,))
    assert dependents_of(found, pool.target) == ("vg0/mail", "mounted on /var/mail")


def test_a_thing_of_which_only_the_uses_are_known_names_those_that_stand_on_it() -> None:
    assert dependents_of(FOUND, LV) == ("mounted on /var/mail",)


@pytest.mark.parametrize("target", [FREE, Target(backend="block", address="gone")])
def test_nothing_stands_on_what_is_free_or_not_there(target: Target) -> None:
    assert dependents_of(FOUND, target) == ()


def planned(target: Target, *words: str) -> Change:
    return Change(target=target, key="k", label="K", before="1", after="2", writes=(), undo=(), above=words)


def test_the_review_says_it_once_for_one_target() -> None:
    changes = (planned(VOLUME, "vg0/mail", "mounted on /srv"), planned(VOLUME, "vg0/mail", "mounted on /srv"))
    assert sentences(changes) == ("Dependents: vg0/mail, mounted on /srv.",)


def test_the_review_says_what_stands_on_which_of_several() -> None:
    changes = (planned(VOLUME, "vg0/mail"), planned(KERNEL, "md0"), planned(FREE), planned(CARD, "vg0/mail"))
    assert sentences(changes) == (
        "Dependents of megaraid:/c0/v1, megaraid:/c0: vg0/mail.",
        "Dependents of block:sda: md0.",
    )


def test_of_many_the_first_are_named() -> None:
    (said,) = sentences((planned(VOLUME, *(f"vg0/lv{number}" for number in range(11))),))
    assert said.endswith("vg0/lv6, vg0/lv7 and 3 more.")


def test_programs_are_told_too() -> None:
    assert as_json(planned(VOLUME, "vg0/mail"))["above"] == ["vg0/mail"]


def test_a_change_that_was_made_is_told_with_it() -> None:
    record = ChangeRecord(intent=ChangeIntended(at=0.0, id="c1", change=planned(VOLUME, "vg0/mail")))
    assert ("Dependents", "vg0/mail") in [(line.label, line.value) for line in change_facts(record).facts]
