"""A path is followed once: what it led to then is what root uses, and no user can make it lead elsewhere."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.core.session.paths import Paths
from app.privsep import benchmark_verbs, device_claims, read_policy
from app.privsep.dispatcher import RequestDispatcher
from app.privsep.read_policy import node_of
from app.privsep.request_schema import FIELDS
from backends.errors import RefusedError
from tests.backends.loops import Loop, needs_loops
from tests.privsep.forbidden import READERS
from tests.privsep.helping import NOBODY, needs_root

pytestmark = [needs_root, needs_loops()]

TRIES = int(os.environ.get("RAIDBENCH_FLIPS", "20"))
"""Requests with each command line while the link is exchanged all the time."""

_IN_OPEN = 0x20
"""inotify(7): the file was opened."""

LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass
class Trap:
    """A link below /dev to a device, which can be exchanged for one to a file that nobody may open."""

    folder: Path
    device: str
    secret: Path
    watch: int

    @property
    def link(self) -> str:
        return str(self.folder / "dev")

    def lead_to(self, target: str | Path) -> None:
        """Exchange the link, in one step."""
        new = self.folder / "new"
        new.symlink_to(target)
        os.lchown(new, self.folder.stat().st_uid, -1)
        os.replace(new, self.link)

    def opened(self) -> bool:
        """Whether the file was opened since the last question."""
        try:
            return bool(os.read(self.watch, 65536))
        except BlockingIOError:
            return False


@pytest.fixture
def trap(device: Loop) -> Iterator[Trap]:
    folder = Path(tempfile.mkdtemp(prefix="raidbench-trap-", dir="/dev/shm"))
    folder.chmod(0o755)
    secret = folder / "secret"
    secret.write_text("x")
    watch = LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    assert LIBC.inotify_add_watch(watch, os.fsencode(secret), _IN_OPEN) >= 0
    one = Trap(folder, device.sure(), secret, watch)
    one.lead_to(one.device)
    yield one
    os.close(watch)
    shutil.rmtree(folder)


@pytest.fixture
async def root(tmp_path: Path) -> RequestDispatcher:
    """A helper in this process."""
    paths = Paths.at(tmp_path / "root")
    one = RequestDispatcher(paths=paths, uid=NOBODY, gid=NOBODY)
    assert (await one.answer(body("hello", version=1, read_only=False, firmware=False))).accepted
    return one


def body(verb: str, **args: object) -> bytes:
    return json.dumps({"id": 1, "verb": verb, "args": args}).encode()


@pytest.fixture
def opener(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In the place of every tool: notes the words that it is given, and opens each that is a path."""
    tool, log = tmp_path / "tool", tmp_path / "log"
    tool.write_text(f'#!/bin/sh\necho "$@" >> {log}\nfor word; do [ -e "$word" ] && exec < "$word"; done\nexit 0\n')
    tool.chmod(0o755)
    log.touch()
    monkeypatch.setattr(read_policy, "find_program", lambda names: str(tool))
    return log


LINES = tuple(words for words in READERS if any(word.startswith("/dev/") for word in words))


def asks_with(words: tuple[str, ...], path: str) -> bytes:
    """The command line, of that device."""
    argv = [path if word.startswith("/dev/") else word for word in words]
    return body("run", argv=argv, seconds=20, stall=None)


def of_devices(path: str) -> dict[str, bytes]:
    """Every request that names a device, but those that run a program."""
    return {
        "facts": body("facts", device=path, writing=True),
        "free": body("free", device=path, shown=None),
        "hold": body("hold", device=path, writing=False, typed=None, meant=None, shown=None),
    }


def test_every_verb_that_takes_a_path_is_known_here() -> None:
    """`session` is a name in the journal; nothing is looked up there."""
    named = {
        (verb, field)
        for verb, fields in FIELDS.items()
        for field, check in fields.items()
        if check("/dev/sda") or check(["/dev/sda"])
    }
    devices = {(verb, "device") for verb in of_devices("")}
    files = {("read", "paths"), ("follow", "path"), ("measure", "fio"), ("run", "argv")}
    texts = {("hold", "typed"), ("lock", "what"), ("intend", "after"), ("persist", "text"), ("hold", "shown")}
    sessions = {(verb, "session") for verb, fields in FIELDS.items() if "session" in fields}
    assert named <= devices | files | texts | sessions, named - devices - files - texts - sessions


# -- what a path may lead through -------------------------------------------------------------------------------------


def test_a_link_of_roots_leads_to_the_node(trap: Trap) -> None:
    (trap.folder / "second").symlink_to("dev")
    assert [node_of(path) for path in (trap.link, f"{trap.folder}/second", trap.device)] == [trap.device] * 3


def of_another_user(trap: Trap) -> None:
    os.lchown(trap.link, NOBODY, NOBODY)


def in_a_folder_of_another_user(trap: Trap) -> None:
    os.chown(trap.folder, NOBODY, NOBODY)


def in_a_folder_that_others_write(trap: Trap) -> None:
    trap.folder.chmod(0o777)


def through_a_link_of_another_user(trap: Trap) -> None:
    (trap.folder / "theirs").symlink_to(trap.device)
    os.lchown(trap.folder / "theirs", NOBODY, NOBODY)
    trap.lead_to("theirs")


def through_a_folder_of_another_user(trap: Trap) -> None:
    (trap.folder / "theirs").mkdir()
    (trap.folder / "theirs" / "dev").symlink_to(trap.device)
    os.chown(trap.folder / "theirs", NOBODY, NOBODY)
    trap.lead_to("theirs/dev")


def in_circles(trap: Trap) -> None:
    trap.lead_to(trap.link)


