"""Download uv with only the standard library of Python, without pip and venv. Called by tools/bootstrap.

`get_uv.py index` prints the configured package index, or an empty line if none is configured.
`get_uv.py get LOCKED FILE` writes the uv that the lock file LOCKED pins to FILE.
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
"""The default index of pip and uv.

No other file of the tree names a registry, so that another one can be configured.
"""

LARGEST = 200 << 20
"""Maximum size of a response in bytes."""

JSON = "application/vnd.pypi.simple.v1+json"


def configured_index(environment=os.environ):
    """Return the address of the package index that environment variables or files configure for uv or pip.

    If several are configured, the one with the highest precedence is returned; "" if none is.
    """
    variables = ("UV_DEFAULT_INDEX", "UV_INDEX_URL")
    indexes = [environment.get(name) for name in variables]
    indexes += [_of_uv(file) for file in _files(environment, "uv", "uv.toml")]
    indexes += [environment.get("PIP_INDEX_URL")]
    chosen = [Path(environment["PIP_CONFIG_FILE"])] if environment.get("PIP_CONFIG_FILE") else []
    old = [Path(environment["HOME"], ".pip/pip.conf")] if environment.get("HOME") else []
    files = (*chosen, *old, *_files(environment, "pip", "pip.conf"), Path("/etc/pip.conf"))
    indexes += [_of_pip(file) for file in files]
    return next(filter(None, indexes), "")


def _files(environment, program, name):
    """Return the paths of possible configuration files of a program: those of the user, then those of the system."""
    home = environment.get("XDG_CONFIG_HOME") or os.path.join(environment.get("HOME", "/"), ".config")
    system = environment.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    return [Path(folder, program, name) for folder in (home, *system.split(":"), "/etc")]


def _of_uv(file):
    try:
        data = tomllib.loads(file.read_text())
    except (OSError, ValueError):
        return ""
    defaults = [index.get("url") for index in data.get("index", ()) if index.get("default")]
    return next(filter(None, (*defaults, data.get("index-url"), data.get("pip", {}).get("index-url"))), "")


def _of_pip(file):
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(file.read_text())
    except (OSError, ValueError, configparser.Error):
        return ""
    return parser.get("install", "index-url", fallback="") or parser.get("global", "index-url", fallback="")


def get(address, accept="*/*"):
    """Download an address. Return the bytes, the final address and the content type.

    Raises OSError if the request fails.
    """
    parts = urllib.parse.urlsplit(address)
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    request = urllib.request.Request(bare, headers={"Accept": accept, "User-Agent": "raidbench-setup"})
    if parts.username:  # pip and uv accept credentials in the address
        pair = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
        request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(pair.encode()).decode()}")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read(LARGEST), answer.url, answer.headers.get_content_type()


class _Links(html.parser.HTMLParser):
    """Parser that collects the links of an index page (PEP 503)."""

    def __init__(self):
        super().__init__()
        self.links = []

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if (tag, name) == ("a", "href") and value]


def wheels(index):
    """Return the addresses of the uv wheels at an index, by file name. Accepts JSON (PEP 691) and HTML (PEP 503)."""
    page, base, kind = get(f"{index.rstrip('/')}/uv/", f"{JSON}, text/html;q=0.1")
    if kind == JSON:
        links = [file["url"] for file in json.loads(page)["files"]]
    else:
        parser = _Links()
        parser.feed(page.decode("utf-8", "replace"))
        links = parser.links
    addresses = [urllib.parse.urljoin(base, link) for link in links]
    return {os.path.basename(urllib.parse.unquote(urllib.parse.urlsplit(link).path)): link for link in addresses}


def fitting(names, version):
    """Return the file name in `names` of the uv wheel of this version for this machine. Raises LookupError if none."""
    libc = "manylinux" if platform.libc_ver()[0] == "glibc" else "musllinux"
    ours = [name for name in sorted(names) if name.startswith(f"uv-{version}-") and name.endswith(".whl")]
    for name in ours:
        if libc in name and name.endswith(f"_{platform.machine()}.whl"):
            return name
    raise LookupError(f"the index has no uv {version} for {libc} on {platform.machine()}")


def locked(file):
    """Return the version of uv that a lock file pins, and the set of allowed hashes of its wheels."""
    tokens = file.read_text().replace("\\", " ").split()
    return tokens[0].partition("==")[2], {token.partition("sha256:")[2] for token in tokens[1:]}


def get_uv(index, lock, to):
    """Download uv from the package index `index`, and write the program to the file `to`.

    `lock`: the file that pins the version and the hashes. Raises OSError if a request or the writing fails, LookupError
    if no wheel fits, ValueError for a wrong hash.
    """
    version, hashes = locked(lock)
    addresses = wheels(index)
    name = fitting(addresses, version)
    link = urllib.parse.urlsplit(addresses[name])
    index_host = urllib.parse.urlsplit(index).netloc
    if "@" in index_host and index_host.rpartition("@")[2] == link.netloc:  # a mirror needs the login for the files too
        link = link._replace(netloc=index_host)
    wheel, _, _ = get(link.geturl())
    if hashlib.sha256(wheel).hexdigest() not in hashes:
        raise ValueError(f"{name} is not the locked file: its sha256 is {hashlib.sha256(wheel).hexdigest()}")
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        program = next(name for name in archive.namelist() if name.endswith(".data/scripts/uv"))
        temporary = to.with_name(f".uv-{os.getpid()}")
        temporary.write_bytes(archive.read(program))
    temporary.chmod(0o755)
    temporary.replace(to)


def main(argv):
    """Run the command. Return 1 after printing the reason if uv cannot be downloaded, else 0."""
    if argv == ["index"]:
        print(configured_index())
        return 0
    _, lock, to = argv
    try:
        get_uv(configured_index() or DEFAULT, Path(lock), Path(to))
    except (OSError, LookupError, ValueError, zipfile.BadZipFile) as error:
        print(f"set-up: cannot download uv: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
