"""Run a program to its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import time

from backends.errors import ToolTimeoutError
from backends.host import Command, Completed, ProcessTracking
from backends.system.local.child import OUTPUT_LIMIT, Child, StartGate, clean_environment, start, start_error
from backends.system.local.files import private_folder
from backends.system.local.pty_prompt import PROMPT_LIMIT, Terminal
from backends.system.local.stalls import Stall, stall_of

LINGER = 1.0
"""Seconds to wait for more output after a program has exited, while one of its children has the pipe open."""

REAP = 0.5
"""Seconds to wait for the end of a killed program."""


def run_change(command: Command, nice: int | None, custody: ProcessTracking | None = None) -> Completed:
    """Run a changing command to its end and return the result.

    `custody`: records the process ID before the command runs. If `custody.begins` raises an error, it is not run.
    """
    folder = private_folder()
    started = time.monotonic()
    terminal = Terminal(command.reply) if command.reply is not None else None
    try:
        with contextlib.ExitStack() as stack:
            if terminal is not None:
                stack.enter_context(terminal)
            process = stack.enter_context(_start(command, folder, custody, terminal))
            if nice is not None:
                with contextlib.suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, process.pid, nice)
            outputs = _listen(process, terminal)
    except OSError as error:
        raise start_error(command, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return _result_of(process.returncode, outputs, started)


def _result_of(returncode: int, outputs: tuple[bytes, bytes, bool], started: float) -> Completed:
    """Return the result of a command. `outputs`: standard output, standard error, and whether they were truncated.

    `started`: time.monotonic() at start.
    """
    return Completed(
        returncode=returncode,
        stdout=outputs[0].decode("utf-8", "replace"),
        stderr=outputs[1].decode("utf-8", "replace"),
        seconds=time.monotonic() - started,
        truncated=outputs[2],
    )


def _start(
    command: Command, folder: str, custody: ProcessTracking | None, terminal: Terminal | None
) -> subprocess.Popen[bytes]:
    """Start the program and return it. With `custody`, its process ID is recorded before the program is executed."""
    name = os.path.basename(command.argv[0])
    with contextlib.ExitStack() as stack:
        gate = stack.enter_context(StartGate(lambda pid: custody.begins(pid, name))) if custody is not None else None
        # Not asyncio: a closing event loop kills its children, and an interrupted change is worse than a late one.
        process = subprocess.Popen(
            command.argv,
            stdin=subprocess.DEVNULL if terminal is None else terminal.programs,
            stdout=subprocess.PIPE if terminal is None else terminal.programs,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=clean_environment(command.env),
            start_new_session=True,
            # If raidbench is killed, nothing reads the pipe; SIGPIPE must not interrupt the program.
            restore_signals=False,
            pass_fds=() if custody is None else (custody.lock,),
            preexec_fn=None if gate is None else gate.in_child,
        )
    if terminal is not None:
        terminal.close_program_side()
    if gate is not None and gate.refusal is not None:
        process.communicate()
        raise gate.refusal
    return process


async def run_read(command: Command, nice: int | None) -> Completed:
    """Run a read-only command and return its result; kill it at its timeout or when it stalls.

    A program that waits in the kernel for a disk may survive SIGKILL; it is then left running. Raises
    ToolTimeoutError.
    """
    folder = private_folder()
    started = time.monotonic()
    try:
        child = await start(command, folder, nice)
        try:
            outputs = await _in_time(child, command)
        finally:
            child.signal(signal.SIGKILL)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(REAP):
                    await child.wait()
            child.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert child.returncode is not None
    return _result_of(child.returncode, outputs, started)


async def _in_time(child: Child, command: Command) -> tuple[bytes, bytes, bool]:
    """Return standard output, standard error, and whether they were truncated.

    Raises ToolTimeoutError, with the disk the program waits for.
    """
    collecting = asyncio.create_task(_collect(child), name="collect")
    waiting: set[asyncio.Task[tuple[bytes, bytes, bool]] | asyncio.Task[Stall]] = {collecting}
    stalling = None
    if command.stall is not None:
        stalling = asyncio.create_task(stall_of(child.pid, command.argv, command.stall), name="stall")
        waiting.add(stalling)
    try:
        await asyncio.wait(waiting, timeout=command.timeout, return_when=asyncio.FIRST_COMPLETED)
        if collecting.done():
            return collecting.result()
    finally:
        for task in waiting:
            task.cancel()
    name, hint = os.path.basename(command.argv[0]), "raidbench stopped it. Try again when the device is less busy."
    if stalling is None or not stalling.done():
        text, stall = f"{name} did not finish within {command.timeout:g} s.", Stall()
    else:
        stall = stalling.result()
        text = f"{name} made no progress for {command.stall:g} s: {stall.why}."
        hint = "Read the kernel log for the cause." if stall.devices else hint
    raise ToolTimeoutError(text, hint=hint, evidence=command.shown(), devices=stall.devices)


async def _collect(child: Child) -> tuple[bytes, bytes, bool]:
    """Return both outputs, each up to `OUTPUT_LIMIT`, and whether they were truncated.

    A program that exceeds the limit is killed.
    """
    outputs = (bytearray(), bytearray())
    truncated = False

    async def take(stream: asyncio.StreamReader, buffer: bytearray) -> None:
        nonlocal truncated
        while chunk := await stream.read(262144):
            # Only a read-only command may be killed for too much output.
            room = OUTPUT_LIMIT - len(buffer)
            buffer += chunk[:room]
            if len(chunk) > room:
                truncated = True
                child.signal(signal.SIGKILL)

    readers = [asyncio.create_task(take(child.stdout, outputs[0])), asyncio.create_task(take(child.stderr, outputs[1]))]
    try:
        await child.wait()
        await asyncio.wait(readers, timeout=LINGER)
    finally:
        for reader in readers:
            reader.cancel()
    return bytes(outputs[0]), bytes(outputs[1]), truncated


def _listen(process: subprocess.Popen[bytes], terminal: Terminal | None) -> tuple[bytes, bytes, bool]:
    """Return both outputs of a program that must run to its end, each up to `OUTPUT_LIMIT`, and whether a rest was
    dropped.
    """
    assert process.stderr is not None
    if terminal is None:
        assert process.stdout is not None
        out_descriptor = process.stdout.fileno()
    else:
        out_descriptor = terminal.ours
    outputs = {out_descriptor: bytearray(), process.stderr.fileno(): bytearray()}
    truncated = False
    silent = 0.0
    with selectors.DefaultSelector() as selector:
        for descriptor in outputs:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map() and silent < LINGER:
            ready = selector.select(0.1)
            # A daemon that the tool started may keep the pipe open forever. After the exit, silence counts as the end.
            silent = silent + 0.1 if not ready and process.poll() is not None else 0.0
            for key, _ in ready:
                chunk = os.read(key.fd, 262144) if terminal is None or key.fd != out_descriptor else terminal.read()
                if not chunk:
                    selector.unregister(key.fd)
                buffer = outputs[key.fd]
                truncated = truncated or len(buffer) + len(chunk) > OUTPUT_LIMIT
                # Output beyond the limit is read and dropped, because a full pipe would interrupt the change.
                buffer += chunk[: OUTPUT_LIMIT - len(buffer)]
            if terminal is not None:
                terminal.answer(bytes(outputs[out_descriptor][:PROMPT_LIMIT]), more=bool(ready))
    process.wait()
    out, err = outputs.values()
    return bytes(out), bytes(err), truncated
