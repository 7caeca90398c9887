"""The virtual machine: a distribution's kernel, emulated disks, and this machine's own files below an overlay."""
