"""Settings of a MegaRAID controller that concern all of its arrays: command queueing, rebuild, patrol read, checks.

Each is a word of the tools' own usage (storcli 7: `storcli help`; MegaCli: `MegaCli -h`). No usage of storcli2 and
perccli2 that lists them is known, so with these tools they are shown at most.
"""

from __future__ import annotations

from collections.abc import Mapping

from backends.settings import Choice, Risk, Setting, Span, unconfirmed

_ALL = "It is set once for the controller and concerns all of its arrays."
_YEAR = 8760
"""Hours offered at most between two runs."""

NCQ = unconfirmed(
    key="ncq",
    other_words=("on", "off"),
    label="Command queueing",
    help="Whether SATA drives get several commands at once and order them themselves (NCQ). Off costs IOPS at queue "
    f"depths above 1. {_ALL} (storcli: ncq; MegaCli: -AdpSetProp NCQEnbl|NCQDsbl)",
    risk=Risk.PERFORMANCE,
    risk_text="All arrays of the controller lose IOPS while it is off.",
)
CACHE_BYPASS = unconfirmed(
    key="cache_bypass",
    other_words=("on", "off"),
    label="Cache bypass",
    help="Whether large writes may go past the controller's cache to the drives. Each virtual drive has a mode of its "
    f"own besides. {_ALL} (storcli: cachebypass)",
    risk=Risk.PERFORMANCE,
    risk_text="Throughput and latency of writes change on all arrays of the controller.",
)
AUTO_REBUILD = unconfirmed(
    key="auto_rebuild",
    other_words=("on", "off"),
    label="Automatic rebuild",
    help=f"Whether a replaced drive is rebuilt without a command. {_ALL} (storcli: autorebuild; MegaCli: -AdpAutoRbld "
    "-Enbl|-Dsbl)",
    risk=Risk.PERFORMANCE,
    risk_text="While it is off, a degraded array stays degraded until a rebuild is started by hand; the next failed "
    "drive may then cost the data.",
)


def _copyback(key: str, label: str, what: str, words: str) -> Setting:
    return unconfirmed(
        key=key,
        other_words=("on", "off"),
        label=label,
        help=f"{what} {_ALL} ({words})",
        risk=Risk.PERFORMANCE,
        risk_text="A copy takes bandwidth of the array for hours; without one the array stays on the spare drive, or "
        "on a drive that predicts its failure.",
    )


COPYBACK = _copyback(
    "copyback",
    "Copyback",
    "Whether data is copied from the spare drive back to the slot of the failed drive once that is replaced.",
    "storcli: copyback type=ctrl; MegaCli: -AdpSetProp -CopyBackDsbl",
)
COPYBACK_SMART_HDD = _copyback(
    "copyback_smart_hdd",
    "Copyback on S.M.A.R.T. errors (HDD)",
    "Whether a hard disk that predicts its failure is copied to a spare drive before it fails.",
    "storcli: copyback type=smarthdd; MegaCli: -AdpSetProp SMARTCpyBkEnbl",
)
COPYBACK_SMART_SSD = _copyback(
    "copyback_smart_ssd",
    "Copyback on S.M.A.R.T. errors (SSD)",
    "Whether an SSD that predicts its failure is copied to a spare drive before it fails.",
    "storcli: copyback type=smartssd; MegaCli: -AdpSetProp SSDSMARTCpyBkEnbl",
)

_TAKES = "It takes bandwidth from every array while it runs"

