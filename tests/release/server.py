"""A web server of a release folder, which can be slow and lose the connection."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class ReleaseServer(ThreadingHTTPServer):
    """A web server of a release folder on 127.0.0.1."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.folder, self.cut, self.hold, self.asked = folder, "", "", threading.Event()
        self.released = threading.Event()
        super().__init__(("127.0.0.1", port), ReleaseRequest)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class ReleaseRequest(SimpleHTTPRequestHandler):
    """A request, of which the server sends half if it is for `cut`, and nothing if it is for `hold`."""

    server: ReleaseServer

    def translate_path(self, path: str) -> str:
        return str(self.server.folder / path.lstrip("/"))

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        if name == self.server.hold:
            self.server.asked.set()
            self.server.released.wait(60)
            return
        if name != self.server.cut:
            super().do_GET()
            return
        data = Path(self.translate_path(self.path)).read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])

    def log_message(self, *_: object) -> None:
        """Be quiet."""


@contextmanager
def serving(folder: Path, port: int = 0) -> Iterator[ReleaseServer]:
    """Serve a folder until the end of the block. `port`: 0 for any."""
    with ReleaseServer(folder, port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.released.set()
            server.shutdown()
            thread.join()
