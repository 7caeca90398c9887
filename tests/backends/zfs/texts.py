"""What zpool says of pools that are not well, written after the form of its sources (OpenZFS 2.1 to 2.3)."""

from __future__ import annotations

RESILVERING = """\
  pool: big
 state: DEGRADED
status: One or more devices is currently being resilvered.  The pool will
\tcontinue to function, possibly in a degraded state.
action: Wait for the resilver to complete.
  scan: resilver in progress since Sat Nov 21 10:03:12 2026
\t1.20T scanned at 410M/s, 612G issued at 204M/s, 2.41T total
\t88.1G resilvered, 24.79% done, 02:34:11 to go
config:

\tNAME                STATE     READ WRITE CKSUM
\tbig                 DEGRADED     0     0     0
\t  raidz2-0          DEGRADED     0     0     0
\t    /dev/sdb1       ONLINE       0     0     0
\t    replacing-1     DEGRADED     0     0     0
\t      /dev/sdi1     UNAVAIL      3  1.2K     0  was /dev/sdc1
\t      /dev/sdd1     ONLINE       0     0     0  (resilvering)
\t    /dev/sde1       FAULTED     12     0     7  too many errors
\t    /dev/sdf1       ONLINE       0     0     0
\tspecial\t
\t  mirror-1          ONLINE       0     0     0
\t    /dev/nvme0n1p1  ONLINE       0     0     0
\t    /dev/nvme1n1p1  ONLINE       0     0     0
\tlogs\t
\t  /dev/nvme0n1p2    ONLINE       0     0     0
\tcache
\t  /dev/nvme1n1p2    ONLINE       0     0     0
\tspares
\t  /dev/sdg1         AVAIL
\t  /dev/sdh1         INUSE     currently in use

errors: No known data errors
"""

SCRUBBING = """\
  pool: rpool
 state: ONLINE
  scan: scrub in progress since Sat Nov 21 10:03:12 2026
\t2.00G scanned at 1.00G/s, 512M issued at 256M/s, 4.00G total
\t0B repaired, 12.50% done, 00:00:14 to go
config:

\tNAME           STATE     READ WRITE CKSUM
\trpool          ONLINE       0     0     0
\t  mirror-0     ONLINE       0     0     0
\t    /dev/sda3  ONLINE       0     0     0
\t    /dev/sdb3  ONLINE       0     0     0
\t  mirror-1     ONLINE       0     0     0
\t    /dev/sdc   ONLINE       0     0     0
\t    /dev/sdd   ONLINE       0     0     0

errors: No known data errors
"""

PAUSED = SCRUBBING.replace("scrub in progress since", "scrub paused since")

SUSPENDED = """\
  pool: usb
 state: SUSPENDED
status: One or more devices are faulted in response to IO failures.
action: Make sure the affected devices are connected, then run 'zpool clear'.
   see: https://openzfs.github.io/openzfs-docs/msg/ZFS-8000-HC
config:

\tNAME         STATE     READ WRITE CKSUM
\tusb          UNAVAIL      0     0     0  insufficient replicas
\t  /dev/sdx1  FAULTED      3     0     0  too many errors

errors: 2 data errors, use '-v' for a list
"""

NONE = "no pools available\n"

SEQUENTIAL = RESILVERING.replace(
    """  scan: resilver in progress since Sat Nov 21 10:03:12 2026
\t1.20T scanned at 410M/s, 612G issued at 204M/s, 2.41T total
\t88.1G resilvered, 24.79% done, 02:34:11 to go
""",
    """  scan: scrub repaired 0B in 01:00:00 with 0 errors on Sun Nov  1 10:03:12 2026
  scan: resilver (mirror-7) canceled on Mon Nov  2 10:03:12 2026
  scan: resilver (draid1:4d:9c:1s-0) in progress since Sat Nov 21 10:03:12 2026
\t1.20T / 2.41T scanned at 410M/s, 612G / 2.41T issued at 204M/s
\t88.1G resilvered, 49.79% done, 02:34:11 to go
""",
)
"""A resilver in sequence, after a scrub and a resilver of another group."""

