"""One guest, from its start to its end: QEMU under software emulation, watched, and ended whatever happens."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tests.lab.hardware import ADAPTERS, DISKS
from tests.lab.machine.kernel import Kernel
from tests.lab.machine.missing import LabError, program

GUEST_INIT = Path(__file__).parent / "guest-init.sh"
MEMORY_MIB = 3072

CPU = "Nehalem"
"""An old processor is emulated fastest: it has no fast string copies (emulated they go byte by byte, and a kernel that
has them uses no others), no wide registers to save and no SMAP, which ends a translated block twice a system call."""

_PREFIX = "raidbench-lab-"

PATIENCE = 4
"""How many times its processor time a guest may take by the clock, should it stand still or the machine be busy."""

BOOTS = 3
"""Attempts: under software emulation a boot hangs once in a hundred."""
BOOT_SECONDS = 90
"""Longer than the slowest boot seen on a busy machine (20 s)."""


def run_in_guest(
    kernel: Kernel, argv: Sequence[str], cwd: Path, results: Path | None, turns: Path | None = None, *, seconds: float
) -> int:
    """Boot, run a program as root, power off; its exit status. Its output comes to our standard output.

    The program finds an empty folder at /run/lab/out, which is `results`, if given: what it leaves is there at once.
    The folder `turns`, which guests may share, is at /run/lab/turns. `seconds`: of the processor; what else runs here
    makes nobody too late. Raises LabError when no guest came up, or it took longer, or died.
    """
    clear_up()
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-") as temporary:
        state = Path(temporary)
        for attempt in range(1, BOOTS + 1):
            with _guest(kernel, argv, cwd, state, results or state / "out", turns or state / "turns") as guest:
                if guest.comes_up():
                    guest.wait(seconds)
                    return guest.status()
            print(f"lab: boot {attempt} of {BOOTS} did not come up: {guest.last_words()}", file=sys.stderr, flush=True)
    raise LabError("the guest does not boot")


def clear_up() -> None:
    """Remove what guests left whose starter was killed; they went with it."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}[0-9]*-*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists() and folder.stat().st_uid == os.geteuid():
            shutil.rmtree(folder, ignore_errors=True)


class Guest:
    """A running guest and its folders."""

    def __init__(self, process: subprocess.Popen[bytes], state: Path, out: Path) -> None:
        self._process = process
        self._state = state
        self._out = out

    def comes_up(self) -> bool:
        """Whether it gets as far as running the program."""
        end = time.monotonic() + BOOT_SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            if (self._out / "up").exists():
                return True
            time.sleep(0.1)
        return (self._out / "up").exists()

    def wait(self, seconds: float) -> None:
        """Until it has powered off. Raises LabError after `seconds` of the processor, or many times as long."""
        end = time.monotonic() + PATIENCE * seconds
        while self._process.poll() is None:
            used = processor_seconds(self._process.pid)
            if used > seconds or time.monotonic() > end:
                raise LabError(
                    f"the guest was still at it after {used:.0f} s of processor time, {seconds:.0f} s are given; "
                    f"{self.last_words()}"
                )
            time.sleep(0.5)

    def status(self) -> int:
        """Exit status of the program. Raises LabError when there is none."""
        try:
            return int((self._out / "status").read_text())
        except (OSError, ValueError):
            raise LabError(f"the guest died; {self.last_words()}") from None

    def last_words(self) -> str:
        """The end of its console and what QEMU said."""
        console = (self._state / "serial.log").read_text(errors="replace").splitlines() or ["no word from the kernel"]
        words = (self._state / "qemu.log").read_text(errors="replace").splitlines()
        return "\n  ".join(("it said last:", *console[-15:], *words[-5:]))


