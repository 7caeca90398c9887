"""The statements that change a disk system, and the changes made of them. Pure."""

from __future__ import annotations

from backends.change import Change, Write
from backends.changing import Wanted
from backends.identity import Identity
from backends.vendors._disk_systems import INFINITE
from backends.vendors.smcli.facts import VOLUME_ID
from backends.vendors.smcli.readings import SystemView
from backends.vendors.smcli.settings import FLUSH_MODIFIER, KNOBS


def asked(program: str, name: str, statement: str) -> tuple[str, ...]:
    """The words of one statement to the disk system of a name."""
    return (program, "-n", name, "-c", statement)


def step(view: SystemView, key: str, value: str) -> Write:
    """The one statement that sets a value: never more than one logical drive at a time."""
    nouns, knob = view.profile.nouns, KNOBS[key]
    what = nouns.system if view.volume is None else f'{nouns.volume} ["{view.volume.name}"]'
    word = knob.said.get(value) or (_delay(value, nouns.fractions) if knob is FLUSH_MODIFIER else value)
    return Write(argv=asked(view.program, view.profile.name, f"set {what} {knob.word}={word};"))


def _delay(value: str, fractions: bool) -> str:
    """Seconds as the dialect writes them: of a part of a second IBM's takes milliseconds, NetApp's `.25`."""
    if value in ("immediate", INFINITE):
        return value.capitalize()
    if "." not in value:
        return value
    if fractions:
        return value.removeprefix("0")
    return str(round(float(value) * 1000))


def identity(view: SystemView) -> Identity:
    """The disk system, or the logical drive, by world wide name."""
    if view.volume is None:
        return Identity(name=view.profile.name, wwn=view.profile.wwn)
    return Identity(name=f"{view.profile.name}/{view.volume.name}", wwn=view.volume.wwn(*VOLUME_ID))


def planned(view: SystemView, wish: Wanted, lock: str) -> Change:
    """The change and its way back."""
    key = wish.setting.key
    back = (step(view, key, wish.now.now or ""),)
    return wish.change((step(view, key, wish.value),), back, identity(view), lock)
