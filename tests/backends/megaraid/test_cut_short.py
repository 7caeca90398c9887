"""Answers that break off, and a tool that dies: everything is told all the same, or what is missing is said."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from backends.errors import ToolFailedError
from backends.host import Command, Completed
from backends.vendors.megaraid.dialect import CardSnapshot
from backends.vendors.megaraid.storcli import StorCli7
from backends.vendors.megaraid.storcli.document import replies
from backends.vendors.megaraid.storcli.reader import UnreadableError
from tests.backends.fakes import FakeHost, machine
from tests.backends.megaraid import answers
from tests.backends.megaraid.recordings import recordings, text_of
from tests.case_loop import loop_over

TEXT = """CLI Version = 007.1017.0000.0000 May 10, 2019
Controller = 0
Status = Success
Description = None


Basics :
======
Controller = 0
Model = LSI MegaRAID SAS 9280-24i4e


Supported VD Operations :
=======================
Read Policy = Yes
Write Policy = Yes


Drive Groups = 2

TOPOLOGY :
========

------------------------------------------------------------------------
DG Arr Row EID:Slot DID Type  State BT       Size PDC  PI SED DS3  FSpace
------------------------------------------------------------------------
 0 -   -   -        -   RAID1 Optl  N  446.125 GB dflt N  N   none N
 0 0   -   -        -   RAID1 Optl  N  446.125 GB dflt N  N   none N
 0 0   0   252:0    10  DRIVE Onln  N  446.125 GB dflt N  N   none -
 0 0   1   252:1    11  DRIVE Onln  N  446.125 GB dflt N  N   none -
------------------------------------------------------------------------

DG=Disk Group Index|Arr=Array Index|Row=Row Index|EID=Enclosure Device ID

Virtual Drives = 2

VD LIST :
=======

---------------------------------------------------------------
DG/VD TYPE  State Access Consist Cache Cac sCC       Size Name
---------------------------------------------------------------
0/0   RAID1 Optl  RW     Yes     RWBD  -   ON  200.000 GB boot
0/1   RAID1 Optl  RW     Yes     RWBD  -   ON  246.125 GB data
---------------------------------------------------------------

Cac=CacheCade|Rec=Recovery|OfLn=OffLine|Pdgd=Partially Degraded|dgrd=Degraded

Physical Drives = 3

PD LIST :
=======

-------------------------------------------------------------------------
EID:Slt DID State DG       Size Intf Med SED PI SeSz Model            Sp Type
-------------------------------------------------------------------------
252:0    10 Onln   0 446.125 GB SATA SSD N   N  512B INTEL SSDSC2BB48 U  -
252:1    11 Onln   0 446.125 GB SATA SSD N   N  512B INTEL SSDSC2BB48 U  -
252:2    12 UGood  - 446.125 GB SATA SSD N   N  512B INTEL SSDSC2BB48 U  -
-------------------------------------------------------------------------

