"""In the guest: words to the QEMU that runs us, to take disks out and put them back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import uuid4

PORT = Path("/dev/qmp")


class QmpError(Exception):
    """QEMU refused."""


class Qmp:
    """The machine protocol over a virtio port that leads back to the very QEMU. Use as a context manager."""

    def __init__(self, port: Path = PORT) -> None:
        self._port = port
        self._descriptor = -1
        self._rest = b""

    def __enter__(self) -> Qmp:
        self._descriptor = os.open(self._port, os.O_RDWR)  # by one at a time
        with suppress(QmpError):  # it is the same conversation for as long as the guest runs: greeted once
            self.execute("qmp_capabilities")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._descriptor)

    def execute(self, command: str, arguments: Mapping[str, object] | None = None) -> Any:
        """Run a command; its answer. Events and answers to others are passed over. Raises QmpError."""
        label = str(uuid4())
        message = {"execute": command, "arguments": arguments or {}, "id": label}
        os.write(self._descriptor, json.dumps(message).encode() + b"\n")
        while True:
            answer = self._line()
            if answer.get("id") != label:
                continue
            if "error" in answer:
                raise QmpError(f"{command}: {answer['error'].get('desc')}")
            return answer["return"]

    def _line(self) -> dict[str, Any]:
        while b"\n" not in self._rest:
            self._rest += os.read(self._descriptor, 65536)
        line, _, self._rest = self._rest.partition(b"\n")
        found = json.loads(line)
        assert isinstance(found, dict)
        return found
