"""What the members of an array say of it when its creation was cut short: often it is still there, data included."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backends.change import Change, Write
from backends.errors import RaidbenchError
from backends.host import Command, Host
from backends.vendors.mdraid.recreate import devices_in

_LINE = re.compile(
    r"^ *(Array UUID|Raid Level|Raid Devices|Layout|Chunk Size|Data Offset) : ([^\n]{1,80}?) *$", re.MULTILINE
)
_OPTIONS = {
    "Array UUID": "--uuid",
    "Raid Level": "--level",
    "Raid Devices": "--raid-devices",
    "Layout": "--layout",
    "Chunk Size": "--chunk",
    "Data Offset": "--data-offset",
}
_COPIES = re.compile(r"(near|far|offset)=(\d{1,3})")


async def assembling(host: Host, mdadm: str, device: str, change: Change) -> str | None:
    """What to do first about an array that a change stopped and did not create: assemble it, where its members agree.

    mdadm writes all of its metadata at once, as the last but one thing that it does (Create.c, write_init_super):
    before, the members hold the array as it was, after, as it is to be. None where they do not hold either.
    """
    for steps, what in ((change.undo, "as it was, with its data"), (change.writes, "as it was to become")):
        made = next((step for step in steps if step.argv[1:2] == ("--create",)), None)
        if made is None:
            continue
        members = [word for word in devices_in(made.argv) if word != device]
        if members and await _all_hold(host, mdadm, made, members):
            return f"Its members hold it {what}. Bring it back with: mdadm --assemble {device} {' '.join(members)}"
    return None


async def _all_hold(host: Host, mdadm: str, made: Write, members: Sequence[str]) -> bool:
    """Whether each member says what the creation of the array says."""
    wanted = dict(
        word.split("=", 1) for word in made.argv if word.startswith(tuple(f"{one}=" for one in _OPTIONS.values()))
    )
    for member in members:
        try:
            done = await host.run(Command(argv=(mdadm, "--examine", member), timeout=20))
        except RaidbenchError:
            return False
        said = parse_examined(done.stdout)
        if any(said.get(option) != value for option, value in wanted.items()):
            return False
    return bool(wanted.get("--uuid"))


def parse_examined(text: str) -> dict[str, str]:
    """What `mdadm --examine` says of the array that a member is of, as options of `mdadm --create`."""
    found: dict[str, str] = {}
    for name, value in _LINE.findall(text[:20_000]):
        copies = _COPIES.fullmatch(value)
        if name == "Layout" and copies:
            value = f"{copies[1][0]}{copies[2]}"
        if name == "Data Offset" and value.endswith(" sectors"):
            value = f"{int(value.removesuffix(' sectors')) // 2}K"
        found[_OPTIONS[name]] = value
    return found
