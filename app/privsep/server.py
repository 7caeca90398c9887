"""The helper's end of the connection: requests in, answers out, until the other side is gone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import threading

from app.privsep.dispatcher import ReplyFrame, RequestDispatcher
from backends.system.privsep.connection import HEAD, REQUEST_LIMIT, MalformedError, length_of, pack

AT_A_TIME = 64
"""Requests under way; the next is read when one of them is answered."""

_CREDENTIALS = struct.Struct("3i")


def peer_credentials(sock: socket.socket) -> tuple[int, int]:
    """User and group of who made the connection, by the kernel's word."""
    _, uid, gid = _CREDENTIALS.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return int(uid), int(gid)


class Conversation:
    """Everything that is asked over one socket."""

    def __init__(self, sock: socket.socket, desk: RequestDispatcher) -> None:
        self._socket = sock
        self._desk = desk
        self._room = threading.BoundedSemaphore(AT_A_TIME)
        self._sending = threading.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._over = asyncio.Event()

    async def hold(self) -> None:
        """Answer until the other side is gone; then end what reads, let what changes come to its end, let go of all."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._listen, args=(loop,), name="requests", daemon=True).start()
        await self._over.wait()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._desk.close()

    def greet(self) -> None:
        """Say that requests are answered from here on."""
        self._send(ReplyFrame(message={"id": 0, "ok": {"pid": os.getpid()}}))

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """The thread that reads: requests become tasks of the loop, in their order."""
        try:
            while True:
                length = length_of(self._exactly(HEAD), REQUEST_LIMIT)
                body = self._exactly(length)
                self._room.acquire()
                loop.call_soon_threadsafe(self._begin, body)
        except MalformedError as error:  # where the next message begins is not known any more
            self._send(self._desk.refuse_bytes(error))
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
            reply = await self._desk.answer(body)
            await asyncio.to_thread(self._send, reply)
        finally:
            self._room.release()

    def _send(self, reply: ReplyFrame) -> None:
        data = pack(reply.message)
        try:
            with self._sending:
                sent = socket.send_fds(self._socket, [data], reply.descriptors) if reply.descriptors else 0
                self._socket.sendall(data[sent:])
        except OSError:  # nobody waits for it any more
            pass
        finally:
            for descriptor in reply.descriptors:
                os.close(descriptor)

    def _exactly(self, count: int) -> bytes:
        """So many bytes. Raises EOFError at the end, OSError. Descriptors that come along are not taken."""
        parts: list[bytes] = []
        while count:
            part = self._socket.recv(count)
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)
