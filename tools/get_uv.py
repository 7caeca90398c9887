"""Gets uv, with nothing but Python: neither pip nor venv has to be there. Called by tools/bootstrap.

get_uv.py index             print where packages are asked for, "" where nothing says it
get_uv.py get LOCKED FILE   the uv of the locked version and hash, as FILE
"""

import base64
import configparser
import hashlib
import html.parser
import io
import json
import os
import platform
import sys
import tomllib
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

DEFAULT = "https://{}/simple".format(".".join(("pypi", "org")))
"""What pip and uv ask where nothing else is said; no other file of the tree names a registry, so that any serves it."""

LARGEST = 200 << 20
"""Bytes of an answer."""

JSON = "application/vnd.pypi.simple.v1+json"


def told_index(environment=os.environ):
    """The index that is told to uv or to pip, by variables and files, as those two look for it; "" for none."""
    variables = ("UV_DEFAULT_INDEX", "UV_INDEX_URL")
    told = [environment.get(name) for name in variables]
    told += [_of_uv(file) for file in _files(environment, "uv", "uv.toml")]
    told += [environment.get("PIP_INDEX_URL")]
    own = [Path(environment["PIP_CONFIG_FILE"])] if environment.get("PIP_CONFIG_FILE") else []
    old = [Path(environment["HOME"], ".pip/pip.conf")] if environment.get("HOME") else []
    told += [_of_pip(file) for file in (*own, *old, *_files(environment, "pip", "pip.conf"), Path("/etc/pip.conf"))]
    return next(filter(None, told), "")


def _files(environment, program, name):
    """A program's configuration: the user's before the system's."""
    home = environment.get("XDG_CONFIG_HOME") or os.path.join(environment.get("HOME", "/"), ".config")
    system = environment.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    return [Path(folder, program, name) for folder in (home, *system.split(":"), "/etc")]


def _of_uv(file):
    try:
        data = tomllib.loads(file.read_text())
    except (OSError, ValueError):
        return ""
    named = [one.get("url") for one in data.get("index", ()) if one.get("default")]
    return next(filter(None, (*named, data.get("index-url"), data.get("pip", {}).get("index-url"))), "")


def _of_pip(file):
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(file.read_text())
    except (OSError, ValueError, configparser.Error):
        return ""
    return parser.get("install", "index-url", fallback="") or parser.get("global", "index-url", fallback="")


def get(address, accept="*/*"):
    """The bytes at an address, and the address that they came from. Raises OSError."""
    parts = urllib.parse.urlsplit(address)
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    request = urllib.request.Request(bare, headers={"Accept": accept, "User-Agent": "raidbench-setup"})
    if parts.username:  # as pip and uv take them
        pair = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
        request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(pair.encode()).decode()}")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read(LARGEST), answer.url, answer.headers.get_content_type()


class _Links(html.parser.HTMLParser):
    """The links of a page of an index (PEP 503)."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if (tag, name) == ("a", "href") and value]


def wheels(index):
    """Addresses of uv's wheels at an index, by name; in JSON (PEP 691) or HTML (PEP 503), as it answers."""
    page, base, kind = get(f"{index.rstrip('/')}/uv/", f"{JSON}, text/html;q=0.1")
    if kind == JSON:
        links = [one["url"] for one in json.loads(page)["files"]]
    else:
        parser = _Links()
        parser.feed(page.decode("utf-8", "replace"))
        links = parser.found
    whole = [urllib.parse.urljoin(base, link) for link in links]
    return {os.path.basename(urllib.parse.unquote(urllib.parse.urlsplit(link).path)): link for link in whole}


def fitting(names, version):
    """The wheel of a version for this machine. Raises LookupError."""
    libc = "manylinux" if platform.libc_ver()[0] == "glibc" else "musllinux"
    ours = [name for name in sorted(names) if name.startswith(f"uv-{version}-") and name.endswith(".whl")]
    for name in ours:
        if libc in name and name.endswith(f"_{platform.machine()}.whl"):
            return name
    raise LookupError(f"the index has no uv {version} for {libc} on {platform.machine()}")


def locked(file):
    """Version of uv, and the hashes that its wheels may have."""
    words = file.read_text().replace("\\", " ").split()
    return words[0].partition("==")[2], {word.partition("sha256:")[2] for word in words[1:]}


def get_uv(index, lock, to):
    """Write the program. Raises OSError, LookupError, ValueError."""
    version, hashes = locked(lock)
    found = wheels(index)
    name = fitting(found, version)
    link = urllib.parse.urlsplit(found[name])
    host, told = link.netloc, urllib.parse.urlsplit(index).netloc
    if "@" in told and told.rpartition("@")[2] == host:  # a mirror asks for the same name at its files
        link = link._replace(netloc=told)
    wheel, _, _ = get(link.geturl())
    if hashlib.sha256(wheel).hexdigest() not in hashes:
        raise ValueError(f"{name} is not what is locked: its sha256 is {hashlib.sha256(wheel).hexdigest()}")
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        program = next(name for name in archive.namelist() if name.endswith(".data/scripts/uv"))
        made = to.with_name(f".uv-{os.getpid()}")
        made.write_bytes(archive.read(program))
    made.chmod(0o755)
    made.replace(to)


def main(words):
    """Exit status 1, and why, where uv cannot be got."""
    if words == ["index"]:
        print(told_index())
        return 0
    _, lock, to = words
    try:
        get_uv(told_index() or DEFAULT, Path(lock), Path(to))
    except (OSError, LookupError, ValueError, zipfile.BadZipFile) as error:
        print(f"set-up: uv could not be got: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
