"""Job files that the real fio and raidbench must understand alike."""
