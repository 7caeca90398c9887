"""What is locked: names, versions and hashes, served by any registry; and uv out of its wheel, with Python alone."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import platform
import re
import subprocess
import sys
import threading
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCKED = ROOT / "tools" / "locked"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

LIBC = "manylinux_2_17" if platform.libc_ver()[0] == "glibc" else "musllinux_1_1"
NAME = f"uv-1.2.10-py3-none-{LIBC}_{platform.machine()}.whl"
DECOYS = (NAME.replace("1.2.10", "1.2.9"), NAME.replace(platform.machine(), "riscv64"), "uv-1.2.10.tar.gz")


def lines(name: str) -> list[str]:
    """The requirements of a list, each on a line."""
    return [line for line in (LOCKED / f"{name}.txt").read_text().replace("\\\n", " ").splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("run", [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["hosts"]]),
        ("test", [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]),
        ("build", PROJECT["build-system"]["requires"]),
        ("uv", ["uv"]),
        ("ansible", PROJECT["dependency-groups"]["ansible"]),
    ],
)
def test_all_that_is_asked_for_is_locked_by_version(name: str, asked: list[str]) -> None:
    held = {Requirement(line.split(" --hash")[0]) for line in lines(name)}
    versions = {canonicalize_name(one.name): str(one.specifier).removeprefix("==") for one in held}
    wants = [Requirement(one) for one in asked]
    assert [one for one in wants if not one.specifier.contains(versions.get(canonicalize_name(one.name), ""))] == []


def test_nothing_that_only_tests_need_is_locked_for_an_installation() -> None:
    held = {canonicalize_name(Requirement(line.split(" --hash")[0]).name) for line in lines("run")}
    of_tests = {
        canonicalize_name(Requirement(one).name) for one in PROJECT["project"]["optional-dependencies"]["testing"]
    }
    assert len(of_tests) == 2
    assert held & {*of_tests, "pluggy", "iniconfig"} == set()
    assert "--extra hosts pyproject.toml" in (LOCKED.parent / "lock").read_text()


@pytest.mark.parametrize("name", ["run", "test", "build", "uv", "ansible"])
def test_nothing_is_taken_without_a_hash_and_no_registry_is_named(name: str) -> None:
    text = (LOCKED / f"{name}.txt").read_text()
    assert [line for line in lines(name) if "--hash=sha256:" not in line] == []
    assert re.findall(r"://|--(?:extra-)?index|--find-links", text) == []


# -- uv out of its wheel -------------------------------------------------------------------------------------------


def wheel() -> bytes:
    """A wheel with a program in it."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in (("uv/__init__.py", ""), ("uv-1.2.10.data/scripts/uv", "#!/bin/sh\necho uv 1.2.10\n")):
            archive.writestr(zipfile.ZipInfo(name), text)  # of 1980: the same bytes each time
    return made.getvalue()


@dataclass
class Index:
    """A registry of this test's: pages by path, and what it was asked."""

    address: str = ""
    pages: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)


@pytest.fixture
def index() -> Iterator[Index]:
    made = Index()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append((self.path, self.headers.get("Authorization", "")))
            kind, body = made.pages.get(self.path, ("", b""))
            self.send_response(200 if kind else 404)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *words: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    made.address = f"http://127.0.0.1:{server.server_port}/root/simple"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield made
    server.shutdown()
    server.server_close()


def in_json(index: Index) -> None:
    files = [{"filename": name, "url": f"../../files/{name}", "hashes": {}} for name in (*DECOYS, NAME)]
    index.pages["/root/simple/uv/"] = "application/vnd.pypi.simple.v1+json", json.dumps({"files": files}).encode()
    index.pages[f"/root/files/{NAME}"] = "application/zip", wheel()


def in_html(index: Index) -> None:
    links = "".join(f'<a href="/root/files/{name}#sha256=0">{name}</a>\n' for name in (*DECOYS, NAME))
    index.pages["/root/simple/uv/"] = "text/html; charset=utf-8", f"<!DOCTYPE html>{links}".encode()
    index.pages[f"/root/files/{NAME}"] = "application/zip", wheel()


