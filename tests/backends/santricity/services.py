"""SANtricity's web services with one disk system: a state that answers requests, by hand or on 127.0.0.1."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from backends.host import Command, Completed, WriteDenied
from backends.system.https.endpoint import HttpsEndpoint
from tests.backends.fakes import FakeHost, disk, machine

ROOT = "/devmgr/v2/storage-systems"
DOOR = "/santricity:/lab"
SYSTEM = "600a098000e3c1b00000000062cf7f1e"
WWN = "600a098000e3c1b000002f12650ec6bc"
GROUP = "04000000600A098000E3C1B000002CED62CF874D"
SECRET = "not in any log"

LEGAL_DELAYS = (
    *("flushImmediate", "flush250Msec", "flush500Msec", "flush750Msec", "flush1500Msec", "flushInfinite"),
    *(f"flush{n}Sec" for n in (1, 2, 5, 10, 20, 60, 120, 300, 1200, 3600)),
)
FLAGS = ("readCacheEnable", "writeCacheEnable", "mirrorEnable", "readAheadEnable", "cacheWithoutBatteries")


@dataclass(kw_only=True)
class PlayedServices:
    """The state of a disk system; what is in force follows from what is set and from the batteries."""

    name: str = "array1"
    label: str = "fast"
    wwn: str = WWN
    status: str = "optimal"
    battery: str = "optimal"
    second: str = "optimal"
    pool: bool = False
    thin: bool = False
    changeable: bool = True
    deaf: bool = False
    """Says 200 to a change and makes none."""
    refusing: tuple[int, object] | None = None
    """What every change is answered."""
    cache: dict[str, Any] = field(
        default_factory=lambda: {
            "readCacheEnable": True,
            "writeCacheEnable": True,
            "mirrorEnable": True,
            "cwob": False,
            "readAheadMultiplier": 1,
            "cacheFlushModifier": "flush10Sec",
        }
    )
    asked: list[tuple[str, str, object]] = field(default_factory=list)

    @property
    def reference(self) -> str:
        """What the volume is called in paths."""
        return f"02000000{self.wwn.upper()}"

    def answer(self, method: str, path: str, body: str | None) -> tuple[int, object]:
        """Status and JSON."""
        self.asked.append((method, path, None if body is None else json.loads(body)))
        own = f"{ROOT}/1"
        match method, path:
            case "GET", _ if path == ROOT:
                return 200, [self.system()]
            case "GET", _ if path == f"{own}/volumes":
                return 200, [self.volume()]
            case "GET", _ if path == f"{own}/storage-pools":
                return 200, [self.group()]
            case "GET", _ if path == f"{own}/hardware-inventory":
                return 200, self.hardware()
            case "POST", _ if path == f"{own}/volumes/{self.reference}":
                return self._set(json.loads(body or "null"))
            case _:
                return 404, {"errorMessage": "The resource was not found.", "retcode": "404", "codeType": "http"}

    def _set(self, wish: Any) -> tuple[int, object]:
        if self.refusing is not None:
            return self.refusing
        told = wish.get("cacheSettings") if isinstance(wish, dict) else None
        if not isinstance(told, dict) or set(wish) != {"cacheSettings"} or not self.changeable or self.thin:
            return 422, {"errorMessage": "The request is not valid.", "retcode": "422"}
        for key, value in told.items():
            if not (key in FLAGS and isinstance(value, bool)) and not (
                key == "cacheFlushModifier" and value in LEGAL_DELAYS
            ):
                return 422, {"errorMessage": f"The value of {key} is not valid.", "retcode": "422"}
        for key, value in told.items() if not self.deaf else ():
            if key == "readAheadEnable":
                self.cache["readAheadMultiplier"] = int(value)
            else:
                self.cache["cwob" if key == "cacheWithoutBatteries" else key] = value
        return 200, self.volume()

    def system(self) -> dict[str, Any]:
        """A row of `storage-systems`."""
        return {
            "id": "1",
            "name": self.name,
            "wwn": SYSTEM.upper(),
            "passwordStatus": "valid",
            "status": self.status,
            "model": "5700",
            "fwVersion": "08.74.02.00",
            "chassisSerialNumber": "721848500123",
        }

    def volume(self) -> dict[str, Any]:
        """A row of `volumes`."""
        both = self.second == "optimal"
        kept = self.battery == "optimal" or self.cache["cwob"]
        mirrored = both or not self.cache["mirrorEnable"]
        cache = self.cache | {
            "readCacheActive": self.cache["readCacheEnable"],
            "writeCacheActive": self.cache["writeCacheEnable"] and kept and mirrored,
            "mirrorActive": self.cache["mirrorEnable"] and both,
            "enterpriseCacheDump": False,
        }
        return {
            "volumeRef": self.reference,
            "label": self.label,
            "worldWideName": self.wwn.upper(),
            "raidLevel": "raid6",
            "capacity": "10737418240",
            "segmentSize": 131072,
            "status": "optimal",
            "action": "none",
            "volumeGroupRef": GROUP,
            "currentManager": "070000000000000000000001",
            "preferredManager": "070000000000000000000002",
            "perms": {"cacheParametersChangeable": self.changeable},
            "thinProvisioned": self.thin,
            "diskPool": self.pool,
            "cache": cache,
            "cacheSettings": cache,
        }

    def group(self) -> dict[str, Any]:
        """A row of `storage-pools`."""
        return {
            "volumeGroupRef": GROUP,
            "label": "group1",
            "raidLevel": "raidDiskPool" if self.pool else "raid6",
            "worldWideName": GROUP[8:],
            "diskPool": self.pool,
        }

    def hardware(self) -> dict[str, Any]:
        """The whole of `hardware-inventory`, as far as it is read."""
        tray = "0E00000000000000000000000000000000000000"
        return {
            "trays": [{"trayRef": tray, "trayId": 99, "serialNumber": "721848500123"}],
            "controllers": [
                {
                    "controllerRef": f"07000000000000000000000{slot}",
                    "status": status,
                    "modelName": "5700",
                    "serialNumber": f"02183300{slot}",
                    "appVersion": "08.74.02.00",
                    "physicalLocation": {"trayRef": tray, "slot": slot, "label": "AB"[slot - 1]},
                }
                for slot, status in ((1, "optimal"), (2, self.second))
            ],
            "hostBoards": [{"parts": [{"vendorSN": "SFP123456", "portName": "0" * 16}]}],
            "batteries": [{"status": "optimal", "vendorSN": "BA1"}, {"status": self.battery, "vendorSN": "BA2"}],
            "drives": [self._drive(tray, slot) for slot in range(1, 7)],
        }

    def _drive(self, tray: str, slot: int) -> dict[str, Any]:
        return {
            "driveRef": f"010000005000C5005{slot:023d}",
            "physicalLocation": {"trayRef": tray, "slot": slot},
            "currentVolumeGroupRef": GROUP if slot < 6 else "0" * 40,
            "productID": "KPM5WVUG960G    ",
            "serialNumber": f"80S0A00{slot}T1QF",
            "firmwareVersion": "NA50",
            "worldWideName": f"58CE38EE2036{slot:04d}0000000000000000",
            "driveMediaType": "ssd",
            "phyDriveType": "sas",
            "rawCapacity": "960197124096",
            "status": "optimal",
            "hotSpare": False,
        }


class PlayedWeb(FakeHost):
    """A machine with a door to these services, whose volume is sdb here."""

    def __init__(self, services: PlayedServices | None = None) -> None:
        self.services = services or PlayedServices()
        super().__init__(machine(disk("sdb", devno="8:16", device__wwid=f"naa.{self.services.wwn}")), root=False)
        self.made_up = True

    async def list(self, pattern: str) -> tuple[str, ...]:
        return (DOOR,) if pattern == "/santricity:/*" else await super().list(pattern)

    async def writable(self, path: str) -> str | None:
        return None if path == DOOR else WriteDenied.NEEDS_ROOT

    async def run(self, command: Command) -> Completed:
        if command.argv[0] != DOOR:
            return await super().run(command)
        method, path, *body = command.argv[1:]
        assert command.mutates == (method != "GET")
        status, told = self.services.answer(method, path, body[0] if body else None)
        code = 0 if status == 200 else 22
        return Completed(returncode=code, stdout=json.dumps(told), stderr=f"HTTP {status} Word")


class _QuietServer(ThreadingHTTPServer):
    """Who hangs up is no news."""

    def handle_error(self, request: object, client_address: object) -> None:
        pass


class PlayedServer:
    """The same services behind a socket of this machine."""

    def __init__(self, services: PlayedServices) -> None:
        self.services = services
        self.user = "admin"
        self.silent = threading.Event()
        """Set: answers wait until it is cleared."""
        self.drip = False
        """Whether an answer's head comes byte by byte and never ends."""
        self.raw: bytes | None = None
        """What is answered instead of all else."""
        self.heads: list[Mapping[str, str]] = []
        self.port = 0

    def door(self, folder: Path, **more: Any) -> HttpsEndpoint:
        """The way to it, with the right password."""
        file = folder / "password"
        file.write_text(f"{SECRET}\n")
        file.chmod(0o600)
        known = {"url": f"http://127.0.0.1:{self.port}", "user": self.user, "password_file": str(file)} | more
        return HttpsEndpoint(kind="santricity", name="lab", **known)

    @contextmanager
    def running(self, certificate: Path | None = None) -> Iterator[PlayedServer]:
        """Answers as long as this lasts; encrypted with a certificate and its key."""
        server = _QuietServer(("127.0.0.1", 0), self._handler())
        server.daemon_threads = True
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.silent.clear()
            server.shutdown()
            server.server_close()
            thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        played = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer("GET")

            def do_POST(self) -> None:
                self._answer("POST")

            def _answer(self, method: str) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode() or None
                played.heads.append(dict(self.headers))
                while played.silent.is_set():
                    time.sleep(0.01)
                if played.raw is not None:
                    self.wfile.write(played.raw)
                    return
                while played.drip:
                    self.wfile.write(b"H")
                    time.sleep(0.01)
                told: object
                wanted = base64.b64encode(f"{played.user}:{SECRET}".encode()).decode()
                if self.headers.get("Authorization") != f"Basic {wanted}":
                    status, told = 401, {"errorMessage": "Authentication failed.", "retcode": "authFailed"}
                else:
                    status, told = played.services.answer(method, self.path, body)
                data = json.dumps(told).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
