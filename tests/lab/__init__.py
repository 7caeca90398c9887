"""The laboratory: a virtual machine full of disks, and the tests that run inside it as root (`make lab`)."""
