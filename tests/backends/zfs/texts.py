"""What zpool says of pools that are not well, written after the form of its sources (OpenZFS 2.1)."""

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

ALL = (RESILVERING, SCRUBBING, PAUSED, SUSPENDED, NONE)
