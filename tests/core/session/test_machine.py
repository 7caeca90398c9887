"""The facts of the machine come from the host that was asked, clean and without guesses."""

from __future__ import annotations

import json
from pathlib import Path

from app.core.session.events import MachineFacts
from app.core.session.machine import machine_facts, provenance_of
from backends.system.local import LocalHost
from backends.system.recorded import ReplayHost

CPUINFO = "processor\t: 0\nmodel name\t: Xeon  E5 \x1b[31m\nprocessor\t: 1\nmodel name\t: other"


def host(folder: Path, **files: str) -> ReplayHost:
    names = {
        "cpuinfo": "/proc/cpuinfo",
        "meminfo": "/proc/meminfo",
        "release": "/proc/sys/kernel/osrelease",
        "system": "/etc/os-release",
        "boot": "/proc/sys/kernel/random/boot_id",
        "line": "/proc/cmdline",
    }
    data = {"format": 1, "name": "apricot", "root": True, "files": {names[key]: text for key, text in files.items()}}
    (folder / "machine.json").write_text(json.dumps(data))
    return ReplayHost(folder)


async def test_what_the_kernel_says_is_what_the_header_shows(tmp_path: Path) -> None:
    facts = await machine_facts(
        host(
            tmp_path,
            cpuinfo="processor: 0\nmodel name: Xeon\nprocessor: 1\nmodel name: Xeon",
            meminfo="MemTotal:       16316412 kB\nMemFree: 1 kB",
            release="6.1.0-13-amd64",
            system='NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12"',
        )
    )
    assert facts == MachineFacts(
        host="apricot",
        cpu="Xeon",
        cores=2,
        memory_bytes=16316412 * 1024,
        kernel="6.1.0-13-amd64",
        system="Debian GNU/Linux 12",
        root=True,
    )


async def test_what_nobody_tells_is_unknown(tmp_path: Path) -> None:
    facts = await machine_facts(host(tmp_path))
    assert (facts.cpu, facts.cores, facts.memory_bytes, facts.kernel, facts.system) == ("unknown CPU", 0, None, "", "")


async def test_the_first_processor_names_all_and_is_cleaned(tmp_path: Path) -> None:
    assert (await machine_facts(host(tmp_path, cpuinfo=CPUINFO))).cpu == "Xeon E5 \ufffd[31m"


async def test_a_size_that_is_no_number_is_unknown(tmp_path: Path) -> None:
    assert (await machine_facts(host(tmp_path, meminfo="MemTotal: lots kB"))).memory_bytes is None


async def test_the_boot_and_what_the_kernel_was_started_with_are_told(tmp_path: Path) -> None:
    facts = await machine_facts(host(tmp_path, boot="b-1\n", line="quiet mitigations=off \x1b[31m"))
    assert (facts.boot_id, facts.command_line) == ("b-1", "quiet mitigations=off \ufffd[31m")


async def test_what_is_done_about_each_weakness_is_told(tmp_path: Path) -> None:
    folder = "/sys/devices/system/cpu/vulnerabilities"
    lists = {f"{folder}/*": [f"{folder}/mds", f"{folder}/l1tf"]}
    data = {"format": 1, "name": "pear", "root": True, "files": {f"{folder}/mds": "Not affected"}, "lists": lists}
    (tmp_path / "machine.json").write_text(json.dumps(data))
    assert (await machine_facts(ReplayHost(tmp_path))).mitigations == {"mds": "Not affected"}


def test_what_is_not_known_of_a_machine_is_left_out() -> None:
    facts = MachineFacts(host="pear", cpu="", cores=0, memory_bytes=None, kernel="6.1", system="", root=True)
    assert provenance_of(facts) == {"host": "pear", "kernel": "6.1"}


async def test_this_machine_has_a_processor_and_memory() -> None:
    facts = await machine_facts(LocalHost())
    assert facts.cores > 0
    assert facts.memory_bytes
