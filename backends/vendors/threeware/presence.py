"""Where tw_cli may be, and what it is asked."""

PLACES = ("/opt/3ware/CLI/tw_cli", "tw_cli", "tw-cli")
"""Where the program is looked for."""

READS = (("info",), ("info", r"c\d{1,3}", "unitstatus|drivestatus|bbustatus"))
"""What it is asked, as patterns for each word."""
