"""What the configuration names beside this machine: disk systems that are asked over the network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.core.changes import watchdog
from app.core.config import ConfigError, parse_config
from app.core.https_hosts import with_configured_systems
from app.core.session.journal import Journal, boot_clock
from backends.errors import NotFoundError
from backends.system.https.endpoint import HttpsEndpoint
from backends.system.https.host import WebHost
from backends.system.local import LocalHost
from backends.vendors.santricity.backend import Santricity
from tests.backends.santricity.services import PlayedServer, PlayedServices
from tests.backends.santricity.test_conformance import FAST
from tests.case_loop import loop_over
from tests.core.changes.test_trials import paths

FOUR = 'url = "https://array1:8443/"\nuser = "admin"\npassword_file = "/root/word"\n'


def wrong(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_config(text.encode(), "config.toml")
    return caught.value.message


def test_a_door_is_named_with_all_that_is_known_of_it() -> None:
    text = f'[santricity.lab]\n{FOUR}fingerprint = "{":".join(["AB"] * 32)}"\nca_file = "/etc/ca.pem"\n'
    assert parse_config(text.encode(), "x").santricity == (
        HttpsEndpoint(
            kind="santricity",
            name="lab",
            url="https://array1:8443",
            user="admin",
            password_file="/root/word",
            ca_file="/etc/ca.pem",
            fingerprint="ab" * 32,
        ),
    )


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8080", "http://localhost", "http://[::1]:80", "https://10.0.0.5", "https://[fe80::1]:8443"],
)
def test_a_password_goes_unencrypted_to_this_machine_only(url: str) -> None:
    text = f"[santricity.lab]\n{FOUR}".replace("https://array1:8443/", url)
    assert parse_config(text.encode(), "x").santricity[0].url == url


@loop_over(
    ("text", "said"),
    [
        ("santricity = 3", "santricity must be a table for each disk system: [santricity.NAME]."),
        ('[santricity]\nurl = "x"', "santricity must be a table for each disk system: [santricity.NAME]."),
        ('[santricity.lab]\nurl = "https://a"', "santricity needs user in lab."),
        (
            f"[santricity.lab]\n{FOUR}passwd = 1",
            "santricity has an unknown key 'passwd' in lab. The keys are url, user, ",
        ),
        (
            f"[santricity.lab]\n{FOUR}password = 1",
            "santricity has an unknown key 'password' in lab. The keys are url, user, ",
        ),
        (f'[santricity."a/b"]\n{FOUR}', "santricity needs a name of letters, digits, - and _ only."),
        (
            f'[santricity.lab]\n{FOUR}fingerprint = "ab"',
            "santricity has an invalid fingerprint in lab: it must be the SHA-256 of a certificate (64 hexadec",
        ),
        (
            f'[santricity.lab]\n{FOUR}ca_file = "ca.pem"',
            "santricity has an invalid ca_file in lab: it must be an absolute path.",
        ),
        *(
            (
                f"[santricity.lab]\n{FOUR}".replace("https://array1:8443/", url),
                f"santricity has an invalid url in lab: it must be {said}",
            )
            for url, said in (
                ("http://array1", "a URL that begins with https://"),
                ("http://127.0.0.1.example", "a URL that begins with https://"),
                ("ftp://array1", "a URL that begins with https://"),
                ("array1", 'a URL such as "https://'),
                ("https://", 'a URL such as "https://'),
                ("https://a/devmgr", 'a URL such as "https://'),
                ("https://a?x=1", 'a URL such as "https://'),
                ("https://u:p@a", "a URL without user and password"),
                ("https://u@a", "a URL without user and password"),
                ("https://a b", "a URL with a host name or address"),
            )
        ),
        (
            f"[santricity.lab]\n{FOUR}".replace('"admin"', '"a:b"'),
            "santricity has an invalid user in lab: it must be a user name without colons.",
        ),
    ],
)
def test_a_mistake_is_named(text: str, said: str) -> None:
    assert wrong(text).startswith(f"config.toml, line 1: {said}")


@pytest.mark.parametrize("text", [None, "fps = 5", "santricity = 3", "\0"])
def test_without_a_door_there_is_nothing_round_the_host(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "config.toml").write_text(text)
    host = LocalHost()
    assert with_configured_systems(host, tmp_path / "config.toml") is host


async def test_with_a_door_its_disk_systems_are_there(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(f"[santricity.lab]\n{FOUR}")
    host = with_configured_systems(LocalHost(), tmp_path / "config.toml")
    assert isinstance(host, WebHost)
    assert await host.list("/santricity:/*") == ("/santricity:/lab",)


NOTHING = """
import sys
from pathlib import Path
from app.core.https_hosts import with_configured_systems
from backends.system.local import LocalHost
with_configured_systems(LocalHost(), Path(sys.argv[1]))
print(*sorted({"backends.system.https", "http.client"} & set(sys.modules)))
"""


@pytest.mark.slow
def test_nothing_is_imported_for_it_where_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("fps = 5\n")
    done = subprocess.run(
        [sys.executable, "-c", NOTHING, str(tmp_path / "config.toml")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


async def test_the_watchdog_of_a_trial_reaches_what_the_configuration_names(tmp_path: Path) -> None:
    with PlayedServer(PlayedServices()).running() as server:
        door = server.door(tmp_path)
        change = await Santricity(WebHost(LocalHost(), (door,))).plan(FAST, "read_cache", "off")
        until = boot_clock() + 600
        Journal(tmp_path / "journal").write_intent("c1", tmp_path, change, until=until)
        with pytest.raises(NotFoundError, match="has no santricity lab"):
            await watchdog.rehearse(paths(tmp_path), str(tmp_path), until)
        (tmp_path / "config.toml").write_text(
            f'[santricity.lab]\nurl = "{door.url}"\nuser = "admin"\npassword_file = "{door.password_file}"\n'
        )
        assert "santricity" in await watchdog.rehearse(paths(tmp_path), str(tmp_path), until)
