"""Many hosts: all of them, and the devices of one."""