EID-Enclosure Device ID|Slt-Slot No.|DID-Device ID|DG-DriveGroup
"""
LINES = TEXT.splitlines(keepends=True)
PLACES = ("252:0", "252:1", "252:2")
VOLUMES = answers.answer(
    {
        key: value
        for number in (0, 1)
        for key, value in {
            f"/c0/v{number}": [answers.volume_row(number, TYPE="RAID1")],
            f"VD{number} Properties": answers.properties(**{"SCSI NAA Id": f"{answers.NAA[:-1]}{number}"}),
        }.items()
    }
)
DRIVES = answers.answer({key: value for place in PLACES for key, value in answers.details(place).items()})
MORE = {"/c0/vall show all": VOLUMES, "/c0/eall/sall show all": DRIVES}
BUSY = answers.failure("Controller is busy", 3)
ILLEGAL = -4
"""Ended by the signal for an illegal instruction."""


class Tool(FakeHost):
    """storcli 7 that says these things, and refuses all else; None: it dies."""

    def __init__(self, said: Mapping[str, str | None]) -> None:
        super().__init__(machine())
        self.said = said

    async def run(self, command: Command) -> Completed:
        text = self.said.get(" ".join(word for word in command.argv[1:] if word not in ("J", "nolog")), BUSY)
        return Completed(returncode=ILLEGAL if text is None else 0, stdout=text or "", stderr="")


async def read(said: Mapping[str, str | None], card: int = 0) -> CardSnapshot:
    return await StorCli7(Tool(said), "storcli64").read(card)


def counted(found: CardSnapshot) -> tuple[int, int]:
    """Virtual drives and drives."""
    return len(found.volumes), len(found.drives)


@loop_over("length", range(4, len(LINES)))
async def test_text_that_breaks_off_loses_nothing_that_other_answers_have(length: int) -> None:
    assert counted(await read({**MORE, "/c0 show all": "".join(LINES[:length])})) == (2, 3)


@loop_over("length", range(10, len(LINES)))
async def test_text_that_breaks_off_loses_nothing_without_a_word(length: int) -> None:
    found = await read({"/c0 show all": "".join(LINES[:length])})
    assert counted(found) == (2, 3) or found.problems


async def test_text_that_breaks_off_in_a_table_is_said_to() -> None:
    found = await read({**MORE, "/c0 show all": "".join(LINES[: LINES.index("Virtual Drives = 2\n") + 8])})
    assert "storcli64 /c0 show all: incomplete output." in found.problems


async def test_text_to_its_end_is_no_problem() -> None:
    assert (await read({**MORE, "/c0 show all": TEXT})).problems == ()


async def test_a_card_without_volumes_and_drives_is_no_problem() -> None:
    none = {"/c0/vall show all": "No VDs have been configured", "/c0/eall/sall show all": "No drive found!"}
    said = {line: answers.answer(status="Failure", description=words) for line, words in none.items()}
    said |= {"/c0/sall show all": said["/c0/eall/sall show all"]}
    found = await read({**said, "/c0 show all": "".join(LINES[:16])})
    assert (counted(found), found.problems) == ((0, 0), ())


async def test_details_that_break_off_are_said_to() -> None:
    volume = "CLI Version = 007.1017\nController = 0\nStatus = Success\nDescription = None\n\n/c0/v0 :\n======\n\n"
    found = await read({**MORE, "/c0 show all": TEXT, "/c0/vall show all": volume})
    assert "The tool lists only virtual drive 0, virtual drive 1: its output is incomplete." in found.problems


@pytest.mark.parametrize(
    "said",
    [
        {"/c0 show all": None, "/c0 show": TEXT},
        {"/c0 show all": None, "/c0 show": None, **MORE},
        {"/c0 show all": TEXT, "/c0/vall show all": None, "/c0/vall show": VOLUMES},
        {"/c0 show all": None, "/c0 show": None, "/c0/vall show all": None, "/c0/eall/sall show all": None}
        | {"/c0/vall show": VOLUMES, "/c0/eall/sall show": DRIVES},
        {"/c0 show all": answers.answer({"a": 1})[:-30], "/c0 show": TEXT},
    ],
    ids=["show", "lists alone", "vall show", "plain lists alone", "JSON cut short"],
)
async def test_where_the_tool_dies_of_show_all_it_is_asked_for_less(said: Mapping[str, str | None]) -> None:
    found = await read(said)
    assert counted(found) == (2, 3)
    assert found.problems


async def test_a_card_of_which_the_tool_always_dies_is_an_error() -> None:
    dead = dict.fromkeys(
        f"/c0{place} show{more}" for place in ("", "/vall", "/eall/sall", "/sall") for more in (" all", "")
    )
    with pytest.raises(UnreadableError, match=r"failed without a message \(exit status -4\)"):
        await read(dead)


async def test_json_without_its_end_is_said_to_break_off() -> None:
    found = await read({"/c0 show all": answers.answer({"a": 1})[:-30], "/c0 show": TEXT})
    assert "The output of storcli64 is truncated." in found.problems


async def test_cards_that_are_counted_and_not_listed_are_an_answer_that_breaks_off() -> None:
    tool = Tool({"show": "CLI Version = 007.1017\nStatus = Success\nDescription = None\n\nNumber of Controllers = 2\n"})
    with pytest.raises(ToolFailedError, match="counts 2 controllers but lists none"):
        await StorCli7(tool, "storcli64").cards()


def test_json_behind_a_warning_on_the_same_line_is_found() -> None:
    (found,) = replies("WARNING: firmware is old. " + answers.answer({"a": 1}))
    assert found.data == {"a": 1}


def _lists() -> list[str]:
    """Recorded texts of one card with its lists."""
    texts = [text_of(path) for path in recordings() if path.suffix == ".txt"]
    return [text for text in texts if "PD LIST" in text and len(replies(text)) == 1]


@pytest.mark.exhaustive
async def test_real_recordings_cut_at_every_line_of_their_lists_lose_nothing_without_a_word() -> None:
    silent = []
    for text in _lists():
        card = replies(text)[0].card or 0
        line = f"/c{card} show all"
        whole = counted(await read({line: text}, card))
        lines = text.splitlines(keepends=True)
        first = next((at for at, row in enumerate(lines) if row.startswith(("TOPOLOGY", "PD LIST"))), 0)
        begin = next((at for at, row in enumerate(lines) if row.startswith("Basics")), first)
        for end in (*range(begin + 3, first, 25), *range(first, len(lines))):
            found = await read({line: "".join(lines[:end])}, card)
            silent += [f"{card}: {lines[end]}"] if counted(found) != whole and not found.problems else []
    assert silent == []
