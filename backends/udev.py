"""udev rule files that persist settings, one line for each device; common to all vendors."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import partial

from backends.errors import BlockedError
from backends.host import Host
from backends.protocol import PersistRule
from backends.topology import Node, Tree
from backends.topology.device_identity import other_paths, paths_of
from backends.values import dataclass

RELOAD = (("udevadm", "control", "--reload"),)
"""Command that makes udev read its files again. The values are already effective, so no event has to be triggered."""

_LINES = re.compile(rb"[^\n]*\n|[^\n]+")
"""Pattern of a line as udev reads it: only a newline ends it, no other Unicode separator."""

_VALUE = re.compile(r"-?[a-z0-9][a-z0-9_. -]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFile:
    """A udev rule file with lines of one form, each for one device.

    Other lines, such as an administrator's own, are kept.
    """

    path: str
    """Path of the file.

    The prefix 99 makes udev apply it after 60-persistent-storage.rules has set ID_SERIAL and ID_WWN.
    """
    header: str
    """First line of the file."""
    event: str
    """Event at which udev applies a line: `add|change`."""
    action: str
    """Pattern of one assignment in a line. It distinguishes lines of two vendors for the same device."""
    device_kind: str
    """Kind of device that a line is for, one word: `disk`."""
    until: str = "the next boot"
    """Event until which values that are no longer persisted remain set."""

    def line(self, match: Collection[str], actions: Collection[str]) -> str:
        """Return the rule line of one device."""
        front = f'ACTION=="{self.event}", SUBSYSTEM=="block", ENV{{DEVTYPE}}=="disk"'
        return ", ".join((front, *match, *actions))

    def merge(self, content: bytes, match: Collection[str], actions: Collection[str]) -> bytes:
        """Return the file with the line of a device replaced or added; without `actions` the line is removed.

        b"" if nothing is left. Every other line stays byte for byte. Raises BlockedError if an added line would become
        part of another rule.
        """
        pattern = re.compile(re.escape(self.line(match, ())).encode() + f"(?:, {self.action})+".encode() + rb"\r*\n?")
        lines: list[bytes] = []
        continued = removed = False
        for line in _LINES.findall(content):
            if not continued and pattern.fullmatch(line):
                removed = True
                continue
            lines.append(line)
            continued = _is_continued(line, continued)
        if actions:
            if continued:
                raise BlockedError(
                    f"{self.path} ends with a backslash, so its last rule is incomplete and no line can be added.",
                    hint="Complete the last rule of the file.",
                )
            if lines and not lines[-1].endswith(b"\n"):
                lines[-1] += b"\n"
            lines.append(self.line(match, actions).encode() + b"\n")
        elif not removed:
            return content
        header = self.header.encode()
        if all(line.rstrip(b"\r\n") in (b"", header) for line in lines):
            return b""
        if actions and all(line.rstrip(b"\r\n") != header for line in lines):
            lines.insert(0, header + b"\n")
        return b"".join(lines)

    async def rule(
        self, host: Host, device: str, match: Collection[str], actions: Collection[str], keys: Iterable[str]
    ) -> PersistRule:
        """Return the rule that persists the settings with these keys for a device.

        Without `actions` it removes them.
        """
        if actions:
            which = f"the {self.device_kind} with {' and '.join(match)}"
            text = f"Sets {', '.join(keys)} when {which} appears, from the next boot on."
        else:
            text = f"Removes the persisted settings of {device}. The present values remain until {self.until}."
        before = await host.read_whole(self.path)
        rewrite = partial(self.merge, match=match, actions=actions)
        rewrite(before or b"")  # raises BlockedError now, before anything is shown
        return PersistRule(path=self.path, before=before, rewrite=rewrite, explanation=text, reload=RELOAD)


def _is_continued(line: bytes, before: bool) -> bool:
    """Return whether the next line continues the rule of this line.

    `before`: whether this line continues an earlier one. A comment neither continues nor ends a rule (systemd,
    udev-rules.c). Later versions of udev also end a line at NUL and CR, so the text after such a character in a comment
    may be a rule.
    """
    bare = line.rstrip(b"\r\n\0")
    if bare.lstrip(b" \t").startswith(b"#") and not re.search(rb"[\r\0]", bare):
        return before
    return bare.endswith(b"\\")


def queue_rules(folder: str, name: str) -> RuleFile:
    """Return the rule file for settings that the kernel forgets at a reboot: sysfs attributes in a disk's `folder`."""
    return RuleFile(
        path="/etc/udev/rules.d/99-raidbench.rules",
        header="# Settings persisted by raidbench, one line per disk. `raidbench persist` changes only lines in this "
        "format.",
        event="add|change",
        action=rf'ATTR\{{{folder}/[a-z_]+\}}="[a-z0-9_. -]+"',
        device_kind=name,
    )


