"""Lines of other authors in a file of udev rules."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.errors import BlockedError
from backends.vendors.block.backend import BlockBackend
from backends.vendors.block.settings import RULES, actions
from tests.backends.test_persist import VDA, VDB, host
from tests.case_loop import loop_over

MATCH = ('ATTR{serial}=="a"',)
OTHER = ('ATTR{serial}=="b"',)
OLD, NEW = actions({"nomerges": "1"}), actions({"nomerges": "2"})
HEADER = RULES.header.encode()


def line(match: tuple[str, ...] = MATCH, done: tuple[str, ...] = OLD, end: bytes = b"\n") -> bytes:
    return RULES.line(match, done).encode() + end


FOREIGN = [
    b"# caf\xe9\n",
    b"# \xff\xfe\x00\n",
    b'# one\x0cKERNEL=="sda", RUN+="/bin/x"\n',
    b'# one\x0bKERNEL=="sda"\n',
    b'# one\x1cKERNEL=="sda"\x1d\x1e\n',
    '# one\u2028KERNEL=="sda"\u2029x\u0085y\n'.encode(),
    b'KERNEL=="sdz", \\\n  ATTR{queue/nomerges}="1"\n',
    b'KERNEL=="sdz"\r\n\r\n',
    b"#" * 1_300_000 + b"\n",
    b"# " + line(),
    b"  " + line(),
    b"\t\n \n",
    line(OTHER),
    line(end=b', RUN+="/root/mine"\n'),
    b'KERNEL=="sdz", \\\n' + line(),
    b'KERNEL=="sdz", \\\n# comment\n' + line(),
    b'KERNEL=="sdz", \\\r\n' + line(),
]


@loop_over("theirs", FOREIGN)
def test_every_byte_of_others_stays_whatever_is_done(theirs: bytes) -> None:
    added = RULES.merge(theirs, MATCH, OLD)
    assert added == HEADER + b"\n" + theirs + line()
    changed = RULES.merge(added, MATCH, NEW)
    assert changed == HEADER + b"\n" + theirs + line(done=NEW)
    assert RULES.merge(changed, MATCH, ()) == HEADER + b"\n" + theirs


@loop_over("theirs", FOREIGN)
def test_nothing_of_ours_to_remove_changes_nothing(theirs: bytes) -> None:
    assert RULES.merge(theirs, MATCH, ()) == theirs


def test_all_duplicates_of_a_line_go() -> None:
    content = line() + b"# x\n" + line(done=NEW) + line(end=b"\r\n") + line(end=b"")
    assert RULES.merge(content, MATCH, ()) == b"# x\n"
    assert RULES.merge(content, MATCH, NEW) == HEADER + b"\n# x\n" + line(done=NEW)


def test_a_missing_last_newline_is_added_before_a_new_line() -> None:
    assert RULES.merge(b"# mine", MATCH, OLD) == HEADER + b"\n# mine\n" + line()


@pytest.mark.parametrize("theirs", [b'KERNEL=="x", \\', b'KERNEL=="x", \\\n', b'KERNEL=="x", \\\n# c\n', b"#\rx \\\n"])
def test_a_rule_that_goes_on_takes_no_line_of_ours(theirs: bytes) -> None:
    with pytest.raises(BlockedError, match="backslash"):
        RULES.merge(theirs, MATCH, OLD)
    assert RULES.merge(theirs, MATCH, ()) == theirs


def test_a_comment_that_ends_in_a_backslash_does_not_go_on() -> None:
    assert RULES.merge(b"# x \\\n", MATCH, OLD).endswith(b"# x \\\n" + line())


@given(st.lists(st.binary(max_size=40) | st.sampled_from(FOREIGN), max_size=6).map(b"\n".join), st.booleans())
def test_no_byte_of_others_is_lost(content: bytes, removing: bool) -> None:
    try:
        merged = RULES.merge(content, MATCH, () if removing else NEW)
    except BlockedError:
        return
    theirs = [row for row in content.split(b"\n") if row.strip(b"\r") not in (b"", HEADER, line()[:-1])]
    left = [
        row for row in merged.split(b"\n") if row.strip(b"\r") not in (b"", HEADER, line()[:-1], line(done=NEW)[:-1])
    ]
    assert left == [row for row in theirs if row != line(done=NEW)[:-1]]


async def test_rules_planned_from_one_file_follow_each_other() -> None:
    machine = host(**{RULES.path: "# mine\n"})
    first = await BlockBackend(machine).persist(VDA, {"nomerges": "2"})
    second = (await BlockBackend(machine).persist(VDB, {"nomerges": "1"})).after(first)
    for rule in (first, second):
        await machine.install(rule.path, rule.content, before=rule.before)
    assert len(re.findall("scratch-[12]", machine.files[RULES.path])) == 2
