"""The protocol of the helper through the real sudo, spoken as no raidbench speaks it."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from app.core.session.json_codec import unstructure
from app.core.session.locks import lock_name
from app.core.session.paths import ROOTS_LOCKS
from app.privsep.request_schema import FIELDS
from backends.change import Change
from backends.model import Scope, Target
from backends.registry import MachineBackends
from backends.system.local import LocalHost
from backends.system.privsep.connection import REQUEST_LIMIT
from tests.backends.loops import Loop, loop
from tests.packages import absence
from tests.privsep.forbidden import JUNK, KINDS
from tests.privsep.helping import AS_NOBODY, PYTHON, UNDER, install, shared_folder
from tests.tally import Tally

PER_CONVERSATION = 150
"""Frames in one conversation, about."""

SECONDS = 120.0
"""How long an answer, and the end of a helper, may take on a busy machine."""

SESSION = "/home/nobody/sessions/2026-11-28_0900"

_BACKENDS = tuple(sorted(MachineBackends.of(LocalHost()).backends))
"""What manages something on a machine, by name."""

_SETTINGS = ("read_ahead_kb", "scheduler", "nr_requests", "write_cache", "compression", "strip_size", "bitmap")
"""Keys of settings."""

_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
"""Signals of a terminal, which a helper does not heed."""

Frames = Iterator[bytes]


@dataclass
class Place:
    """An installation that sudo starts the helper of, for the user nobody."""

    folder: Path
    python: Path
    device: Loop
    change: Change
    log: Path

    @property
    def state(self) -> Path:
        return self.folder / "root"


@contextmanager
def prepared(folder: Path) -> Iterator[Place]:
    """All that a conversation takes."""
    with ExitStack() as stack:
        place = stack.enter_context(shared_folder())
        log = place / "log"
        log.touch(0o600)
        python = install(place, f"import tests.privsep.audit; tests.privsep.audit.begin({str(log)!r})")
        rules = place / "sudoers"
        rule = f"nobody ALL=(root) NOPASSWD: {python} -I -m app.privsep"
        rules.write_text(f'Defaults use_pty, env_keep += "RAIDBENCH_STATE_DIR"\n{rule}\n')
        rules.chmod(0o440)
        (place / "root").mkdir(0o755)
        (place / "victim").mkdir(0o755)
        (place / "victim" / "file").write_text("somebody's")
        device = stack.enter_context(loop(folder / "fuzzed", size=16 << 20))
        target = Target(backend="block", address=device.name)
        change = asyncio.run(MachineBackends.of(LocalHost()).setter(target).plan(target, "read_ahead_kb", "512"))
        yield Place(place, python, device, change, log)


def why_not() -> str:
    """Why it cannot be tried here, "" where it can."""
    if os.geteuid() != 0:
        return "needs root"
    if not os.path.exists(PYTHON):
        return f"needs {PYTHON}, which every user may run"
    return absence("sudo", "setpriv", "unshare", "losetup")


class Talk:
    """One conversation: frames go out as they are, answers are taken by a thread of their own."""

    def __init__(self, place: Place) -> None:
        self.sock, its = socket.socketpair()
        with its:
            self.process = subprocess.Popen(
                [
                    *UNDER,
                    str(place.folder / "sudoers"),
                    *AS_NOBODY,
                    "sudo",
                    "-n",
                    str(place.python),
                    "-I",
                    "-m",
                    "app.privsep",
                ],
                stdin=its.fileno(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={"PATH": os.environ["PATH"], "RAIDBENCH_STATE_DIR": str(place.state), "LANG": "C.UTF-8"},
                cwd="/",
            )
        self.answers: list[dict[str, Any]] = []
        self.descriptors = 0
        self.broken = ""
        self.over = threading.Event()
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self.answered(1):
            out, err = self.process.communicate(timeout=SECONDS)
            raise AssertionError(f"no helper: {self.broken} {out!r} {err!r}")
        self.pid = int(self.answers[0]["ok"]["pid"])

    def send(self, data: bytes, descriptors: tuple[int, ...] = ()) -> bool:
        """Whether the other side still takes it."""
        try:
            sent = socket.send_fds(self.sock, [data], descriptors) if descriptors else 0
            self.sock.sendall(data[sent:])
        except OSError:
            return False
        return True

    def answered(self, count: int) -> bool:
        """Wait for so many answers; whether they came, or the conversation ended."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.answers) >= count or self.over.is_set(), SECONDS) and (
                len(self.answers) >= count
            )

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self._reader.join(SECONDS)
        self.sock.close()

    def _read(self) -> None:
        try:
            while True:
                (length,) = struct.unpack("!I", self._exactly(4))
                answer = json.loads(self._exactly(length))
                with self._changed:
                    self.answers.append(answer)
                    self._changed.notify_all()
        except EOFError:
            pass
        except Exception as error:  # told in the tally
            self.broken = f"{type(error).__name__}: {error}"
        with self._changed:
            self.over.set()
            self._changed.notify_all()

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            try:
                part, descriptors, _, _ = socket.recv_fds(self.sock, count - len(data), 8, socket.MSG_CMSG_CLOEXEC)
            except ConnectionError:
                raise EOFError from None
            self.descriptors += len(descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            if not part:
                raise EOFError
            data += part
        return data


# -- frames -----------------------------------------------------------------------------------------------------------


def frame(body: bytes) -> bytes:
    return struct.pack("!I", len(body)) + body


def request(number: int, verb: str, args: object) -> bytes:
    return json.dumps({"id": number, "verb": verb, "args": args}).encode()


@dataclass
class Writer:
    """Bodies of frames: true requests in and out of order, and what becomes of them."""

    rng: random.Random
    place: Place
    number: int = 0
    made: int = 0
    recent: list[bytes] = field(default_factory=list)

    def hello(self, *, read_only: bool = False) -> bytes:
        return self._say("hello", version=1, read_only=read_only, firmware=False)

    def body(self) -> bytes:
        kinds: tuple[tuple[int, Callable[[], bytes]], ...] = (
            (4, self.true),
            (4, self.mutated),
            (4, self.odd_value),
            (2, self.odd_shape),
            (2, self.odd_change),
            (2, self.odd_target),
            (2, self.forbidden),
            (1, self.flipped),
            (1, self.spliced),
            (1, self.large),
        )
        while True:  # one of another length ends the conversation
            body = self.rng.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])[0]()
            if 0 < len(body) <= REQUEST_LIMIT:
                return body

    def true(self) -> bytes:
        """A request that may be done, or come at a wrong moment."""
        rng, node, name = self.rng, self.place.device.device, lock_name(self.place.change.locks[0])
        change, id = self.place.change, f"c{rng.randrange(1, 9)}"
        what = {"target": str(change.target), "key": change.key, "after": change.after, "until": None}
        makers: tuple[Callable[[], bytes], ...] = (
            lambda: self._say("journal"),
            lambda: self._say("given", session=SESSION),
            lambda: self._say("lock", name=rng.choice((name, f"fuzz-{rng.randrange(9)}")), what="changing"),
            lambda: self._say("unlock", name=rng.choice((name, f"fuzz-{rng.randrange(9)}"))),
            lambda: self._say("plan", change=unstructure(change), back=rng.choice((None, {}))),
            lambda: self._say("intend", session=SESSION, id=id, **what),
            lambda: self._say("apply", session=SESSION, id=id),
            lambda: self._say("outcome", session=SESSION, id=id, result=rng.choice(("verified", "kept", "failed"))),
            lambda: self._say("arm", session=SESSION, until=rng.random() * 1e6),
            lambda: self._say("remake", session=SESSION, id=id),
            lambda: self._say("release", hold=rng.randrange(1, 9)),
            lambda: self._say("read", paths=["/proc/1/mountinfo"]),
            lambda: self._say("follow", path="/proc/1/ns/mnt"),
            lambda: self._say("reachable"),
            lambda: self._say("ask", host=rng.randrange(9), question="CONTROLLER", subject=0, size=None),
            lambda: self._say("signal", run=rng.randrange(1, 9), how="kill"),
            lambda: self._say("ended", run=rng.randrange(1, 9)),
            lambda: self._say("together", target=str(change.target), scope=change.target.scope, values={}),
            lambda: self._say("run", argv=["mdadm", "--examine", node], seconds=20, stall=None),
            lambda: self._say("run", argv=["dmsetup", "table"], seconds=20, stall=None),
        )
        costly: tuple[Callable[[], bytes], ...] = (  # the guard looks at all programs, a child is started
            lambda: self._say("facts", device=node, writing=False),
            lambda: self._say("free", device=node, shown=None),
            lambda: self._say("hold", device=node, writing=False, typed=None, meant=None, shown=None),
            lambda: self._say("companion"),
            lambda: self._say("unit", do="plan"),
            lambda: self._say("rehearse"),
            self._measure,
        )
        return rng.choice(costly if rng.random() < 0.02 else makers)()

    def _measure(self) -> bytes:
        """A run that reads what is held, if anything is."""
        job = {"rw": "randread", "runtime": "1", "ramp": "0"}
        fio = os.path.realpath(shutil.which("fio") or "/usr/bin/fio")
        return self._say(
            "measure", holds=[self.rng.randrange(1, 4)], job=job, more=None, cap=None, interval=250, fio=fio
        )

    def in_order(self) -> list[bytes]:
        """Requests that lead to where something can be changed or read, so that the odd ones come there as well."""
        change, node = self.place.change, self.place.device.device
        return [
            self._say("lock", name=lock_name(change.locks[0]), what="changing"),
            self._say("plan", change=unstructure(change), back=None),
            self._say("hold", device=node, writing=False, typed=None, meant=None, shown=None),
        ]

    def mutated(self) -> bytes:
        """A true request of which one place holds something else."""
        data = json.loads(self.true())
        holder: Any = data["args"]
        path = [data, "args"]
        while isinstance(holder, dict | list) and holder and (len(path) < 3 or self.rng.random() < 0.6):
            key = self.rng.choice(list(holder) if isinstance(holder, dict) else list(range(len(holder))))
            path = [holder, key]
            holder = holder[key]
        path[0][path[1]] = self._odd()
        return json.dumps(data).encode()

    def odd_value(self) -> bytes:
        """A field of a verb, of a wrong kind or with text that nobody types."""
        data = json.loads(self.true())
        if data["args"]:
            data["args"][self.rng.choice(list(data["args"]))] = self._odd()
        return json.dumps(data).encode()

    def odd_shape(self) -> bytes:
        data = json.loads(self.true())
        match self.rng.randrange(6):
            case 0:
                data[self.rng.choice(("id", "verb", "args"))] = self._odd()
            case 1:
                del data[self.rng.choice(list(data))]
            case 2:
                data["more"] = self._odd()
            case 3:
                data["args"]["more"] = self._odd()
            case 4:
                data["verb"] = self.rng.choice((*FIELDS, "__init__", "close", "answer"))
            case _:
                return json.dumps(self._odd()).encode()
        return json.dumps(data).encode()

    def odd_change(self) -> bytes:
        """A change to be planned, of which one thing is odd."""
        shown: dict[str, Any] = unstructure(self.place.change)
        holder: Any = shown
        while True:
            key = self.rng.choice(list(holder) if isinstance(holder, dict) else list(range(len(holder))))
            if not (isinstance(holder[key], dict | list) and holder[key]) or self.rng.random() < 0.3:
                break
            holder = holder[key]
        odd = (self._odd(), self._word(), *((f"{holder[key]}{self._word()}",) if isinstance(holder[key], str) else ()))
        holder[key] = self.rng.choice(odd)
        return self._say("plan", change=shown, back=self.rng.choice((None, {}, {"nr_requests": self._word()})))

    def odd_target(self) -> bytes:
        """Settings of something that nobody has, or has under another name."""
        place = self.rng.choice((self.place.device.name, "../sda", "sda/../sdb", "/c0/v0", "tank", "vg0/a b"))
        target = f"{self.rng.choice(_BACKENDS)}:{place}{self._word() if self.rng.random() < 0.5 else ''}"
        values = {self.rng.choice(_SETTINGS): self._word() for _ in range(self.rng.randrange(4))}
        scope = self.rng.choice(list(Scope))
        if self.rng.random() < 0.5:
            return self._say("together", target=target, scope=scope, values=values)
        return self._say("persist", target=target, scope=scope, values=values, text=self._word())

    def _word(self) -> str:
        """Text that the check of a field may take."""
        return self.rng.choice(
            ("-", "--force", "0", "-1", "9" * 40, "..", "/", "%d", "$(id)", "ä", "\u4e2d", "none", "*")
        )

    def forbidden(self) -> bytes:
        return self.rng.choice(KINDS)(self.rng)

    def flipped(self) -> bytes:
        data = bytearray(self.true())
        for _ in range(self.rng.randrange(1, 5)):
            data[self.rng.randrange(len(data))] = self.rng.randrange(256)
        return bytes(data)

    def spliced(self) -> bytes:
        first, second = self.true(), self.true()
        cut = self.rng.randrange(len(first))
        return first[:cut] + second[self.rng.randrange(len(second)) :] or b"x"

    def large(self) -> bytes:
        size = self.rng.choice((10_000, 200_000, REQUEST_LIMIT - 200))
        return self.rng.choice(
            (
                b"[" * size,
                b'{"id":' + b"9" * size + b"}",
                b'{"id":1,"verb":"journal","args":{"a":"' + b"x" * size + b'"}}',
                b'{"id":1,"verb":"plan","args":{"change":'
                + b'{"target":' * 400
                + b"1"
                + b"}" * 400
                + b',"back":null}}',
                b'{"id":1,"verb":"read","args":{"paths":[' + b'"/a",' * (size // 8) + b'"/b"]}}',
                b'{"id":1e' + b"9" * 300 + b',"verb":"journal","args":{}}',
                b'{"id":1,"verb":"arm","args":{"session":"/x","until":1e999}}',
            )
        )

    def _odd(self) -> object:
        rng = self.rng
        texts = ("\ud800", "\0", "\u202e", "..", "/", "//", "-1", "1e9", "%s", "$(id)", "a" * 300, "\x1b[2J", "ä" * 99)
        victim = str(self.place.folder / "victim" / "file")
        return rng.choice(
            (
                *JUNK,
                *texts,
                victim,
                f"/dev/../{victim}",
                2**63,
                -(2**63),
                1e308,
                10**400,
                [rng.choice(texts)] * rng.randrange(99),
                {rng.choice(texts): rng.choice(texts)},
                {"name": rng.choice(texts), "size_bytes": rng.choice((1, "1", None))},
            )
        )

    def _say(self, verb: str, **args: object) -> bytes:
        self.number += 1
        return request(self.number, verb, args)


# -- conversations ----------------------------------------------------------------------------------------------------


def one_by_one(talk: Talk, writer: Writer, count: int, tally: Tally) -> None:
    """Each frame waits for its answer."""
    for _ in range(count):
        body = writer.body()
        before = len(talk.answers)
        sent = talk.send(frame(body))
        came = sent and talk.answered(before + 1)
        tally.expect(
            came and _is_clear(talk.answers[-1]), f"{body[:150]!r}: {talk.answers[-1] if came else 'no answer'}"
        )
        if not came:
            return


def all_at_once(talk: Talk, writer: Writer, count: int, tally: Tally) -> None:
    """Nobody waits for an answer; all of them come."""
    before = len(talk.answers)
    data = b"".join(frame(writer.body()) for _ in range(count))
    tally.expect(talk.send(data) and talk.answered(before + count), f"{len(talk.answers) - before} of {count} answers")
    for answer in talk.answers[before:]:
        tally.expect(_is_clear(answer), str(answer))


def in_pieces(talk: Talk, writer: Writer, count: int, tally: Tally) -> None:
    """A frame comes in parts, cut anywhere."""
    for _ in range(count // 5):
        data, before = frame(writer.body()), len(talk.answers)
        while data:
            cut = writer.rng.randrange(1, max(2, len(data) // 2 + 1))
            talk.send(data[:cut])
            data = data[cut:]
        tally.expect(talk.answered(before + 1) and _is_clear(talk.answers[-1]), "no answer to a frame in pieces")


def with_descriptors(talk: Talk, writer: Writer, count: int, tally: Tally) -> None:
    """Descriptors come along that nobody asked for; none of them stays open there."""
    before = _descriptors(talk.pid)
    ours, its = socket.socketpair()
    with ours, its, open(os.devnull, "rb") as file:
        for _ in range(count // 5):
            answers = len(talk.answers)
            handed = tuple(
                writer.rng.choice((file.fileno(), its.fileno())) for _ in range(writer.rng.choice((1, 3, 200)))
            )
            talk.send(frame(writer._say("journal")), handed)
            tally.expect(talk.answered(answers + 1) and _is_clear(talk.answers[-1]), "no answer with descriptors")
    tally.expect(_descriptors(talk.pid) <= before + 1, f"descriptors stay: {before}, then {_descriptors(talk.pid)}")


def under_signals(talk: Talk, writer: Writer, count: int, tally: Tally) -> None:
    """The helper hears what a terminal sends while it answers."""
    for _ in range(count // 5):
        os.kill(talk.pid, writer.rng.choice(_SIGNALS))
        answers = len(talk.answers)
        body = writer.true()
        tally.expect(
            talk.send(frame(body)) and talk.answered(answers + 1) and _is_clear(talk.answers[-1]), f"{body[:150]!r}"
        )


CONVERSATIONS = (one_by_one, all_at_once, in_pieces, with_descriptors, under_signals)

ENDS = ("close", "half", "head", "body", "zero", "long", "term", "unread", "busy")
"""How a conversation ends: properly, or in the middle of something."""


def _end(talk: Talk, writer: Writer, how: str) -> None:
    match how:
        case "half":
            with contextlib.suppress(OSError):
                talk.sock.shutdown(socket.SHUT_WR)
        case "head":
            talk.send(b"\0\0")
        case "body":
            talk.send(frame(writer.true())[:-1])
        case "zero":
            talk.send(struct.pack("!I", 0))
            talk.over.wait(SECONDS)
        case "long":
            talk.send(struct.pack("!I", writer.rng.choice((REQUEST_LIMIT + 1, 2**32 - 1))))
            talk.over.wait(SECONDS)
        case "term":
            with contextlib.suppress(ProcessLookupError):
                os.kill(talk.pid, signal.SIGTERM)
            talk.over.wait(SECONDS)
        case "busy":
            talk.send(b"".join(frame(writer.true()) for _ in range(40)))
        case _:
            pass
    if how == "half":
        talk.over.wait(SECONDS)
    talk.close()


def run(folder: Path, count: int, seed: int) -> Tally:
    """About `count` frames in conversations of every kind, greeted or not."""
    tally = Tally()
    if reason := why_not():
        tally.leave(reason)
        return tally
    rng = random.Random(seed)
    with prepared(folder) as place:
        settings, kept = _settings(place), place.device.backing.read_bytes()
        turn = 0
        while tally.tried < count:
            kind, how = CONVERSATIONS[turn % len(CONVERSATIONS)], ENDS[turn % len(ENDS)]
            before = tally.failed
            _converse(place, random.Random(rng.random()), kind, how, turn, tally)
            if tally.failed > before:
                tally.notes.append(f"seed {seed}, conversation {turn} ({kind.__name__}, {how})")
            turn += 1
        tally.expect(_settings(place) == settings, "a setting of another device was changed")
        tally.expect(place.device.backing.read_bytes() == kept, "the device was written to")
        tally.expect((place.folder / "victim" / "file").read_text() == "somebody's", "a file was written to")
        strange = _strange(place)
        tally.expect(not strange, f"done outside: {strange[:5]}")
    return tally


def _converse(
    place: Place,
    rng: random.Random,
    kind: Callable[[Talk, Writer, int, Tally], None],
    how: str,
    turn: int,
    tally: Tally,
) -> None:
    talk, writer = Talk(place), Writer(rng, place)
    try:
        if turn % 7 != 6:  # else nothing is greeted
            talk.send(frame(writer.hello(read_only=turn % 4 == 3)))
            for body in writer.in_order() if turn % 2 else ():
                talk.send(frame(body))
            talk.answered(5 if turn % 2 else 2)
        kind(talk, writer, min(PER_CONVERSATION, 150), tally)
    finally:
        _end(talk, writer, how)
    tally.expect(not talk.broken, f"no answer at all: {talk.broken}")
    try:
        out, err = talk.process.communicate(timeout=SECONDS)
        tally.expect((talk.process.returncode, out, err) == (0, b"", b""), f"{talk.process.returncode} {out!r} {err!r}")
    except subprocess.TimeoutExpired:
        tally.fail("the helper does not end")
        talk.process.kill()
        talk.process.communicate()
    tally.expect(_none_left(place), f"left: {_left(place)}")
    tally.expect(_is_free(lock_name(place.change.locks[0])), "a lock is held")


def _is_clear(answer: dict[str, Any]) -> bool:
    """Whether something was done, or refused with a sentence that is no defect's."""
    if "ok" in answer:
        return "error" not in answer
    message = str(answer.get("error", {}).get("message", ""))
    return bool(message) and "The root helper failed" not in message and "Traceback" not in message


def _descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def _left(place: Place) -> list[list[str]]:
    """Programs of this installation that run still."""
    found = []
    for one in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = one.cmdline()
            if str(place.python) in words and one.status() != psutil.STATUS_ZOMBIE:
                found.append(words)
    return found


def _none_left(place: Place) -> bool:
    end = time.monotonic() + SECONDS
    while _left(place):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def _is_free(name: str) -> bool:
    try:
        descriptor = os.open(ROOTS_LOCKS / f"{name}.lock", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def _settings(place: Place) -> dict[str, str]:
    """Queue settings of all disks but those of loop devices, which other tests may set."""
    found = {}
    for path in Path("/sys/block").glob("*/queue/*"):
        if not path.is_dir() and not path.parts[3].startswith(("loop", "zram", "ram")):
            with contextlib.suppress(OSError):
                found[str(path)] = path.read_text()
    return found


_PROGRAMS = (
    *("mdadm", "dmsetup", "lvs", "pvs", "udevadm", "blkid", "lsblk", "wipefs", "systemctl", "systemd-run", "true"),
    *("systemd-detect-virt", "zpool", "zfs", "multipath", "nvme", "cryptsetup", "losetup"),
)
"""Programs that a helper starts to look."""


def _strange(place: Place) -> list[str]:
    """What the helpers did that none of the requests asks for."""
    found = []
    for line in place.log.read_text().splitlines():
        event, *args = json.loads(line)
        first = args[0] if args else ""
        if event == "subprocess.Popen":
            name = os.path.basename(str(first))
            allowed = (
                name in _PROGRAMS
                or (name == "fio" and "--readonly" in args[1])  # the verb `measure`
                or str(first) == str(place.python)
                or os.path.realpath(str(first)) == os.path.realpath(place.python)
            )
        elif event in ("os.exec", "os.posix_spawn"):
            allowed = os.path.basename(str(first)) in _PROGRAMS
        elif event.startswith("socket."):
            allowed = False
        else:
            names = [str(one) for one in args if str(one).startswith("/")]
            node = not names and first == _LENT  # in a folder of devices that nobody else sees
            allowed = node or (bool(names) and all(_is_ours(place, name) for name in names))
        if not allowed:
            found.append(line[:200])
    return found


def _is_ours(place: Place, name: str) -> bool:
    """Whether a helper may write there: root's state, locks, working folders, this very device."""
    device = (place.device.device, f"/sys/block/{place.device.name}/")
    own = (f"{place.state}/", str(ROOTS_LOCKS), "/proc/self/", *device)
    return (
        name in (os.devnull, str(place.state), str(place.log))
        or name.startswith(own)
        or _TEMPORARY.fullmatch(name) is not None
    )


_LENT = "device"
"""The node through which a descriptor is opened for a group."""

_TEMPORARY = re.compile(r"/tmp/(raidbench-\d[^/]*|[a-z0-9_]{8})")
"""A program's working folder, and the file with which Python finds out that it may write there."""


def main() -> None:
    """Try it by hand: `python -m tests.privsep.fuzzing [COUNT [SEED]]`."""
    import sys
    import tempfile

    from tests.seeing import begin

    count, seed = (int(word) for word in (*sys.argv[1:], "2000", str(random.randrange(2**31)))[:2])
    begin(tempfile.gettempdir())
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        print(run(Path(folder), count, seed))


if __name__ == "__main__":
    main()
