"""Requests that the helper must refuse: malformed, of no table, out of order. `make trust` tries ten thousand."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from app.core.session.paths import Paths
from app.privsep.dispatcher import RequestDispatcher
from app.privsep.request_schema import FIELDS
from backends.vendors.lvm.facts import LVS, PVS
from tests.tally import Tally

NODE = "/dev/loop-control" if not os.path.isdir("/sys/block") else f"/dev/{next(iter(os.listdir('/sys/block')), 'sda')}"

SETTERS: tuple[tuple[str, ...], ...] = (
    ("nvme", "format", NODE, "--lbaf=1", "--force"),
    ("nvme", "set-feature", NODE, "--feature-id=6", "--value=0"),
    ("nvme", "sanitize", NODE, "--sanact=2"),
    ("nvme", "admin-passthru", NODE, "--opcode=0x80"),
    ("nvme", "fw-download", NODE, "--fw=/tmp/fw"),
    ("hdparm", "-W1", NODE),
    ("hdparm", "--security-erase", "x", NODE),
    ("hdparm", "-W", "-A", "-B", "-M", "1", NODE),
    ("sdparm", "--set=WCE=1", NODE),
    ("sdparm", "--get=WCE,RCD,DRA", "--set=WCE=1", NODE),
    ("smartctl", "--json", "--test=long", NODE),
    ("smartctl", "-s", "off", NODE),
    ("mdadm", "--zero-superblock", NODE),
    ("mdadm", "--create", "/dev/md0", "--run", NODE),
    ("mdadm", "--stop", "/dev/md0"),
    ("mdadm", "--grow", "/dev/md0", "--chunk=64"),
    ("dmsetup", "remove", "vg0-mail"),
    ("dmsetup", "status", "--exec", "id"),
    ("dmsetup", "message", "vg0-mail", "0", "drop"),
    ("storcli64", "/c0/v1", "del", "force", "J", "nolog"),
    ("storcli64", "/c0/v1", "set", "wrcache=awb", "J", "nolog"),
    ("storcli64", "/c0", "show", "all", "logfile=/etc/cron.d/x", "J"),
    ("storcli64", "/c0", "download", "file=/tmp/fw", "J", "nolog"),
    ("storcli64", "/c0", "add", "vd", "r0", "size=all", "drives=1:1", "J", "nolog"),
    ("perccli2", "/c0/v1", "delete", "force", "J", "nolog"),
    ("MegaCli64", "-CfgLdDel", "-L0", "-a0", "-NoLog"),
    ("MegaCli64", "-LDSetProp", "WB", "-L0", "-a0", "-NoLog"),
    ("MegaCli64", "-AdpAllInfo", "-aALL"),
    ("MegaCli64", "-CfgClr", "-a0", "-NoLog"),
    ("fio-format", "-y", "-b512", "/dev/fct0"),
    ("fio-detach", "/dev/fct0"),
    ("fio-status", "-a", "-O", "/etc/cron.d/x"),
    ("SMcli", "-n", "A", "-c", "set storageSubsystem cacheBlockSize=16;"),
    ("SMcli", "-n", "A", "-c", "show storageSubsystem profile; clear storageSubsystem configuration;"),
    ("SMcli", "-n", "-f", "-c", "show storageSubsystem profile;"),
    ("SMcli", "-n", "A", "-f", "/etc/shadow"),
    ("tw_cli", "/c0/u0", "set", "cache=on", "quiet"),
    ("tw_cli", "/c0/u0", "del", "quiet"),
    ("tw_cli", "info", "c0", "diag"),
    ("cli64", "vsf", "delete", "vol=1"),
    ("cli64", "set", "password=0000"),
    ("mvcli", "delete", "-o", "vd", "-i", "0"),
    ("mvcli", "create", "-o", "vd", "-r0", "-d", "0,1"),
    ("lvs", "-o", "lv_all", "--config", "devices/dir=/tmp"),
    ("pvs", *PVS, "--config", "devices/dir=/tmp"),
    ("lvcreate", "--yes", "--extents", "1", "vg0"),
    ("lvremove", "--yes", "vg0/mail"),
    ("lvs", *LVS, "--config", "devices/dir=/tmp"),
    ("lvs", *LVS, "--config", 'devices/filter=["r|x|"] devices/dir="/tmp"'),
    ("lvs", *LVS, "--config", 'devices/filter=["r|x|","a|"]} global { locking_dir="/etc"'),
    ("lvchange", "--cachemode", "writeback", "vg0/mail"),
    ("lvremove", "--yes", "vg0/mail"),
    ("dmsetup", "remove_all"),
    ("dmsetup", "table", "--showkeys"),
    ("dd", "if=/dev/zero", f"of={NODE}"),
    ("sh", "-c", "id > /tmp/owned"),
    ("fio", "--filename", NODE, "--rw=write"),
    ("/tmp/nvme/../sh", "id-ctrl", NODE),
    ("env", "nvme", "id-ctrl", NODE),
)
"""Command lines that change something, or would run something else."""

READERS: tuple[tuple[str, ...], ...] = (
    ("nvme", "id-ctrl", NODE, "-o", "json"),
    ("nvme", "get-feature", NODE, "--feature-id=6", "--sel=0"),
    ("hdparm", "-W", "-A", "-B", "-M", NODE),
    ("sdparm", "--get=WCE,RCD,DRA", NODE),
    ("smartctl", "--json", "--nocheck=standby", "--info", "--health", "--attributes", "--log=ssd", "--log=error", NODE),
    ("mdadm", "--detail", "--export", NODE),
    ("lvs", *LVS),
    ("pvs", *PVS),
    ("dmsetup", "table"),
    ("dmsetup", "status"),
    ("storcli64", "/c0", "show", "all", "J", "nolog"),
    ("storcli64", "/c0/v1", "show", "all", "J", "nolog"),
    ("MegaCli64", "-LDInfo", "-LALL", "-a0", "-NoLog"),
    ("fio-status", "-a"),
    ("SMcli", "-d"),
    ("tw_cli", "info", "c0", "unitstatus"),
    ("cli64", "rsf", "info"),
    ("mvcli", "info", "-o", "vd"),
)
"""Command lines of the table; each of them, a word changed or added, is refused."""

INJECTED = (
    "--set=WCE=0", "-f", "--force", "; id", "$(id)", "`id`", "&& reboot", "|sh", "\n-W1", "--output=/etc/passwd", "-o",
    "set", "del", "../../etc/shadow", "/etc/shadow", "/dev/../etc/shadow", f"{NODE}/../../etc/passwd", "/dev/mem",
    "/dev/tty", "file=/etc/shadow", "logfile=/root/x", "", " ", "a" * 9000, "\u202e", "-W1", "-CfgLdDel", "start",
)  # fmt: skip
"""Words that no reading command line has."""

PATHS = (
    "/etc/shadow", "/proc/self/mem", "/proc/kcore", "/proc/1/environ", "/proc/1/mem", "/proc/1/root/etc/shadow",
    "/sys/../etc/shadow", "/sys/block/../../etc/shadow", "/sys/class/./../../proc/kcore", "/sys/kernel/debug/x",
    "/sys/firmware/efi/efivars/x", "/sys/block//sda", "sys/block/sda/size", "/dev/mem", NODE, "/sys", "/sys/block",
    "/sys/block/sda\0/size", "/sys/block/sda/size\n", "/proc/1/mountinfo/..", "/proc/2/mountinfo", "/etc/shadow",
    "/sys/block/" + "a/" * 40, "/sys/block/" + "a" * 2000, "", "/sys/devices/pci0000:00/0000:00:00.0/config",
    "/sys/bus/pci/devices/0000:00:00.0/config", "/sys/class/nvme/nvme0/dhchap_secret",
    "/sys/class/iscsi_session/session1/password", "/sys/module/ext4/sections/.text", "/sys/block/sda/size",
)  # fmt: skip
"""Files that are not read."""

DEVICES = (
    "/etc/shadow", "/dev", "/dev/", "/dev/null", "/dev/mem", "/dev/tty", "/dev/../etc/shadow", "dev/sda", "/dev/sda\n",
    "/dev/no-such-disk", "/dev/fd/0", "/dev/stdin", "/dev/pts/0", "/proc/self/fd/0", "/dev/a/b/c/d/e", "", "/dev/sda b",
    "/dev/core", "/dev/shm", "/dev/loop-control", "/tmp/sda",
)  # fmt: skip
"""What is no disk."""

JUNK: tuple[object, ...] = (
    None, True, False, 0, -1, 1.5, 2**70, "", "x" * 70_000, [], {}, [[]], [None], {"": ""}, "\0", "\ud800", "../..",
    [1, 2], {"name": 1},
)  # fmt: skip
"""Values of the wrong kind for nearly every field."""

JOBS: tuple[object, ...] = (
    {"rw": "write"}, {"rw": "randrw"}, {"rw": "trim"}, {"rw": "randtrim"}, {"rw": "trimwrite"}, {"rw": "randtrimwrite"},
    {"filename": "/etc/shadow"}, {"exec_prerun": "id"},
    {"verify": "md5"}, {"bs": "4k\nfilename=/etc/shadow"}, {"ioengine": "exec"}, {"iodepth": 1}, [], None,
)  # fmt: skip
"""Jobs that the helper does not measure."""

UNWANTED: dict[str, dict[str, tuple[object, ...]]] = {
    "hello": {"version": (0, 2, "1", True), "read_only": (0, "no", None), "firmware": (1, None)},
    "read": {"paths": tuple([path] for path in PATHS)},
    "follow": {"path": (*PATHS, "/proc/1/mountinfo", "/proc/self/ns/mnt", "/proc/1/exe")},
    "ask": {"question": ("", "controller", "ERASE", 0, None), "subject": (-1, 70_000, "1", True), "size": (0, 10**9)},
    "facts": {"device": DEVICES},
    "free": {"device": DEVICES},
    "hold": {"device": DEVICES},
    "release": {"hold": (0, -1, 7, "1", True, None)},
    "measure": {
        "holds": ([], [0], [True], ["1"], 1, None, [1] * 65),
        "job": JOBS,
        "more": ([], [{}], [{"job": {}}], [{"job": {"rw": 1}, "waits": True}], [{"job": {}, "waits": 1}], {}, "x"),
        "cap": (0, -1, "1", True, 10**9),
        "interval": (0, 49, 10**6, "100", None),
        "fio": ("", "fio", "../fio", "/bin/sh", None),
    },
    "signal": {"run": (0, 1, "1", True, None), "how": ("", "stop", "SIGKILL", 9, None)},
    "ended": {"run": (0, 1, -1, "1", None)},
    "lock": {
        "name": ("", ".", "..", "../x", "/etc/x", "a\0b", "x" * 300, 1, None),
        "what": ("", "\x1b[2J", 3, "y" * 300),
    },
    "unlock": {"name": ("", ".", "..", "never-held", "../x", 1, None)},
    "plan": {"change": ({}, {"target": {}}, 1, "x", None), "back": (1, "c1", {"..": "1"}, {"a": ""})},
    "intend": {"target": ("block:sda", "x", ""), "session": ("relative", "", 1), "id": ("", "../c1", "c 1", 1)},
    "given": {"session": ("nowhere", "", "//nowhere", "/a/../nowhere", "/a/", 1, None)},
    "apply": {"session": ("/nowhere", "x"), "id": ("c1", "", None)},
    "outcome": {"result": ("verified", "done", "", None), "id": ("c1", "../x")},
    "arm": {"session": ("/nowhere", ""), "until": (1, 10**9, -1, None)},
    "persist": {
        "target": ("", "block", "nobody:here", "../x:y"),
        "scope": ("", "disk", None, 1),
        "values": ({"K": "v"}, {"k": 1}, [], None),
        "digest": (None, 1, [], "", "x" * 64, "a" * 65),
    },
    "together": {
        "target": ("", "block", "nobody:here", "../x:y"),
        "scope": ("disk", 1),
        "values": ({"K": "v"}, {"k": 1}, [], None),
    },
    "remake": {"session": ("/nowhere",), "id": ("c1", "")},
    "unit": {"do": ("", "enable", "plan ", None, 1)},
}
"""By verb and field: values that are refused whatever the rest is."""

_SOUND: dict[str, dict[str, object]] = {
    "hello": {"version": 1, "read_only": False, "firmware": False},
    "read": {"paths": ["/etc/shadow"]},
    "follow": {"path": "/etc/shadow"},
    "run": {"argv": list(SETTERS[0]), "seconds": 5, "stall": None},
    "reachable": {},
    "ask": {"host": 0, "question": "ERASE", "subject": 0, "size": None},
    "facts": {"device": "/dev/null", "writing": True},
    "free": {"device": "/dev/null", "shown": None},
    "hold": {"device": "/dev/null", "writing": True, "typed": None, "meant": None, "shown": None},
    "release": {"hold": 7},
    "measure": {
        "holds": [7], "job": {"rw": "randread"}, "more": None, "cap": None, "interval": 250, "fio": "/usr/bin/fio",
    },
    "signal": {"run": 1, "how": "kill"},
    "ended": {"run": 1},
    "lock": {"name": "../x", "what": "changing"},
    "unlock": {"name": "never-held"},
    "plan": {"change": {}, "back": None},
    "intend": {
        "session": "/nowhere", "id": "c1", "target": "block:sda", "key": "scheduler", "after": "none", "until": None,
    },
    "given": {"session": "nowhere"},
    "apply": {"session": "/nowhere", "id": "c1"},
    "outcome": {"session": "/nowhere", "id": "c1", "result": "verified"},
    "arm": {"session": "/nowhere", "until": 5.0},
    "rehearse": {},
    "journal": {},
    "persist": {"target": "nobody:here", "scope": "drive", "values": {"scheduler": "none"}, "digest": "0" * 64},
    "together": {"target": "nobody:here", "scope": "drive", "values": {"scheduler": "none"}},
    "remake": {"session": "/nowhere", "id": "c1"},
    "unit": {"do": "start"},
    "companion": {},
}  # fmt: skip
"""A request of every verb, most of which are refused as they are."""


def _request(verb: object, args: object, number: object = 1) -> bytes:
    return json.dumps({"id": number, "verb": verb, "args": args}).encode()


def _noise(rng: random.Random) -> bytes:
    return rng.randbytes(rng.randrange(0, 400))


def _cut(rng: random.Random) -> bytes:
    verb = rng.choice(list(_SOUND))
    whole = _request(verb, _SOUND[verb])
    return whole[: rng.randrange(len(whole))]


def _flipped(rng: random.Random) -> bytes:
    """A command that changes something, a few of its bytes others."""
    data = bytearray(_request("run", {"argv": list(rng.choice(SETTERS)), "seconds": 5, "stall": None}))
    for _ in range(rng.randrange(1, 4)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def _nested(rng: random.Random) -> bytes:
    depth = rng.choice((50, 2_000, 200_000))
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}")))
    return opening * depth + closing * rng.choice((0, depth))


def _shapeless(rng: random.Random) -> bytes:
    verb = rng.choice(list(_SOUND))
    shapes: tuple[object, ...] = (
        [], 1, None, "run", {}, {"verb": verb}, {"id": 1, "verb": verb},
        {"id": 1, "verb": verb, "args": _SOUND[verb], "more": 1},
        {"id": rng.choice((None, "1", True, -1, 0, 2**60, 1.5, [])), "verb": verb, "args": _SOUND[verb]},
        {"id": 1, "verb": rng.choice((None, 1, [], {}, "", "__init__", "_begin", "close", verb + " ")), "args": {}},
        {"id": 1, "verb": verb, "args": rng.choice((None, 1, [], "x"))},
        {"id": 1, "verb": verb, "args": {**_SOUND[verb], "__class__": "x"}},
        {"id": 1, "verb": verb, "args": dict(list(_SOUND[verb].items())[1:])} if _SOUND[verb] else [],
    )  # fmt: skip
    return json.dumps(rng.choice(shapes)).encode()


def _twice(rng: random.Random) -> bytes:
    verb = rng.choice(list(_SOUND))
    return rng.choice(
        (
            b'{"id":1,"verb":"%s","verb":"run","args":{}}' % verb.encode(),
            b'{"id":NaN,"verb":"journal","args":{}}',
            b'{"id":1,"verb":"arm","args":{"session":"/x","until":Infinity}}',
            _request(verb, _SOUND[verb]) + b"{}",
            b"\xff\xfe" + _request(verb, _SOUND[verb]),
            _request(verb, _SOUND[verb]).decode().encode("utf-16"),
        )
    )


def _junk_field(rng: random.Random) -> bytes:
    """A field of the wrong kind: what its check must not take, by kind alone."""
    verb = rng.choice([verb for verb, fields in _SOUND.items() if fields and verb != "hello"])
    field = rng.choice(list(_SOUND[verb]))
    return _request(verb, {**_SOUND[verb], field: rng.choice(JUNK)})


def _unwanted(rng: random.Random) -> bytes:
    verb = rng.choice(list(UNWANTED))
    field = rng.choice(list(UNWANTED[verb]))
    return _request(verb, {**_SOUND[verb], field: rng.choice(UNWANTED[verb][field])})


def _path(rng: random.Random) -> bytes:
    """A file outside the table, by itself or among those that are read."""
    path = rng.choice(PATHS)
    if rng.random() < 0.5:
        path = "/sys/block/" + "../" * rng.randrange(1, 9) + path.lstrip("/")
    paths = ["/proc/1/mountinfo"] * rng.randrange(3) + [path]
    rng.shuffle(paths)
    return _request("read", {"paths": paths})


def _setter(rng: random.Random) -> bytes:
    argv = list(rng.choice(SETTERS))
    argv[0] = (
        rng.choice(("", "/usr/sbin/", "/tmp/", "./")) + argv[0].rpartition("/")[2] if rng.random() < 0.5 else argv[0]
    )
    return _request("run", {"argv": argv, "seconds": rng.choice((1, 5.5, 600)), "stall": None})


def _injected(rng: random.Random) -> bytes:
    argv = list(rng.choice(READERS))
    match rng.randrange(3):
        case 0:
            argv.insert(rng.randrange(1, len(argv) + 1), rng.choice(INJECTED))
        case 1:
            at = rng.randrange(1, len(argv))
            argv[at] = rng.choice([word for word in INJECTED if word != argv[at]])
        case _:
            at = rng.randrange(1, len(argv))
            argv[at] += rng.choice(("\n", " ", ";", "x\0", "/..", "|", "\x1b"))
    return _request("run", {"argv": argv, "seconds": 5, "stall": None})


KINDS: tuple[Callable[[random.Random], bytes], ...] = (
    _noise, _cut, _flipped, _nested, _shapeless, _twice, _junk_field, _unwanted, _path, _setter, _injected,
)  # fmt: skip


class _Watch:
    """What the process does meanwhile: programs started, files opened for writing."""

    def __init__(self) -> None:
        self.on = False
        self.seen: list[str] = []

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if not self.on:
            return
        started = event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.fork", "socket.connect")
        wrote = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if started or wrote or event in ("os.remove", "os.rename", "os.mkdir", "os.chown", "os.chmod", "os.link"):
            self.seen.append(f"{event} {args[:2]!r}")


_watch: list[_Watch] = []


def refuses(folder: Path, count: int, seed: int) -> Tally:
    """`count` forbidden requests, half of them before anything else was said: each refused, and nothing done."""
    if not _watch:
        _watch.append(_Watch())
        sys.addaudithook(_watch[0])
    return asyncio.run(_tried(folder, count, seed, _watch[0]))


async def _tried(folder: Path, count: int, seed: int, watch: _Watch) -> Tally:
    rng = random.Random(seed)
    tally = Tally()
    paths = Paths(
        sessions=folder / "sessions", journal=folder / "journal", locks=folder / "locks", config=folder / "config.toml"
    )
    desk = RequestDispatcher(paths=paths, uid=65534, gid=65534)
    greeted = await desk.answer(_request("hello", _SOUND["hello"]))
    assert greeted.accepted, "the conversation does not begin"
    await desk.answer(_request("persist", _SOUND["persist"]))  # imports what the first plan takes
    strangers = RequestDispatcher(paths=paths, uid=65534, gid=65534)
    with (
        patch("app.privsep.read_policy.find_program", lambda names: f"/bin/{os.path.basename(names[0])}"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        for number in range(count):
            body = KINDS[number % len(KINDS)](rng)
            before = desk.failed, strangers.failed
            watch.seen.clear()
            watch.on = True
            try:
                replies = [await desk.answer(body)]
                if number % 2 and _verb(body) != "hello":
                    replies.append(await strangers.answer(body))
            finally:
                watch.on = False
            refused = not any(reply.accepted for reply in replies) and before == (desk.failed, strangers.failed)
            said = str([reply.message.get("error", "done") for reply in replies])
            tally.expect(refused and not watch.seen, f"{body[:200]!r}: {said[:200]} {watch.seen[:3]}")
    left = [str(path) for path in folder.rglob("*")]
    tally.expect(not left, f"left behind: {left[:5]}")
    await desk.close()
    return tally


def _verb(body: bytes) -> object:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return data.get("verb") if isinstance(data, dict) else None


assert set(_SOUND) == set(FIELDS), "every verb has a request here"
