"""The helper's end of the connection: receives requests and sends replies until the connection is closed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import threading

from app.privsep.dispatcher import ReplyFrame, RequestDispatcher
from backends.system.privsep.connection import HEAD, REQUEST_LIMIT, MalformedError, length_of, pack

MAX_REQUESTS = 64
"""Maximum number of requests in progress. At this number, the next request is read when one of them has ended."""

_CREDENTIALS = struct.Struct("3i")


def peer_credentials(sock: socket.socket) -> tuple[int, int]:
    """Return user ID and group ID of the process at the other end, as the kernel reports them (SO_PEERCRED)."""
    _, uid, gid = _CREDENTIALS.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return int(uid), int(gid)


class Conversation:
    """Receives the requests of one connection and sends the replies."""

    def __init__(self, sock: socket.socket, dispatcher: RequestDispatcher) -> None:
        self._socket = sock
        self._dispatcher = dispatcher
        self._room = threading.BoundedSemaphore(MAX_REQUESTS)
        self._sending = threading.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._over = asyncio.Event()

    async def serve(self) -> None:
        """Serve requests until the connection is closed.

        Then cancel requests that read, complete those that make a change, close all devices and release all locks.
        """
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._listen, args=(loop,), name="requests", daemon=True).start()
        await self._over.wait()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._dispatcher.close()

    def greet(self) -> None:
        """Report to the user's process that requests are accepted from now on."""
        self._send(ReplyFrame(message={"id": 0, "ok": {"pid": os.getpid()}}))

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Receive requests in a thread, and start a task of the event loop for each, in order."""
        try:
            while True:
                length = length_of(self._read_exactly(HEAD), REQUEST_LIMIT)
                body = self._read_exactly(length)
                self._room.acquire()
                loop.call_soon_threadsafe(self._begin, body)
        except MalformedError as error:  # Where the next message starts is unknown, so the connection ends.
            self._send(self._dispatcher.refuse_bytes(error))
        except (OSError, EOFError):
            pass
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._over.set)

    def _begin(self, body: bytes) -> None:
        if self._over.is_set():
            return
        task = asyncio.get_running_loop().create_task(self._answer(body))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, body: bytes) -> None:
        try:
            reply = await self._dispatcher.answer(body)
            await asyncio.to_thread(self._send, reply)
        finally:
            self._room.release()

    def _send(self, reply: ReplyFrame) -> None:
        data = pack(reply.message)
        try:
            with self._sending:
                sent = socket.send_fds(self._socket, [data], reply.descriptors) if reply.descriptors else 0
                self._socket.sendall(data[sent:])
        except OSError:  # The connection is closed.
            pass
        finally:
            for descriptor in reply.descriptors:
                os.close(descriptor)

    def _read_exactly(self, count: int) -> bytes:
        """Return `count` bytes from the connection. Descriptors that the user's process passes are ignored.

        Raises EOFError if the connection is closed, OSError on failure.
        """
        parts: list[bytes] = []
        while count:
            part = self._socket.recv(count)
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)
