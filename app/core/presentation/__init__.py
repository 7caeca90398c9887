"""What is shown of devices, runs, changes, comparisons and sweeps, told once for screen, command line and report."""
