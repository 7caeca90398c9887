"""What raidbench knows of a machine as figures for a monitoring."""