@contextmanager
def _guest(kernel: Kernel, argv: Sequence[str], cwd: Path, state: Path, out: Path, turns: Path) -> Iterator[Guest]:
    """A guest that is not there any more afterwards."""
    turns.mkdir(exist_ok=True)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    (out / "argv").write_bytes(b"".join(word.encode() + b"\0" for word in argv))
    (out / "cwd").write_text(str(cwd))
    (out / "disks").write_text(str(len(DISKS)))
    for disk in DISKS:
        disk.create(state)
    (state / "serial.log").touch()
    with open(state / "qemu.log", "wb") as log:
        process = subprocess.Popen(
            qemu(kernel, out, turns),
            cwd=state,
            stdin=subprocess.PIPE,  # never written to: at its end QEMU would close the guest's output, too
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for us, who then end it
        )
        assert process.stdout is not None
        assert process.stdin is not None
        relay = threading.Thread(target=_pass_on, args=(process.stdout,), daemon=True)
        relay.start()
        try:
            yield Guest(process, state, out)
        finally:
            process.kill()
            process.wait()
            relay.join()
            process.stdin.close()
            process.stdout.close()


def _pass_on(source: BinaryIO) -> None:
    """The guest's output as ours, as it comes."""
    while chunk := source.read1(65536):  # type: ignore[attr-defined]  # a pipe is a BufferedReader
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()


def processor_seconds(pid: int) -> float:
    """What a process and its threads have used by now; 0 once it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def qemu(kernel: Kernel, out: Path, turns: Path) -> list[str]:
    """The command line, to be run in the folder of the guest."""
    words = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []  # when we are killed, it goes with us
    # One processor, but room for two: with one alone the emulator leaves the guest's memory barriers out, while the
    # disks are emulated beside it. NVMe then misses doorbells, and I/O stands still until it times out after 30 s.
    words += [program("qemu-system-x86_64"), "-accel", "tcg", "-machine", "q35", "-cpu", CPU, "-smp", "1,maxcpus=2"]
    words += ["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-m", str(MEMORY_MIB)]
    words += ["-kernel", str(kernel.vmlinux), "-initrd", str(kernel.initramfs), "-append", _append(kernel)]
    words += ["-chardev", "file,id=serial,path=serial.log", "-serial", "chardev:serial"]
    words += ["-device", "virtio-serial-pci"]
    words += ["-chardev", "stdio,id=out,signal=off", "-device", "virtserialport,chardev=out,name=lab.out"]
    # The machine's own monitor, led into the machine: a test takes a disk out of it by a word to itself.
    words += ["-chardev", "socket,id=monitor,path=qmp,server=on,wait=off", "-mon", "chardev=monitor,mode=control"]
    words += ["-chardev", "socket,id=loop,path=qmp,reconnect=1", "-device", "virtserialport,chardev=loop,name=lab.qmp"]
    words += _share("root", "/", readonly=True)
    words += _share("out", str(out))
    words += _share("turns", str(turns))
    for arguments in ADAPTERS:
        words += ["-device", json.dumps(arguments)]
    for disk in DISKS:
        words += ["-blockdev", json.dumps(disk.backend()), "-device", json.dumps(disk.arguments)]
    return words


def _share(tag: str, path: str, *, readonly: bool = False) -> list[str]:
    mode = "on" if readonly else "off"
    # remap: the files of several filesystems lie below one root, and their numbers must not be taken for each other's
    share = f"local,id={tag},path={path.replace(',', ',,')},security_model=none,readonly={mode},multidevs=remap"
    return ["-fsdev", share, "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


def _append(kernel: Kernel) -> str:
    """The kernel's command line."""
    for path in (kernel.modules, GUEST_INIT):
        if shlex.quote(str(path)) != str(path) or "," in str(path):
            raise LabError(f"{path} cannot be named on a kernel's command line; use a path without blanks and quotes")
    words = ["console=ttyS0", "quiet", "loglevel=4", "panic=-1", "mitigations=off", "nokaslr"]
    # Under emulation the kernel would distrust the time stamp counter and take a clock that is slow to read.
    words += ["tsc=reliable", "loop.max_loop=0"]
    words += ["clearcpuid=112", "init_on_alloc=0"]  # no `rep` copies (X86_FEATURE_REP_GOOD); no page is cleared twice
    # What is translated is kept by its virtual address: a program at other addresses each time is translated each time.
    words += ["norandmaps"]
    return " ".join((*words, f"lab.modules={kernel.modules}", f"lab.init={GUEST_INIT}"))