def attribute_assignment(attribute: str, value: str) -> str:
    """Return the assignment of a sysfs attribute. Raises BlockedError for a value that a rule cannot contain."""
    if not _VALUE.fullmatch(value):
        raise BlockedError(f"A udev rule cannot contain the value {value!r} for {attribute}.")
    return f'ATTR{{{attribute}}}="{value}"'


def match_keys(node: Node) -> tuple[str, ...]:
    """Return the match keys that identify a disk in a rule independently of its name: udev's ids, else the kernel's.

    Volumes of one storage system may share an ID_WWN, because udev cuts it to 64 bits. So ID_SERIAL is added. Raises
    BlockedError if the disk has no lasting id.
    """
    attributes = node.attributes
    if "loop/backing_file" in attributes or node.name.startswith(("loop", "zram", "ram", "nbd")):
        raise BlockedError(
            f"{node.device} has no identifier that remains the same over a reboot, so its settings cannot be "
            "persisted.",
            hint="Set them in the systemd unit or script that creates the device.",
        )
    if array := node.udev.get("MD_UUID"):
        pairs = [("ENV{MD_UUID}", array)]
    elif node.name.startswith("bcache") and (cached := attributes.get("bcache/backing_dev_uuid")):
        pairs = [("ATTR{bcache/backing_dev_uuid}", cached)]
    elif serial := node.udev.get("ID_SERIAL"):
        pairs = [("ENV{ID_SERIAL}", serial)]
        pairs += [("ENV{ID_WWN}", wwn)] if (wwn := node.udev.get("ID_WWN")) else []
    elif wwid := attributes.get("wwid"):
        pairs = [("ATTR{wwid}", wwid)]
    elif wwid := attributes.get("device/wwid"):
        pairs = [("ATTRS{wwid}", wwid)]
    elif serial := attributes.get("serial"):
        pairs = [("ATTR{serial}", serial)]
    else:
        raise BlockedError(
            f"{node.device} has no serial number and no WWN, so a udev rule cannot distinguish it from another disk.",
            hint="In a virtual machine, give the disk a serial number.",
        )
    return tuple(f'{key}=="{_pattern(value, node)}"' for key, value in pairs)


def _pattern(value: str, node: Node) -> str:
    """Return a udev pattern that matches this value.

    `?` (any one character) replaces `|`, for which udev has no escape, and quotes, for which not all versions have one.
    Raises BlockedError for a value that a rule cannot contain.
    """
    text = value.strip()
    if not text or not text.isascii() or not text.isprintable():
        raise BlockedError(f"The serial number of {node.device} has characters that a udev rule cannot contain.")
    escaped = {"*": "[*]", "?": "[?]", "[": "[[]", '"': "?", "\\": "?", "|": "?"}
    return "".join(escaped.get(char, char) for char in text)


def require_unique(node: Node, match: tuple[str, ...], tree: Tree) -> None:
    """Raise BlockedError if another disk matches the same rule. Other paths to the same disk may match it."""
    paths = paths_of(other_paths(tree), node.name)
    for other in tree.nodes.values():
        if other.name in paths or other.parent is not None:
            continue
        try:
            same = match_keys(other) == match
        except BlockedError:
            continue
        if same:
            raise BlockedError(
                f"{node.device} and {other.device} report the same serial number, so a udev rule would match both.",
                hint="Set the values at boot from a systemd unit that uses the path of the disk.",
            )
