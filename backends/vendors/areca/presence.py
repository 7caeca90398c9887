"""Where cli64 may be, and what it is asked."""

PLACES = ("/usr/local/sbin/cli64", "/root/cli64", "/opt/areca/cli64", "cli64", "areca-cli")
"""Where the program is looked for."""

UNRECORDED = ("vsf", "info")
"""Volume sets, of which no recorded answer tells how they look: asked for a recording alone."""

READS = (("sys", "info"), ("sys", "showcfg"), ("adsys", "info"), ("hw", "info"), ("rsf", "info"), ("disk", "info"))
"""What it is asked."""