def nowhere(trap: Trap) -> None:
    trap.lead_to("/dev/no-such-disk")


def to_a_file(trap: Trap) -> None:
    trap.lead_to(trap.secret)


def to_a_file_elsewhere(trap: Trap) -> None:
    trap.lead_to("/etc/shadow")


def to_a_character_device(trap: Trap) -> None:
    trap.lead_to("/dev/mem" if os.path.exists("/dev/mem") else "/dev/null")


WAYS: tuple[Callable[[Trap], None], ...] = (
    of_another_user,
    in_a_folder_of_another_user,
    in_a_folder_that_others_write,
    through_a_link_of_another_user,
    through_a_folder_of_another_user,
    in_circles,
    nowhere,
    to_a_file,
    to_a_file_elsewhere,
    to_a_character_device,
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_no_other_path_leads_to_a_node(trap: Trap, way: Callable[[Trap], None]) -> None:
    way(trap)
    assert node_of(trap.link) is None
    assert not trap.opened()


def test_a_node_of_another_user_in_a_folder_for_everybody_is_none(trap: Trap) -> None:
    """Its owner can put a file in its place."""
    number = os.stat(trap.device).st_rdev
    trap.folder.chmod(0o1777)
    node = trap.folder / "node"
    os.mknod(node, 0o600 | stat.S_IFBLK, number)
    before = node_of(str(node))
    os.chown(node, NOBODY, NOBODY)
    assert (before, node_of(str(node))) == (str(node), None)


def test_a_node_elsewhere_than_below_dev_is_none(trap: Trap, tmp_path: Path) -> None:
    os.mknod(tmp_path / "node", 0o600 | stat.S_IFBLK, os.stat(trap.device).st_rdev)
    trap.lead_to(tmp_path / "node")
    assert node_of(trap.link) is None


@pytest.mark.parametrize("name", ["sgx_enclave", "nvme-fabrics", "sgx", "nvme", "bsg"])
def test_a_character_device_that_is_called_like_a_disk_is_none(name: str) -> None:
    assert read_policy._CHARACTER.fullmatch(f"/dev/{name}") is None


@pytest.mark.parametrize("name", ["nvme0", "nvme12n3", "sg4", "bsg/0:0:0:0"])
def test_the_character_devices_of_disks_are_known_by_their_names(name: str) -> None:
    assert read_policy._CHARACTER.fullmatch(f"/dev/{name}") is not None


# -- a link that is exchanged between the check and the use -----------------------------------------------------------


@pytest.fixture
def flips(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> Trap:
    """As soon as the link has been judged it leads to the file."""

    def judged(path: str) -> str | None:
        trap.lead_to(trap.device)
        try:
            return node_of(path)
        finally:
            trap.lead_to(trap.secret)

    for module in (read_policy, device_claims):
        monkeypatch.setattr(module, "node_of", judged)
    return trap


@pytest.mark.parametrize("words", LINES, ids=" ".join)
async def test_a_program_is_given_the_node_that_was_judged(
    root: RequestDispatcher, flips: Trap, opener: Path, words: tuple[str, ...]
) -> None:
    assert (await root.answer(asks_with(words, flips.link))).accepted

    told = opener.read_text().split()
    assert flips.device in told
    assert flips.link not in told
    assert not flips.opened()


@pytest.mark.parametrize("verb", of_devices(""))
async def test_the_guard_judges_and_holds_the_node_that_was_judged(
    root: RequestDispatcher, flips: Trap, verb: str
) -> None:
    reply = await root.answer(of_devices(flips.link)[verb])

    assert reply.accepted, reply.message
    assert flips.link not in json.dumps(reply.message)
    assert not flips.opened()
    for descriptor in reply.descriptors:
        assert os.fstat(descriptor).st_rdev == os.stat(flips.device).st_rdev
        os.close(descriptor)
    await root.close()


@pytest.mark.parametrize("whose", [0, NOBODY])
def test_a_fio_is_compared_by_what_no_user_can_exchange(
    trap: Trap, monkeypatch: pytest.MonkeyPatch, whose: int
) -> None:
    own = shutil.which("true")
    assert own is not None
    trap.lead_to(own)
    os.lchown(trap.link, whose, whose)
    monkeypatch.setattr(benchmark_verbs, "find_fio", lambda host: own)
    runs = benchmark_verbs.GuardedRuns(None, None)  # type: ignore[arg-type]
    if whose == 0:
        assert runs._require_same_fio(trap.link) == own
    else:
        with pytest.raises(RefusedError, match="but your fio is"):
            runs._require_same_fio(trap.link)


# -- the same by chance -----------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("whose", [0, NOBODY], ids=["root", "user"])
async def test_no_file_is_opened_while_a_link_is_exchanged_all_the_time(
    root: RequestDispatcher, trap: Trap, opener: Path, whose: int
) -> None:
    """What a user exchanges is refused; what root itself does is answered or refused."""
    os.chown(trap.folder, whose, whose)
    over = threading.Event()

    def exchange() -> None:
        while not over.is_set():
            trap.lead_to(trap.secret)
            trap.lead_to(trap.device)
            over.wait(0.001)

    thread = threading.Thread(target=exchange)
    thread.start()
    answers = []
    try:
        for _ in range(TRIES):
            for request in (*(asks_with(words, trap.link) for words in LINES), *of_devices(trap.link).values()):
                reply = await root.answer(request)
                answers.append(reply.accepted)
                for descriptor in reply.descriptors:
                    assert os.fstat(descriptor).st_rdev == os.stat(trap.device).st_rdev
                    os.close(descriptor)
    finally:
        over.set()
        thread.join()
    assert not trap.opened()
    assert any(answers) is (whose == 0)
    assert root.failed == 0
    await root.close()