PATROL_READ_DELAY = unconfirmed(
    key="patrol_read_delay",
    label="Patrol read delay",
    help=f"Hours between two runs of patrol read (168 by default). {_ALL} (storcli: patrolread delay; MegaCli: -AdpPR "
    "-SetDelay)",
    risk=Risk.PERFORMANCE,
    risk_text=f"{_TAKES}: the shorter the delay, the more often. With a long delay, bad sectors stay unnoticed longer.",
    unit="h",
)
PATROL_READ_SSDS = unconfirmed(
    key="patrol_read_ssds",
    other_words=("on", "only-mixed", "off"),
    label="Patrol read on SSDs",
    help=f"Whether patrol read reads SSDs too. {_ALL} (storcli: patrolread includessds; MegaCli: -AdpPR "
    "-SSDPatrolReadEnbl|-SSDPatrolReadDsbl)",
    risk=Risk.PERFORMANCE,
    risk_text=f"{_TAKES}, on SSDs as well where they are included. Where they are not, their bad blocks are found by "
    "the next rebuild.",
)
PATROL_READ_DRIVES = unconfirmed(
    key="patrol_read_drives",
    label="Patrol read drives at once",
    help=f"Number of drives that patrol read reads at the same time, at most. {_ALL} (storcli: patrolread "
    "maxconcurrentpd)",
    risk=Risk.PERFORMANCE,
    risk_text=f"{_TAKES}: the more drives at once, the more.",
    unit="drives",
)
CONSISTENCY_CHECK_DELAY = unconfirmed(
    key="consistency_check_delay",
    label="Consistency check delay",
    help=f"Hours between two runs of the consistency check (168 by default). {_ALL} (storcli: cc delay; MegaCli: "
    "-AdpCcSched -SetDelay)",
    risk=Risk.PERFORMANCE,
    risk_text=f"{_TAKES}: the shorter the delay, the more often. With a long delay, wrong parity stays unnoticed "
    "longer.",
    unit="h",
)
SMART_POLL_INTERVAL = unconfirmed(
    key="smart_poll_interval",
    label="S.M.A.R.T. poll interval",
    help="Seconds between two questions to each drive whether it predicts its failure (300 by default). Each question "
    f"may show as a latency peak. {_ALL} (storcli: smartpollinterval; MegaCli: -AdpSetProp PredFailPollInterval)",
    risk=Risk.PERFORMANCE,
    risk_text="With a long interval a drive that predicts its failure is noticed later.",
    unit="s",
)
LOAD_BALANCE = unconfirmed(
    key="load_balance",
    other_words=("on", "off"),
    label="Load balance",
    help="Whether the controller balances commands between the ports and lanes that lead to an enclosure by itself "
    f"(reported as Auto). {_ALL} (storcli: loadbalancemode)",
    risk=Risk.PERFORMANCE,
    risk_text="Throughput of all arrays in enclosures with several ports may fall while it is off.",
)
MORE_CARD_SETTINGS = (
    NCQ,
    CACHE_BYPASS,
    AUTO_REBUILD,
    COPYBACK,
    COPYBACK_SMART_HDD,
    COPYBACK_SMART_SSD,
    PATROL_READ_DELAY,
    PATROL_READ_SSDS,
    PATROL_READ_DRIVES,
    CONSISTENCY_CHECK_DELAY,
    SMART_POLL_INTERVAL,
    LOAD_BALANCE,
)
"""Settings of a controller, in the order they are shown."""

SPANS: Mapping[str, Span] = {
    "patrol_read_delay": Span(minimum=1, maximum=_YEAR, unit="h"),
    "patrol_read_drives": Span(minimum=1, maximum=255, unit="drives"),
    "consistency_check_delay": Span(minimum=1, maximum=_YEAR, unit="h"),
    "smart_poll_interval": Span(minimum=1, maximum=65535, unit="s"),
}
"""Ranges of the numeric ones."""


def _switch(on: str, off: str, *, on_risk: Risk = Risk.NONE, off_risk: Risk = Risk.NONE) -> tuple[Choice, ...]:
    return (
        Choice(value="on", label="on", help=on, risk=on_risk),
        Choice(value="off", label="off", help=off, risk=off_risk),
    )


_COPYBACK = _switch(
    "The copy starts by itself.", "Nothing is copied.", on_risk=Risk.PERFORMANCE, off_risk=Risk.PERFORMANCE
)

CHOICES: Mapping[str, tuple[Choice, ...]] = {
    "ncq": _switch("Drives get several commands at once.", "Drives get one at a time.", off_risk=Risk.PERFORMANCE),
    "cache_bypass": _switch(
        "Large writes may pass the cache by.",
        "All writes go by the policies of their virtual drive.",
        on_risk=Risk.PERFORMANCE,
        off_risk=Risk.PERFORMANCE,
    ),
    "auto_rebuild": _switch("A rebuild starts by itself.", "A rebuild waits for a command.", off_risk=Risk.PERFORMANCE),
    "copyback": _COPYBACK,
    "copyback_smart_hdd": _COPYBACK,
    "copyback_smart_ssd": _COPYBACK,
    "patrol_read_ssds": (
        Choice(value="on", label="on", help="SSDs are read too.", risk=Risk.PERFORMANCE),
        Choice(
            value="only-mixed",
            label="only mixed",
            help="SSDs are read in arrays that have hard disks as well.",
            risk=Risk.PERFORMANCE,
        ),
        Choice(value="off", label="off", help="Only hard disks are read.", risk=Risk.PERFORMANCE),
    ),
    "load_balance": _switch("Balanced by the controller.", "Not balanced.", off_risk=Risk.PERFORMANCE),
}
"""Legal values of the others; those that a tool has no word for are not offered with it."""
