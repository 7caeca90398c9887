"""What a change was planned for, and whether that is still there. Pure but for a look at sysfs."""

from __future__ import annotations

from dataclasses import replace

from backends import changing
from backends.change import Change
from backends.errors import AnotherDeviceError
from backends.identity import Identity
from backends.topology import Topology
from backends.topology.naming import identity
from backends.vendors.megaraid.dialect import Contents
from backends.vendors.megaraid.facts import Card, VirtualDrive
from backends.vendors.megaraid.geometry import members_of
from backends.vendors.megaraid.inventory import volume_identity
from backends.vendors.megaraid.presence import volume_node


def of_card(prefix: str, card: Card) -> Identity:
    """A card: serial number and model."""
    return Identity(name=prefix.strip("/").replace("/", "-"), serial=card.serial, model=card.model)


def of_volume(prefix: str, card: Card, volume: VirtualDrive, picture: Topology, *, anew: bool) -> Identity:
    """A virtual drive: the block device that it is, else its own name.

    For changes that make it anew, and those of the same set, what holds over that: its number, and its card.
    """
    own = volume_identity(prefix, card, volume)
    if anew:
        return replace(own, wwn=None)
    node = volume_node(volume, card, picture.tree.nodes.values())
    return identity(node) if node is not None else own


def require_same(change: Change, prefix: str, number: int | None, contents: Contents, picture: Topology) -> None:
    """Raises AnotherDeviceError unless what the change was planned for is what was read last."""
    if number is None:
        present = of_card(prefix, contents.card)
    else:
        volume = next((one for one in contents.volumes if one.number == number), None)
        if volume is None:
            raise changing.gone(change.target)
        if change.members and change.members != members_of(contents, volume.drives):
            raise AnotherDeviceError(f"{change.target} is made of other drives now.", hint="Plan it again.")
        present = of_volume(prefix, contents.card, volume, picture, anew=True)
        if present != change.identity:
            present = of_volume(prefix, contents.card, volume, picture, anew=change.key == "strip_size")
    changing.require_same(change, present)