EXPANDING = """\
  pool: wide
 state: ONLINE
  scan: none requested
expand: expansion of raidz1-0 in progress since Sat Nov 21 10:03:12 2026
\t1.5G / 6.0G copied at 20.0M/s, 25.00% done, 00:03:50 to go
config:

\tNAME          STATE     READ WRITE CKSUM
\twide          ONLINE       0     0     0
\t  raidz1-0    ONLINE       0     0     0
\t    /dev/sda  ONLINE       0     0     0
\t    /dev/sdb  ONLINE       0     0     0
\t    /dev/sdc  ONLINE       0     0     0

errors: No known data errors
"""

EXPANSION_WAITS = EXPANDING.replace(", 00:03:50 to go", ", paused for resilver or clear")
EXPANDED = EXPANDING.replace(
    """expand: expansion of raidz1-0 in progress since Sat Nov 21 10:03:12 2026
\t1.5G / 6.0G copied at 20.0M/s, 25.00% done, 00:03:50 to go
""",
    "expand: expanded raidz1-0 copied 6.0G in 00:05:00, on Sat Nov 21 10:03:12 2026\n",
)

EVACUATING = """\
  pool: less
 state: ONLINE
  scan: scrub paused since Sat Nov 21 09:00:00 2026
\tscrub started on Sat Nov 21 08:00:00 2026
\t2.00G / 4.00G scanned, 512M / 4.00G issued
\t0B repaired, 12.50% done
remove: Evacuation of /dev/sdb1 in progress since Sat Nov 21 10:03:12 2026
\t3.00G copied out of 4.00G at 100M/s, 75.00% done, 0h1m to go
\t1.2K memory used for removed device mappings
checkpoint: created Sat Nov 21 07:00:00 2026, consumes 1.00G
config:

\tNAME           STATE     READ WRITE CKSUM
\tless           ONLINE       0     0     0
\t  /dev/sda1    ONLINE       0     0     0
\t  /dev/sdb1    ONLINE       0     0     0  (removing)

errors: No known data errors
"""

REMOVED = EVACUATING.replace(
    """remove: Evacuation of /dev/sdb1 in progress since Sat Nov 21 10:03:12 2026
\t3.00G copied out of 4.00G at 100M/s, 75.00% done, 0h1m to go
""",
    "remove: Removal of vdev 1 copied 4.00G in 0h1m, completed on Sat Nov 21 10:05:12 2026\n",
)
DISCARDING = EXPANDED.replace("config:", "checkpoint: discarding, 1.20G remaining.\nconfig:")
TRIMMING = EXPANDED.replace(
    "/dev/sdb  ONLINE       0     0     0", "/dev/sdb  ONLINE       0     0     0  (trimming)"
).replace("/dev/sdc  ONLINE       0     0     0", "/dev/sdc  ONLINE       0     0     0  (initializing)")
ERROR_SCRUB = EXPANDED.replace(
    "scan: none requested",
    "scan: error scrub in progress since Sat Nov 21 10:03:12 2026\n\t5.00% done, issued I/O for 2 error blocks",
)

DRAID = """\
  pool: shelf
 state: DEGRADED
status: One or more devices could not be used because the label is missing or
\tinvalid.  Sufficient replicas exist for the pool to continue
\tfunctioning in a degraded state.
action: Replace the device using 'zpool replace'.
  scan: none requested
config:

\tNAME                       STATE     READ WRITE CKSUM
\tshelf                      DEGRADED     0     0     0
\t  draid2:4d:11c:1s-0       DEGRADED     0     0     0
\t    /dev/sda               ONLINE       0     0     0
\t    spare-1                DEGRADED     0     0     0
\t      6781234567890123456  UNAVAIL      0     0     0  was /dev/sdb1
\t      draid2-0-0           ONLINE       0     0     0
\t    /dev/sdc               ONLINE       0     0     0
\tspares
\t  draid2-0-0               INUSE     currently in use

errors: No known data errors
"""

REPLACED_ALONE = """\
  pool: one
 state: ONLINE
  scan: none requested
config:

\tNAME           STATE     READ WRITE CKSUM
\tone            ONLINE       0     0     0
\t  replacing-0  ONLINE       0     0     0
\t    /dev/sda   ONLINE       0     0     0
\t    /dev/sdb   ONLINE       0     0     0  (awaiting resilver)

errors: No known data errors
"""

ALL = (
    *(RESILVERING, SCRUBBING, PAUSED, SUSPENDED, NONE, SEQUENTIAL, EXPANDING, EXPANSION_WAITS, EXPANDED, EVACUATING),
    *(REMOVED, DISCARDING, TRIMMING, ERROR_SCRUB, DRAID, REPLACED_ALONE),
)
