"""Where tw_cli may be, and what it is asked."""

PLACES = ("/opt/3ware/CLI/tw_cli", "tw_cli", "tw-cli")
"""Where the program is looked for."""

UNRECORDED = ("storsave", "qpolicy")
"""Policies of a unit of which no recorded answer tells how they look: asked for a recording alone."""

READS = (
    ("info",),
    ("info", r"c\d{1,3}", "unitstatus|drivestatus|bbustatus"),
    (r"/c\d{1,3}/u\d{1,4}", "show", "|".join(UNRECORDED)),
)
"""What it is asked, as patterns for each word."""
