"""Dialogs for the target of a run on many hosts: a list of targets, and a field for a folder."""

from __future__ import annotations

from collections.abc import Sequence

from app.features.fleet.hosts.facts import HostTarget
from app.features.fleet.ssh.nodesets import fold_names
from backends.display_names import is_path
from backends.sizes import size_words
from widgets.choice_list import ChoiceItem
from widgets.field_dialog import TextDialog
from widgets.text_utils.text import shorten
from widgets.text_utils.units import plural

FOLDER = "folder"
"""Value of the row with which the user types the path of a folder."""

_ADDRESS, _OF = 28, 24
"""Maximum number of cells of the address and of the model or level. A row of the dialog has 72."""


class FolderDialog(TextDialog):
    """Dialog that returns the path of a folder."""

    def reason(self, text: str) -> str:
        """Return why the text is no path of a folder; "" if it may be one."""
        return super().reason(text) or ("" if is_path(text.strip()) else "not the path of a folder")


def target_items(targets: Sequence[tuple[HostTarget, tuple[str, ...]]], hosts: Sequence[str]) -> tuple[ChoiceItem, ...]:
    """Return a row for each target, with the hosts that lack it, and a row for a folder.

    `targets`: targets, each with the hosts that have it. `hosts`: hosts on which the run measures.
    """
    return (
        *(_item(target, owners, hosts) for target, owners in targets),
        ChoiceItem(value=FOLDER, label="a folder", help="Type the path of a folder on each host, for a scratch file."),
    )


def _item(target: HostTarget, owners: tuple[str, ...], hosts: Sequence[str]) -> ChoiceItem:
    lacking = [host for host in hosts if host not in owners]
    address, of = shorten(target.address, _ADDRESS), shorten(target.of, _OF)
    text = f"{target.address}: {target.of}, on {plural(len(owners), 'host')}. Reading a raw device is safe."
    return ChoiceItem(
        value=target.address,
        label=f"{address:<{_ADDRESS}}  {size_words(target.size_bytes):>8}  {of}".rstrip(),
        help=f"{text} It is missing on {fold_names(lacking)}." if lacking else text,
        risk=f"missing on {len(lacking)}" if lacking else "",
    )