Got = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def got(tmp_path: Path) -> Got:
    """Asks for uv, with these variables and nothing else."""

    def run(*, sha256: str = hashlib.sha256(wheel()).hexdigest(), **told: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "uv.txt").write_text(
            f"uv==1.2.10 \\\n    --hash=sha256:{'0' * 64} \\\n    --hash=sha256:{sha256}\n"
        )
        words = ("get", str(tmp_path / "uv.txt"), str(tmp_path / "uv"))
        return subprocess.run(
            [sys.executable, "-I", str(ROOT / "tools/get_uv.py"), *words],
            env={"HOME": str(tmp_path), **told},
            capture_output=True,
            text=True,
        )

    return run


@pytest.mark.parametrize("answers", [in_json, in_html])
def test_the_locked_uv_of_this_machine_comes_out_of_its_wheel(
    answers: Callable[[Index], None], index: Index, got: Got, tmp_path: Path
) -> None:
    answers(index)
    done = got(UV_DEFAULT_INDEX=index.address)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([tmp_path / "uv"], capture_output=True, text=True).stdout == "uv 1.2.10\n"


def test_another_uv_than_the_locked_one_is_not_taken(index: Index, got: Got, tmp_path: Path) -> None:
    in_json(index)
    done = got(UV_DEFAULT_INDEX=index.address, sha256="f" * 64)
    assert (done.returncode, "is not the locked file" in done.stderr) == (1, True)
    assert not (tmp_path / "uv").exists()


def test_a_registry_that_does_not_have_it_is_a_sentence(index: Index, got: Got) -> None:
    done = got(UV_DEFAULT_INDEX=index.address)
    assert (done.returncode, done.stderr) == (1, "set-up: cannot download uv: HTTP Error 404: Not Found\n")


def test_a_name_and_password_go_to_the_registry_that_they_are_for(index: Index, got: Got) -> None:
    in_json(index)
    done = got(PIP_INDEX_URL=index.address.replace("://", "://me:s%20e@"))
    assert (done.returncode, {who for _, who in index.asked}) == (0, {f"Basic {base64.b64encode(b'me:s e').decode()}"})


FILES = {
    ".config/uv/uv.toml": '[[index]]\nurl = "ADDRESS"\ndefault = true\n',
    ".config/pip/pip.conf": "[global]\nindex-url = ADDRESS\n",
    ".pip/pip.conf": "[install]\nindex-url = ADDRESS\n",
}


@pytest.mark.parametrize("file", FILES)
def test_a_registry_is_found_in_the_settings_of_uv_and_pip(file: str, index: Index, got: Got, tmp_path: Path) -> None:
    in_json(index)
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(FILES[file].replace("ADDRESS", index.address))
    assert got().returncode == 0
    assert [path for path, _ in index.asked] == ["/root/simple/uv/", f"/root/files/{NAME}"]


def test_a_variable_comes_before_a_file(index: Index, got: Got, tmp_path: Path) -> None:
    in_json(index)
    (tmp_path / ".pip").mkdir()
    (tmp_path / ".pip/pip.conf").write_text("[global]\nindex-url = http://127.0.0.1:1/simple\n")
    assert got(PIP_INDEX_URL=index.address).returncode == 0


def test_what_is_told_to_pip_is_told_to_uv(tmp_path: Path) -> None:
    said = tmp_path / "said"
    program = tmp_path / "checkout" / ".bootstrap" / "bin" / "uv"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\necho "$UV_DEFAULT_INDEX" >{said}\n')
    program.chmod(0o755)
    (tmp_path / "checkout/tools").symlink_to(ROOT / "tools")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("UV_", "PIP_"))}
    argv = ("sh", "tools/bootstrap", "uv", "--version")
    environment |= {"PIP_INDEX_URL": "https://mirror.example/simple", "HOME": str(tmp_path)}
    subprocess.run(argv, cwd=tmp_path / "checkout", env=environment, check=True)
    assert said.read_text() == "https://mirror.example/simple\n"
