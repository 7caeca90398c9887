"""A hint that names what to add is taken at its word: the command is run again with it, and does what was asked for."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

LINUX = ("--demo", "linux", "--demo-speed", "1000")
RACK = ("--demo", "--demo-speed", "1000")
WRITES = ("--rw", "randwrite", "--runtime", "1", "--ramp", "0")

REFUSED = {
    "a run on a logical volume": (*LINUX, "bench", "vg0/spare", *WRITES),
    "a run on the number of a volume": (*LINUX, "bench", "/dev/dm-10", *WRITES),
    "a run on a ZFS volume": (*LINUX, "bench", "tank/vm", *WRITES),
    "a run on a disk of several paths": (*LINUX, "bench", "dm:mpatha", *WRITES),
    "a run on a card's volume": (*RACK, "bench", "ssd", *WRITES),
    "a harmless change": (*RACK, "set", "ssd", "read_ahead=adaptive"),
    "a change that makes an array anew": (*RACK, "set", "ssd", "strip_size=131072"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.long
def test_what_a_refusal_says_to_add_is_all_that_is_missing(cli: Cli, case: str) -> None:
    refused = cli(*REFUSED[case])
    assert refused.status == 3, refused.err
    hint = re.search(r"^Add (.+) to confirm without a terminal", refused.err, re.MULTILINE)
    assert hint is not None, refused.err
    done = cli(*REFUSED[case], *shlex.split(hint[1]))
    assert done.status == 0, done.err


def test_a_wrong_word_is_answered_with_the_right_one(cli: Cli) -> None:
    wrong = cli(*LINUX, "bench", "vg0/spare", *WRITES, "--confirm", "dm-10")
    assert (wrong.status, "vg0/spare" in wrong.err) == (3, True)


@pytest.mark.long
def test_a_sweeps_hint_is_taken_by_the_sweep(cli: Cli, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8")
    words = (*RACK, "sweep", str(plan), "--yes")
    refused = cli(*words)
    hint = re.search(r"--confirm (\S+)", refused.err)
    assert (refused.status, hint is not None) == (3, True), refused.err
    assert hint is not None
    done = cli(*words, "--confirm", hint[1])
    assert done.status == 0, done.err


PLAN = """
title = "Strips"

[targets]
array = "megaraid:/c0/v1"

[measure]
target = "array"
repeats = 1

[job]
runtime = "1s"
ramp = "0s"

[[workload]]
name = "4 KiB random write"
rw = "randwrite"
bs = "4k"
"""
