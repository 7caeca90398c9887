"""Machines with md arrays, made by hand: sysfs as Linux 6.1 has it, a kernel and an mdadm that answer as they do."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from backends.errors import ToolFailedError
from backends.host import Command, Completed, FileStat
from backends.model import Scope, Target
from tests.backends.fakes import FakeHost, disk, machine

UUID = "6689836f-97e6-caec-c09b-0e7b40aefd16"
MDADM_UUID = "6689836f:97e6caec:c09b0e7b:40aefd16"
MD0 = Target(backend="md", address="md0", scope=Scope.ARRAY)

PARITY = {
    "stripe_cache_size": "256",
    "preread_bypass_threshold": "1",
    "group_thread_cnt": "0",
    "skip_copy": "0",
}
REDUNDANT = {
    "degraded": "0",
    "sync_action": "idle",
    "sync_completed": "none",
    "sync_speed": "none",
    "sync_speed_min": "1000 (system)",
    "sync_speed_max": "200000 (system)",
    "mismatch_cnt": "0",
    "consistency_policy": "resync",
}
LAYOUTS = {"raid5": "2", "raid6": "2", "raid10": "258"}
WORDS = {"n2": "258", "f2": "513", "o2": "66049", "left-symmetric": "2", "right-asymmetric": "1"}
ROTATING = ("left-asymmetric", "right-asymmetric", "left-symmetric", "right-symmetric", "parity-first", "parity-last")


def array(
    level: str = "raid5",
    members: tuple[str, ...] = ("sda", "sdb", "sdc", "sdd"),
    name: str = "md0",
    *,
    drop: tuple[str, ...] = (),
    flags: Mapping[str, str] | None = None,
    more: Mapping[str, str] | None = None,
    **own: str,
) -> dict[str, str]:
    """An idle, clean array; attributes of its `md` folder (or `more`) with `__` for `/`, `flags` by member."""
    folder = {
        "array_state": "clean",
        "level": level,
        "raid_disks": str(len(members)),
        "chunk_size": "0" if level == "raid1" else "65536",
        "layout": LAYOUTS.get(level, "0"),
        "metadata_version": "1.2",
        "uuid": UUID,
        "component_size": "0" if level == "raid0" else "261120",
        "safe_mode_delay": "0.204",
        "bitmap/location": "none",
        "bitmap/chunksize": "0",
        "bitmap/metadata": "internal",
    }
    folder |= REDUNDANT if level not in ("raid0", "linear", "") else {"consistency_policy": "none"}
    folder |= PARITY if level in ("raid4", "raid5", "raid6") else {}
    folder |= {key.replace("__", "/"): value for key, value in {**own, **(more or {})}.items()}
    for slot, member in enumerate(members):
        state = (flags or {}).get(member, "in_sync")
        place = str(slot) if "in_sync" in state else "none"
        folder |= {f"dev-{member}/{key}": text for key, text in _member(state, place).items()}
    files = {f"/sys/block/{name}/md/{key}": text for key, text in folder.items() if key not in drop}
    number = int(re.sub(r"\D", "", name) or 0)
    queue = {"read_ahead_kb": "384", "rotational": "0", "scheduler": "none"}
    files |= disk(name, devno=f"9:{number}", size=802160640, queue=queue)
    return files


def _member(state: str, slot: str) -> dict[str, str]:
    return {"state": state, "slot": slot, "size": "261120", "offset": "2048", "errors": "0"}


def disks(*names: str) -> dict[str, str]:
    """Plain disks with serial numbers."""
    found: dict[str, str] = {}
    for at, name in enumerate(names):
        found |= disk(name, devno=f"8:{16 * at}", serial=f"S-{name}")
    return found


class MdHost(FakeHost):
    """A machine whose kernel and mdadm know md. Made up, so that nothing has to be opened to make sure."""

    def __init__(self, *parts: Mapping[str, str], root: bool = True, mdadm: bool = True) -> None:
        more = {
            "/proc/meminfo": "MemTotal:        3000000 kB\nMemFree: 1 kB",
            "/sys/devices/system/cpu/online": "0-7",
            "/proc/sys/dev/raid/speed_limit_max": "200000",
        }
        empty = {"/proc/mdstat": "Personalities :\nunused devices: <none>\n"}
        super().__init__(machine(empty, disks("sda", "sdb", "sdc", "sdd"), *parts), root=root)
        self.files |= more
        self.made_up = True
        self.has_mdadm = mdadm
        self.ran: list[tuple[str, ...]] = []
        self.answers: dict[str, Completed] = {}
        self.stopped: Callable[[], None] = lambda: None
        self.kernel = _write
        for path in list(self.files):
            if path.endswith("/dev") and path.startswith("/sys/block/"):
                node = "/dev/" + path.split("/")[3]
                self.stats[node] = FileStat(kind="block", size=0, devno=self.files[path])

    def which(self, names: Sequence[str]) -> str | None:
        return "/sbin/mdadm" if "mdadm" in names and self.has_mdadm else super().which(names)

    async def run(self, command: Command) -> Completed:
        if command.argv[0] != "/sbin/mdadm":
            return await super().run(command)
        verb = command.argv[1]
        if verb in self.answers:
            said = self.answers[verb]  # mdadm begins with the device as it was named to it
            return replace(said, stdout=said.stdout.replace("/dev/sda:", f"{command.argv[-1]}:", 1))
        if verb == "--detail":
            return Completed(returncode=0, stdout=self._export(command.argv[-1].removeprefix("/dev/")), stderr="")
        if command.mutates:
            self.ran.append(command.argv)
            array = next(word for word in command.argv[2:] if word.startswith("/dev/md"))
            for word in command.argv[2:]:
                self._play(f"/sys/block/{array.removeprefix('/dev/')}/md", word)
            if verb == "--stop":
                self.stopped()
        return Completed(returncode=0, stdout="", stderr="")

    def _export(self, name: str) -> str:
        """What mdadm says of an array whose UUID it does not know."""
        base = f"/sys/block/{name}/md"
        rows = [f"MD_LEVEL={self.files.get(f'{base}/level', '')}", "MD_METADATA=1.2"]
        for path in sorted(self.files):
            if path.startswith(f"{base}/dev-") and path.endswith("/slot"):
                member = re.sub(r"[^A-Za-z0-9]", "_", path.split("/")[5])
                rows.append(f"MD_DEVICE_{member}_ROLE={self.files[path]}")
        return "\n".join([*rows, ""])

    def _play(self, base: str, word: str) -> None:
        option, _, value = word.partition("=")
        match option:
            case "--chunk":
                self.files[f"{base}/chunk_size"] = str(int(value.rstrip("K")) * 1024)
            case "--layout":
                code = WORDS.get(value) or str(ROTATING.index(value))
                self.files[f"{base}/layout"] = code
            case "--bitmap":
                self.files[f"{base}/bitmap/location"] = {"none": "none"}.get(value, "+8")
                self.files[f"{base}/consistency_policy"] = {"none": "resync"}.get(value, "bitmap")
            case "--consistency-policy":
                self.files[f"{base}/consistency_policy"] = value
            case _:
                pass


def _write(host: FakeHost, path: str, text: str) -> None:
    """What the kernel makes of a write."""
    key = path.rpartition("/")[2]
    now = host.files[path]
    if key in ("sync_speed_min", "sync_speed_max"):
        system = {"sync_speed_min": "1000", "sync_speed_max": "200000"}[key]
        host.files[path] = f"{system} (system)" if text == "system" else f"{text} (local)"
    elif key == "state":
        word = {"writemostly": "write_mostly"}.get(text.lstrip("-"), text.lstrip("-"))
        words = [one for one in now.split(",") if one != word]
        host.files[path] = ",".join(words if text.startswith("-") else [*words, word])
    elif key == "safe_mode_delay" and not re.fullmatch(r"\d+\.\d{3}", text):
        raise ToolFailedError("The kernel refused the value it: Invalid argument.")
    else:
        host.files[path] = text


def reshaping(host: MdHost, percent: int = 40) -> None:
    """A reshape of md0 from 64 to 128 KiB is under way."""
    base = "/sys/block/md0/md"
    host.files |= {
        f"{base}/chunk_size": "131072 (65536)",
        f"{base}/sync_action": "reshape",
        f"{base}/sync_completed": f"{percent * 1000} / 100000",
        f"{base}/sync_speed": "25000",
    }
